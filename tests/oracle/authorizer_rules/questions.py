"""What recorded requests ask an authorizer, and what the recorded responses say about it.

A case is JSON: ACLs, and steps that an authorizer plays without a broker. ACLs and filters are
their permission, principal, host, operation, type, pattern type and name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from tests.oracle.authorizer_rules.rule_table import named_rule
from tests.recordings.conformance.play import SUPER_USERS_OF_RULES
from tests.recordings.conformance.rules.all_rules import all_rules
from tests.recordings.conformance.rules.rule import Ask, Rule

Json = dict[str, Any]
PRINCIPALS: Final = {"anonymous": "User:ANONYMOUS"}
ADDRESS: Final = "127.0.0.1"
"""From which all recorded requests come."""
UNKNOWN_TYPE: Final = 99
NEWEST_INIT_PRODUCER_ID: Final = 4
_DENIED: Final = frozenset({29, 30, 31, 53})
_ACCESSES: Final = {
    ApiKey.FETCH: (Operation.READ, ResourceType.TOPIC),
    ApiKey.HEARTBEAT: (Operation.READ, ResourceType.GROUP),
    ApiKey.END_TXN: (Operation.WRITE, ResourceType.TRANSACTIONAL_ID),
    ApiKey.PRODUCE: (Operation.WRITE, ResourceType.TOPIC),
    ApiKey.FIND_COORDINATOR: (Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
}
_WITH_OPERATIONS: Final = {
    ApiKey.METADATA: ResourceType.TOPIC,
    ApiKey.DESCRIBE_GROUPS: ResourceType.GROUP,
}
_REPEATING: Final = frozenset({ApiKey.LIST_PARTITION_REASSIGNMENTS, ApiKey.DESCRIBE_LOG_DIRS})
"""They ask the same as the DescribeAcls before them."""


def access(
    principals: Sequence[str],
    addresses: Sequence[str],
    kind: ResourceType,
    operations: Sequence[Operation],
    names: Sequence[str] | None,
) -> Json:
    """Return a step for all combinations; without names for any resource of the type."""
    return {
        "who": list(principals),
        "from": list(addresses),
        "types": [kind.name],
        "operations": [operation.name for operation in operations],
        **({} if names is None else {"names": list(names)}),
    }


def acl_row(acl: Mapping[str, Any]) -> str:
    """Return an ACL of a request."""
    parts = [
        Permission(acl["permission_type"]).name,
        acl["principal"],
        acl["host"],
        Operation(acl["operation"]).name,
        ResourceType(acl["resource_type"]).name,
        PatternType(acl.get("resource_pattern_type", acl.get("pattern_type", 3))).name,
        acl["resource_name"],
    ]
    return "|".join(parts)


def _filter_row(fields: Mapping[str, Any]) -> list[str | None]:
    return [
        Permission(fields["permission_type"]).name,
        fields["principal_filter"],
        fields["host_filter"],
        Operation(fields["operation"]).name,
        ResourceType(fields["resource_type_filter"]).name,
        PatternType(fields["pattern_type_filter"]).name,
        fields["resource_name_filter"],
    ]


def recorded_cases() -> Iterator[tuple[Rule, Json]]:
    """Yield the cases of all recorded rules that an authorizer decides alone."""
    for number, rule in enumerate(all_rules(), 1):
        if (named := named_rule(rule)) is None:
            continue
        scenario = rule.scenario(f"r{number}", "4.4.0")
        requests = [step.request for step in scenario.steps]
        asks = [ask for ask in rule.asks if ask.api in _known_apis() or ask.api in _REPEATING]
        assert len(asks) == len(requests) == len(rule.asks), rule
        yield (
            rule,
            {
                "rule": named.name,
                "case": ", ".join(filter(None, [rule.mistake, rule.case])),
                "vectors": scenario.prefix,
                "config": {"super.users": ";".join(SUPER_USERS_OF_RULES)},
                "acls": list(map(acl_row, scenario.acls)),
                "steps": [
                    step
                    for ask, request in zip(asks, requests, strict=True)
                    for step in steps_of(ask, request)
                ],
            },
        )


def _known_apis() -> set[ApiKey]:
    acl_apis = {ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.DESCRIBE_ACLS}
    others = {ApiKey.INIT_PRODUCER_ID, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_CLUSTER}
    return {*_ACCESSES, *_WITH_OPERATIONS, *acl_apis, *others}


def steps_of(ask: Ask, request: Mapping[str, Any]) -> list[Json]:
    """Return what a request asks the authorizer."""
    who, where = [PRINCIPALS.get(ask.user, f"User:{ask.user}")], [ADDRESS]
    cluster = (ResourceType.CLUSTER, [Operation.DESCRIBE], [CLUSTER_NAME])
    match ask.api:
        case ApiKey.INIT_PRODUCER_ID if ask.newest == NEWEST_INIT_PRODUCER_ID:
            idempotent = [Operation.IDEMPOTENT_WRITE]
            return [
                access(who, where, ResourceType.CLUSTER, idempotent, [CLUSTER_NAME]),
                access(who, where, ResourceType.TOPIC, [Operation.WRITE], None),
            ]
        case ApiKey.DESCRIBE_CONFIGS:
            [resource] = request["resources"]
            kind, name = ResourceType.TOPIC, resource["resource_name"]
            if resource["resource_type"] != int(ResourceType.TOPIC):
                kind, name = ResourceType.CLUSTER, CLUSTER_NAME
            return [access(who, where, kind, [Operation.DESCRIBE_CONFIGS], [name])]
        case ApiKey.DESCRIBE_CLUSTER:
            kind = ResourceType.CLUSTER
            return [access(who, where, kind, _operations(kind), [CLUSTER_NAME])]
        case ApiKey.DESCRIBE_ACLS if ask.user == "anonymous":
            return [{"list": _filter_row(request)}]
        case ApiKey.DESCRIBE_ACLS:
            return [access(who, where, *cluster)]
        case ApiKey.CREATE_ACLS:
            return [{"create": list(map(acl_row, request["creations"]))}]
        case ApiKey.DELETE_ACLS:  # a broker rejects unknown types before it asks
            known = [
                each for each in request["filters"] if each["resource_type_filter"] != UNKNOWN_TYPE
            ]
            return [{"delete": list(map(_filter_row, known))}]
        case api if api in _WITH_OPERATIONS:
            kind = _WITH_OPERATIONS[api]
            operations = _operations(kind)
            rows = [row["name"] for row in request["topics"]] if kind is ResourceType.TOPIC else []
            return [access(who, where, kind, operations, rows or request["groups"])]
        case api if api in _ACCESSES:
            operation, kind = _ACCESSES[api]
            return [access(who, where, kind, [operation], [_name(api, request)])]
    return []


def _operations(kind: ResourceType) -> list[Operation]:
    """Return the operations of a type in all releases; groups had three before 4.0."""
    if kind is ResourceType.GROUP:
        return [Operation.READ, Operation.DELETE, Operation.DESCRIBE]
    return list(supported_operations(kind))


def _name(api: ApiKey, request: Mapping[str, Any]) -> str:
    match api:
        case ApiKey.FETCH:
            [topic] = request["topics"]
            return str(topic["topic"])
        case ApiKey.PRODUCE:
            [topic] = request["topic_data"]
            return str(topic["name"])
    [name] = {
        str(request[key]) for key in ("group_id", "transactional_id", "key") if key in request
    }
    return name


def recorded_answers(api: str, step: Json, then: Mapping[str, Any]) -> Any:
    """Return what a recorded response says about a step; `?` where it says nothing."""
    response = then["response"]
    if "create" in step:
        return [row["errorCode"] == 0 for row in response["results"]]
    if "list" in step:
        return sorted(_listed(response["resources"]))
    if "delete" in step:
        results = response["filterResults"][-len(step["delete"]) :]  # unknown types come first
        return [sorted(map(_deleted, row["matchingAcls"])) for row in results]
    is_denied = bool(_DENIED & set(then.get("errorCodes", ())))
    masks = {
        "Metadata": ("topics", "topicAuthorizedOperations"),
        "DescribeGroups": ("groups", "authorizedOperations"),
    }
    if api == "DescribeCluster":
        mask = response["clusterAuthorizedOperations"]
        return _bits(step, mask) if mask else _undescribed(step)
    if api in masks:
        rows, field = masks[api]
        if not is_denied:
            return "".join(_bits(step, row[field]) for row in response[rows])
        return _undescribed(step)
    return "0" if is_denied else "1"


def _undescribed(step: Json) -> str:
    return "".join("0" if each == "DESCRIBE" else "?" for each in step["operations"])


def _bits(step: Json, mask: int) -> str:
    codes = [int(Operation[name]) for name in step["operations"]]
    return "".join("1" if mask >> code & 1 else "0" for code in codes)


def _listed(resources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for resource in resources:
        for acl in resource["acls"]:
            yield _deleted({**resource, **acl})


def _deleted(row: Mapping[str, Any]) -> str:
    return acl_row(
        {
            "permission_type": row["permissionType"],
            "resource_type": row["resourceType"],
            "pattern_type": row.get("patternType", 3),
            "resource_name": row["resourceName"],
            **{key: row[key] for key in ("principal", "host", "operation")},
        }
    )
