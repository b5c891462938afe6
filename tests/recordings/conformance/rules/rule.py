"""A rule of the authorizer: ACLs and requests whose responses depend on this rule alone."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from tests.oracle.real_kafka import numbers
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.records.batches import batch

PREFIX: Final = "{p}"
"""Stands in names for the scenario's prefix."""
NAME: Final = "{p}-name"
"""The name that most requests ask about."""
BOB: Final = "bob"
TOPIC, BROKER = 2, 4
"""Types of resources with settings."""
ROOT: Final = "anonymous"
ALLOW, DENY = Permission.ALLOW, Permission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
RECORDS: Final = base64.b64encode(batch([b"v"])).decode()
OWN: Final = {
    ResourceType.TOPIC: Operation.READ,
    ResourceType.GROUP: Operation.READ,
    ResourceType.TRANSACTIONAL_ID: Operation.WRITE,
}
"""The types about which a rule is asked, and the operation that the requests need."""


class Entry(NamedTuple):
    """An ACL for each of the types; without an operation, for the one in OWN."""

    permission: Permission = ALLOW
    name: str = NAME
    pattern: PatternType = LITERAL
    principal: str = "User:bob"
    host: str = "*"
    operation: Operation | None = None
    types: Sequence[ResourceType] = tuple(OWN)

    def acls(self) -> Iterator[dict[str, Any]]:
        for kind in self.types:
            operation = OWN[kind] if self.operation is None else self.operation
            yield {
                "resource_type": int(kind),
                "resource_name": self.name,
                "principal": self.principal,
                "host": self.host,
                "operation": int(operation),
                "permission_type": int(self.permission),
                "resource_pattern_type": int(self.pattern),
            }


class Ask(NamedTuple):
    """A request in the newest version up to `newest`; releases without the API skip it."""

    api: ApiKey
    newest: int
    request: dict[str, Any]
    user: str = BOB
    label: str = ""
    takes: Mapping[str, str] = {}
    oldest: int = 0


class Rule(NamedTuple):
    """One case of a rule; `mistake` says what is wrong with a broker whose responses differ."""

    mistake: str
    case: str
    entries: Sequence[Entry]
    asks: Sequence[Ask]
    topics: Sequence[str] = ()
    groups: Sequence[str] = ()
    since: str = "0.11"
    before: str = "99"

    def exists_in(self, release: str) -> bool:
        return numbers(self.since) <= numbers(release) < numbers(self.before)

    def scenario(self, prefix: str, release: str) -> Scenario:
        """Return the scenario of a release; its responses are not there yet."""
        ranges = served_versions(parse_minor_release(release))
        steps = [
            Step(
                ask.user,
                ask.api.wire_name,
                min(ask.newest, ranges[ask.api][1]),
                _named(ask.request, prefix),
                label=ask.label,
                takes=dict(ask.takes),
            )
            for ask in self.asks
            if ask.api in ranges and ask.oldest <= ranges[ask.api][1]
        ]
        acls = [_named(acl, prefix) for entry in self.entries for acl in entry.acls()]
        topics = [_named(name, prefix) for name in self.topics]
        groups = [_named(name, prefix) for name in self.groups]
        return Scenario(prefix, topics, groups, acls, steps, rule=self.mistake, case=self.case)


def _named(value: Any, prefix: str) -> Any:
    """Return a value with the scenario's prefix in each text."""
    if isinstance(value, str):
        return value.replace(PREFIX, prefix)
    if isinstance(value, Mapping):
        return {name: _named(content, prefix) for name, content in value.items()}
    return [_named(each, prefix) for each in value] if isinstance(value, list | tuple) else value


def fetch(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for READ on a topic."""
    partition = {"partition": 0, "partition_max_bytes": 1 << 20}
    topics = [{"topic": name, "partitions": [partition]}]
    request = {"replica_id": -1, "max_wait_ms": 0, "max_bytes": 1 << 20, "topics": topics}
    return Ask(ApiKey.FETCH, 12, request, user)


def heartbeat(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for READ on a group."""
    return Ask(ApiKey.HEARTBEAT, 4, {"group_id": name, "member_id": "m"}, user)


def end_transaction(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for WRITE on a transactional id."""
    return Ask(ApiKey.END_TXN, 3, {"transactional_id": name, "producer_id": 1}, user)


def own(name: str = NAME, user: str = BOB) -> tuple[Ask, ...]:
    """Ask for the operations in OWN."""
    return fetch(name, user), heartbeat(name, user), end_transaction(name, user)


def metadata(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for DESCRIBE on a topic, and for all operations on it."""
    request = {
        "topics": [{"name": name}],
        "allow_auto_topic_creation": False,
        "include_topic_authorized_operations": True,
    }
    return Ask(ApiKey.METADATA, 9, request, user)


def describe_group(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for DESCRIBE on a group, and for all operations on it."""
    request = {"groups": [name], "include_authorized_operations": True}
    return Ask(ApiKey.DESCRIBE_GROUPS, 5, request, user)


def find_transaction_coordinator(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for DESCRIBE on a transactional id."""
    return Ask(ApiKey.FIND_COORDINATOR, 3, {"key": name, "key_type": 1}, user)


def describe(name: str = NAME, user: str = BOB) -> tuple[Ask, ...]:
    """Ask for DESCRIBE on each type in OWN."""
    return (
        metadata(name, user),
        describe_group(name, user),
        find_transaction_coordinator(name, user),
    )


def produce(*names: str, user: str = BOB) -> Ask:
    """Ask for WRITE on topics."""
    rows = [{"index": 0, "records": RECORDS}]
    topics = [{"name": name, "partition_data": rows} for name in names]
    request = {"acks": 1, "timeout_ms": 5000, "topic_data": topics}
    return Ask(ApiKey.PRODUCE, 8, request, user)


def describe_configs(name: str = NAME, user: str = BOB) -> Ask:
    """Ask for DESCRIBE_CONFIGS on a topic, or on the cluster by the name of the latter."""
    kind, key = (TOPIC, "retention.ms")
    if name == CLUSTER_NAME:
        kind, name, key = BROKER, "1", "log.retention.hours"
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": [key]}
    return Ask(ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [resource]}, user)


def describe_cluster(user: str = BOB) -> Ask:
    """Ask for all operations on the cluster."""
    return Ask(ApiKey.DESCRIBE_CLUSTER, 0, {"include_cluster_authorized_operations": True}, user)


def describe_acls(user: str = BOB, newest: int = 3, **fields: Any) -> Ask:
    """Ask for ACLs, by default for all, which needs DESCRIBE on the cluster."""
    everything = {
        "resource_type_filter": int(ResourceType.ANY),
        "resource_name_filter": None,
        "pattern_type_filter": int(PatternType.ANY),
        "principal_filter": None,
        "host_filter": None,
        "operation": int(Operation.ANY),
        "permission_type": int(Permission.ANY),
    }
    return Ask(ApiKey.DESCRIBE_ACLS, newest, everything | fields, user)


def cluster_asks(user: str = BOB) -> tuple[Ask, ...]:
    """Ask for DESCRIBE on the cluster."""
    nobody: dict[str, Any] = {"principal_filter": "User:nobody"}
    return (
        describe_acls(user, **nobody),
        Ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {"topics": None}, user),
        Ask(ApiKey.DESCRIBE_LOG_DIRS, 2, {"topics": []}, user),
    )
