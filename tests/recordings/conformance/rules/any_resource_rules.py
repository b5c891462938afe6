"""Rules about the permission on any resource of a type (KIP-679), which InitProducerId asks for."""

from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from tests.recordings.conformance.rules.rule import (
    ALLOW,
    BOB,
    DENY,
    LITERAL,
    PREFIXED,
    Ask,
    Entry,
    Rule,
)

TOPICS: Final[dict[str, Any]] = {"types": [ResourceType.TOPIC], "operation": Operation.WRITE}


def init_producers(user: str = BOB) -> tuple[Ask, ...]:
    """Ask for WRITE on any topic in three versions, since only one API needs this."""
    request = {"transactional_id": None, "transaction_timeout_ms": 60_000}
    return tuple(
        Ask(ApiKey.INIT_PRODUCER_ID, version, request, user, oldest=version)
        for version in (1, 3, 4)
    )


def _topic(permission: Any, name: str, pattern: Any = LITERAL, **more: Any) -> Entry:
    return Entry(permission, name, pattern, **(TOPICS | more))


def any_resource_rules() -> Iterator[Rule]:
    """Yield rules about WRITE on any topic."""
    cluster: dict[str, Any] = {
        "types": [ResourceType.CLUSTER],
        "operation": Operation.IDEMPOTENT_WRITE,
    }
    everywhere = _topic(ALLOW, "*")
    for mistake, entries in (
        ("any resource: without ACLs it is allowed", []),
        ("any resource: ALLOW on a name is ignored", [_topic(ALLOW, "a")]),
        ("any resource: ALLOW on a prefix is ignored", [_topic(ALLOW, "a", PREFIXED)]),
        ("any resource: ALLOW on `*` is ignored", [everywhere]),
        ("any resource: ALLOW of All is ignored", [_topic(ALLOW, "a", operation=Operation.ALL)]),
        ("any resource: ALLOW of READ counts", [_topic(ALLOW, "a", operation=Operation.READ)]),
        ("any resource: groups count", [_topic(ALLOW, "a", types=[ResourceType.GROUP])]),
        ("any resource: User:* is ignored", [_topic(ALLOW, "a", principal="User:*")]),
        ("any resource: principals are ignored", [_topic(ALLOW, "a", principal="User:alice")]),
        ("any resource: principals are ignored", [_topic(ALLOW, "a", principal="User:BOB")]),
        ("any resource: principals are ignored", [_topic(ALLOW, "a", principal="User:bo*")]),
        ("any resource: principals are ignored", [_topic(ALLOW, "a", principal="Group:bob")]),
        ("any resource: hosts are ignored", [_topic(ALLOW, "a", host="127.0.0.2")]),
        ("any resource: ALLOW of a host is ignored", [_topic(ALLOW, "a", host="127.0.0.1")]),
        ("any resource: a super user is any user", [_topic(ALLOW, "a", principal="User:admin")]),
        ("any resource: DENY on `*` is ignored", [_topic(ALLOW, "a"), _topic(DENY, "*")]),
        ("any resource: DENY on `*` is ignored", [_topic(ALLOW, "a", PREFIXED), _topic(DENY, "*")]),
        ("any resource: DENY on `*` is ignored", [everywhere, _topic(DENY, "*")]),
        ("any resource: DENY on the name is ignored", [_topic(ALLOW, "a"), _topic(DENY, "a")]),
        (
            "any resource: DENY on a prefix of the name is ignored",
            [_topic(ALLOW, "aa"), _topic(DENY, "a", PREFIXED)],
        ),
        (
            "any resource: DENY on a prefix that equals the name is ignored",
            [_topic(ALLOW, "aa"), _topic(DENY, "aa", PREFIXED)],
        ),
        (
            "any resource: DENY on the same prefix is ignored",
            [_topic(ALLOW, "aa", PREFIXED), _topic(DENY, "aa", PREFIXED)],
        ),
        (
            "any resource: DENY on a shorter prefix is ignored",
            [_topic(ALLOW, "aa", PREFIXED), _topic(DENY, "a", PREFIXED)],
        ),
        (
            "any resource: DENY on a longer prefix covers all",
            [_topic(ALLOW, "a", PREFIXED), _topic(DENY, "aa", PREFIXED)],
        ),
        (
            "any resource: DENY on a name covers a prefix",
            [_topic(ALLOW, "a", PREFIXED), _topic(DENY, "a")],
        ),
        ("any resource: DENY on a name covers `*`", [everywhere, _topic(DENY, "a")]),
        ("any resource: DENY on a prefix covers `*`", [everywhere, _topic(DENY, "a", PREFIXED)]),
        (
            "any resource: DENY on a prefix covers `*`",
            [everywhere, _topic(DENY, "h", PREFIXED), _topic(DENY, "hardcode")],
        ),
        ("any resource: DENY on another name counts", [_topic(ALLOW, "a"), _topic(DENY, "b")]),
        (
            "any resource: one DENY covers two names",
            [_topic(ALLOW, "a"), _topic(ALLOW, "b"), _topic(DENY, "b")],
        ),
        (
            "any resource: DENY of All is ignored",
            [_topic(ALLOW, "a"), _topic(DENY, "a", operation=Operation.ALL)],
        ),
        (
            "any resource: DENY of another operation counts",
            [_topic(ALLOW, "a"), _topic(DENY, "a", operation=Operation.READ)],
        ),
        (
            "any resource: DENY of another principal counts",
            [_topic(ALLOW, "a"), _topic(DENY, "a", principal="User:alice")],
        ),
        (
            "any resource: DENY of User:* is ignored",
            [_topic(ALLOW, "a"), _topic(DENY, "a", principal="User:*")],
        ),
        (
            "any resource: DENY of another host counts",
            [_topic(ALLOW, "a"), _topic(DENY, "a", host="127.0.0.2")],
        ),
        (
            "any resource: DENY of a host is ignored",
            [_topic(ALLOW, "a"), _topic(DENY, "a", host="127.0.0.1")],
        ),
        (
            "any resource: DENY of another type counts",
            [_topic(ALLOW, "a"), _topic(DENY, "*", types=[ResourceType.GROUP])],
        ),
        (
            "any resource: IDEMPOTENT_WRITE on the cluster is ignored",
            [Entry(ALLOW, "kafka-cluster", **cluster)],
        ),
        (
            "any resource: IDEMPOTENT_WRITE on the cluster is ignored",
            [Entry(ALLOW, "kafka-cluster", **cluster), _topic(DENY, "*")],
        ),
        (
            "any resource: DENY on the cluster counts",
            [Entry(DENY, "kafka-cluster", **cluster), _topic(ALLOW, "a")],
        ),
    ):
        yield Rule(mistake, "", entries, init_producers())
    denied = [_topic(DENY, "*", principal="User:*")]
    yield Rule("any resource: super users need ACLs", "", denied, init_producers("admin"))


def later_any_resource_rules() -> Iterator[Rule]:
    """Yield rules that were added after others had been recorded, which keep their numbers."""
    for operation in (Operation.DESCRIBE, Operation.CREATE, Operation.IDEMPOTENT_WRITE):
        entries = [_topic(ALLOW, "a", operation=operation)]
        mistake = "any resource: ALLOW of another operation counts"
        yield Rule(mistake, operation.name, entries, init_producers())
