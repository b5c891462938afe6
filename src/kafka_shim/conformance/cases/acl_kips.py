"""ACL requests: KIP-140 (filters, partial failures) and KIP-290 (pattern types, both ways)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey

Acl = Mapping[str, Any]

_KIPS = CaseFamily("kips")
_ACLS = ApiKey.CREATE_ACLS
_HAS_PATTERNS = supports_api(_ACLS, 1)
ACL: Acl = {
    "resource_type": "TOPIC",
    "name": "orders",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
ANY: Acl = {
    "resource_type": "ANY",
    "name": None,
    "pattern_type": "ANY",
    "principal": None,
    "host": None,
    "operation": "ANY",
    "permission": "ANY",
}
LITERAL = ACL
PREFIXED = {**ACL, "name": "ord", "pattern_type": "PREFIXED"}
WILDCARD = {**ACL, "name": "*"}
OF_GROUP = {**ACL, "resource_type": "GROUP", "name": "workers"}
OTHER = {
    **ACL,
    "name": "payments",
    "principal": "User:carol",
    "host": "10.0.0.1",
    "operation": "WRITE",
    "permission": "DENY",
}


def has_only_literal_acls(release: str) -> bool:
    return served_versions(release)[_ACLS] == (0, 0)


def deletes_acls_by_fully_set_any_filter(release: str) -> bool:
    """Return whether the broker deletes by a filter with pattern type ANY and all else set."""
    return _HAS_PATTERNS(release) and not acl_rules_of_release(release).exact_filters_name_acls


async def acls_of_other_users_as_fields(context: CaseContext) -> list[Acl]:
    """Return the ACLs of all principals except the user, in the form of the contract."""
    return [
        {
            "resource_type": acl.resource_type.name,
            "name": acl.resource_name,
            "pattern_type": acl.pattern_type.name,
            "principal": acl.principal,
            "host": acl.host,
            "operation": acl.operation.name,
            "permission": acl.permission.name,
        }
        for acl in await context.acls_of_other_users()
    ]


def _acl_descriptions(acls: Any) -> list[str]:
    return sorted(f"{acl['pattern_type']} {acl['resource_type']} {acl['name']}" for acl in acls)


def _expect_equal_acls(expected_acls: list[Acl], actual_acls: list[Acl]) -> None:
    if sorted(map(str, map(_sorted_fields, expected_acls))) != sorted(
        map(str, map(_sorted_fields, actual_acls))
    ):
        raise UnmetExpectationError(
            f"these ACLs: {_acl_descriptions(expected_acls)}",
            f"there are {_acl_descriptions(actual_acls)}: {actual_acls}",
        )


def _sorted_fields(acl: Acl) -> list[tuple[str, Any]]:
    return sorted(acl.items())


async def _open_client_with_acls(context: CaseContext, *acls: Acl) -> None:
    await context.grant_to_user(*EVERYTHING)
    for acl in acls:
        await context.grant_to_user(
            {
                "principal": acl["principal"],
                acl["permission"].lower(): [acl["operation"]],
                acl["resource_type"].lower(): acl["name"],
                "pattern": acl["pattern_type"].lower(),
                "host": acl["host"],
            }
        )
    await context.open_client()


async def expect_acl_created_exactly(acl: Acl, context: CaseContext) -> None:
    await _open_client_with_acls(context)
    await context.run_successfully("create_acls", acls=[acl])
    _expect_equal_acls([acl], await acls_of_other_users_as_fields(context))


for _name, _acl, _what in (
    ("literal", LITERAL, "a literal ACL"),
    ("prefixed", PREFIXED, "a prefixed ACL"),
    ("deny", OTHER, "a DENY ACL for one host"),
    ("wildcard", WILDCARD, "an ACL on all topics"),
    ("distinguished-name", {**ACL, "principal": "User:CN=bob,OU=shop,C=DE"}, "an ACL for a DN"),
    ("dotted-prefix", {**PREFIXED, "name": "shop.orders-"}, "a prefix with dot and hyphen"),
):
    _KIPS.add_case(
        f"acls.create-{_name}",
        f"create_acls creates {_what} exactly as given",
        partial(expect_acl_created_exactly, _acl),
        origin="KIP-290" if _acl["pattern_type"] == "PREFIXED" else "KIP-140",
        expected_requests="the ACL in CreateAcls is the one of the command",
        commands="create_acls",
        capabilities="prefixed-acls" if _acl["pattern_type"] == "PREFIXED" else "",
        supports_release=_HAS_PATTERNS
        if _acl["pattern_type"] == "PREFIXED"
        else supports_api(_ACLS),
        runs_on_real_cluster=True,
    )

_FILTERS: tuple[tuple[str, Acl, tuple[Acl, ...], str], ...] = (
    (
        "any",
        ANY,
        (LITERAL, PREFIXED, WILDCARD, OF_GROUP, OTHER),
        "pattern type ANY, without a name: finds all ACLs",
    ),
    (
        "match",
        {**ACL, "pattern_type": "MATCH"},
        (LITERAL, PREFIXED, WILDCARD),
        "pattern type MATCH: finds all ACLs that apply to the name",
    ),
    (
        "any-pattern",
        {**ACL, "pattern_type": "ANY"},
        (LITERAL,),
        "pattern type ANY: finds ACLs with the name, of both pattern types",
    ),
    (
        "literal",
        {**ANY, "pattern_type": "LITERAL"},
        (LITERAL, WILDCARD, OF_GROUP, OTHER),
        "pattern type LITERAL: finds only literal ACLs",
    ),
    (
        "prefixed",
        {**ANY, "pattern_type": "PREFIXED"},
        (PREFIXED,),
        "pattern type PREFIXED: finds only prefixed ACLs",
    ),
    ("resource-type", {**ANY, "resource_type": "GROUP"}, (OF_GROUP,), "resource type"),
    ("principal", {**ANY, "principal": "User:carol"}, (OTHER,), "principal"),
    ("host", {**ANY, "host": "10.0.0.1"}, (OTHER,), "host"),
    ("operation", {**ANY, "operation": "WRITE", "principal": "User:carol"}, (OTHER,), "operation"),
    ("permission", {**ANY, "permission": "DENY"}, (OTHER,), "permission"),
)
_ALL_ACLS = (LITERAL, PREFIXED, WILDCARD, OF_GROUP, OTHER)


def _acls_of_others(acls: list[Acl]) -> list[Acl]:
    return [acl for acl in acls if acl["principal"] != "User:alice"]


async def expect_acls_described_by_filter(
    acl_filter: Acl, expected_acls: tuple[Acl, ...], context: CaseContext
) -> None:
    await _open_client_with_acls(context, *_ALL_ACLS)
    response = await context.run_successfully("describe_acls", filter=acl_filter)
    _expect_equal_acls(list(expected_acls), _acls_of_others(response["acls"]))


async def expect_acls_deleted_by_filter(
    acl_filter: Acl, deleted_acls: tuple[Acl, ...], context: CaseContext
) -> None:
    await _open_client_with_acls(context, *_ALL_ACLS)
    response = await context.run_command("delete_acls", filters=[acl_filter])
    item = response.item_response("0")
    if item.ok is None:
        raise UnmetExpectationError("delete_acls succeeds", f"the client reported {item}")
    _expect_equal_acls(list(deleted_acls), _acls_of_others(item.ok["acls"]))
    _expect_equal_acls(
        [acl for acl in _ALL_ACLS if acl not in deleted_acls],
        await acls_of_other_users_as_fields(context),
    )


for _name, _filter, _found, _what in _FILTERS:
    for _verb, _body in (
        ("describe", expect_acls_described_by_filter),
        ("delete", expect_acls_deleted_by_filter),
    ):
        if _verb == "delete" and _name in ("any", "literal"):
            continue  # they would delete the user's own ACLs, too
        _KIPS.add_case(
            f"acls.{_verb}-{_name}",
            f"{_verb}_acls by {_what}",
            partial(_body, _filter, _found),
            origin="KIP-290"
            if _filter["pattern_type"] != "ANY" or _name == "any-pattern"
            else "KIP-140",
            expected_response=f"these ACLs: {', '.join(_acl_descriptions(_found))}",
            commands=f"{_verb}_acls",
            capabilities="prefixed-acls",
            supports_release=deletes_acls_by_fully_set_any_filter
            if (_verb, _name) == ("delete", "any-pattern")
            else _HAS_PATTERNS,
            runs_on_real_cluster=True,
        )

_UNKNOWN = 77


async def expect_unknown_code_described_as_unknown(
    field: str, name: str, context: CaseContext
) -> None:
    await _open_client_with_acls(context, LITERAL)
    context.inject_fault("DescribeAcls", set={field: _UNKNOWN}, times=0)
    response = await context.run_command("describe_acls", filter=ANY)
    if response.ok is None:
        raise UnmetExpectationError("the ACLs, one with UNKNOWN", f"the client reported {response}")
    reported = {acl[name] for acl in response.ok["acls"]}
    if reported != {"UNKNOWN"}:
        raise UnmetExpectationError(f"{name} UNKNOWN", f"the client reported {sorted(reported)}")


for _field, _name in (
    ("resources.*.pattern_type", "pattern_type"),
    ("resources.*.resource_type", "resource_type"),
    ("resources.*.acls.*.operation", "operation"),
    ("resources.*.acls.*.permission_type", "permission"),
):
    _KIPS.add_case(
        f"acls.unknown-{_name.replace('_', '-')}",
        f"describe_acls reports an unknown {_name.replace('_', ' ')} as UNKNOWN",
        partial(expect_unknown_code_described_as_unknown, _field, _name),
        origin="KIP-290" if _name == "pattern_type" else "KIP-140",
        expected_response=f"an ACL with {_name} UNKNOWN",
        commands="describe_acls",
        supports_release=_HAS_PATTERNS,
        level=RequirementLevel.SHOULD,
    )


@_KIPS.case(
    "acls.old-broker-literal",
    "create_acls creates a literal ACL on a broker without prefixed ACLs",
    origin="KIP-290",
    expected_requests="CreateAcls v0",
    commands="create_acls",
    supports_release=has_only_literal_acls,
    runs_on_real_cluster=True,
)
async def expect_literal_acl_created_on_broker_without_patterns(context: CaseContext) -> None:
    await expect_acl_created_exactly(LITERAL, context)


@_KIPS.case(
    "acls.old-broker-prefixed",
    "create_acls rejects a prefixed ACL for a broker without them, and does not send a literal one",
    origin="KIP-290",
    expected_response="an error",
    expected_requests="no CreateAcls that would make a literal ACL",
    commands="create_acls",
    supports_release=has_only_literal_acls,
    runs_on_real_cluster=True,
)
async def expect_prefixed_acl_rejected_for_broker_without_patterns(context: CaseContext) -> None:
    await _open_client_with_acls(context)
    response = await context.run_command("create_acls", acls=[PREFIXED])
    if created_acls := await acls_of_other_users_as_fields(context):
        raise UnmetExpectationError("no ACL", f"there is {_acl_descriptions(created_acls)}")
    if response.ok is not None and response.item_response("0").ok is not None:
        raise UnmetExpectationError("an error", f"the client reported {response}")


@_KIPS.case(
    "acls.old-broker-match",
    "describe_acls with pattern type MATCH fails for a broker that has only literal ACLs",
    origin="KIP-290",
    expected_response="an error",
    commands="describe_acls",
    supports_release=has_only_literal_acls,
    runs_on_real_cluster=True,
)
async def expect_match_filter_fails_on_broker_without_patterns(context: CaseContext) -> None:
    await _open_client_with_acls(context, LITERAL)
    response = await context.run_command("describe_acls", filter={**ACL, "pattern_type": "MATCH"})
    expect_client_error(response)


@_KIPS.case(
    "acls.old-broker-any",
    "describe_acls with pattern type ANY works on a broker that has only literal ACLs",
    origin="KIP-290",
    expected_response="the literal ACLs",
    commands="describe_acls",
    supports_release=has_only_literal_acls,
    runs_on_real_cluster=True,
)
async def expect_any_filter_works_on_broker_without_patterns(context: CaseContext) -> None:
    await _open_client_with_acls(context, LITERAL, OTHER)
    response = await context.run_successfully("describe_acls", filter=ANY)
    _expect_equal_acls([LITERAL, OTHER], _acls_of_others(response["acls"]))


def _expect_only_second_item_rejected(response: DriverResponse) -> None:
    first, second = (
        response.item_response("0"),
        response.item_response("1"),
    )
    if first.ok is None:
        raise UnmetExpectationError("the first succeeds", f"the client reported {first}")
    if second.error is None or second.error.code != 42:
        raise UnmetExpectationError(
            "INVALID_REQUEST (42) for the second", f"the client reported {second}"
        )


@_KIPS.case(
    "acls.create-partly",
    "create_acls with two ACLs reports which one the broker refuses",
    origin="KIP-140",
    expected_response="ok for the first, INVALID_REQUEST (42) for the second",
    expected_requests="an ACL for a cluster by another name than kafka-cluster is refused",
    commands="create_acls",
    runs_on_real_cluster=True,
)
async def expect_rejected_acl_of_two_reported(context: CaseContext) -> None:
    await _open_client_with_acls(context)
    other = {**ACL, "resource_type": "CLUSTER", "name": "other", "operation": "ALTER"}
    _expect_only_second_item_rejected(await context.run_command("create_acls", acls=[ACL, other]))


@_KIPS.case(
    "acls.delete-partly",
    "delete_acls with two filters reports which one the broker refuses",
    origin="KIP-140",
    expected_response="ok for the first, INVALID_REQUEST (42) for the second",
    commands="delete_acls",
)
async def expect_rejected_filter_of_two_reported(context: CaseContext) -> None:
    await _open_client_with_acls(context, LITERAL)
    context.inject_fault("DeleteAcls", set={"filter_results.1.error_code": 42}, times=0)
    filters = [ACL, {**ANY, "principal": "User:bob"}]
    _expect_only_second_item_rejected(await context.run_command("delete_acls", filters=filters))


@_KIPS.case(
    "acls.delete-match-fails",
    "delete_acls reports an ACL that matched but could not be deleted",
    origin="KIP-140",
    expected_response="an error",
    commands="delete_acls",
    level=RequirementLevel.SHOULD,
)
async def expect_failed_deletion_of_match_reported(context: CaseContext) -> None:
    await _open_client_with_acls(context, LITERAL)
    field = "filter_results.*.matching_acls.*.error_code"
    context.inject_fault("DeleteAcls", set={field: -1}, times=0)
    response = await context.run_command("delete_acls", filters=[ACL])
    item = response.item_response("0")
    if item.error is None and (item.ok or {}).get("acls"):
        raise UnmetExpectationError("an error, or no deleted ACL", f"the client reported {item}")


CASES = _KIPS.cases
