"""Rules about requests for ACLs: which ACLs filters select, what is stored, and in which order."""

from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from tests.recordings.conformance.rules.rule import (
    ALLOW,
    DENY,
    LITERAL,
    NAME,
    PREFIXED,
    ROOT,
    Ask,
    Entry,
    Rule,
    describe_acls,
)

TOPIC: Final = [ResourceType.TOPIC]
STORED: Final = (
    Entry(ALLOW, NAME, types=[ResourceType.TOPIC, ResourceType.GROUP], operation=Operation.READ),
    Entry(DENY, NAME, host="127.0.0.1", types=TOPIC, operation=Operation.WRITE),
    Entry(ALLOW, "{p}-na", PREFIXED, types=TOPIC, operation=Operation.ALL),
    Entry(ALLOW, "*", principal="User:*", types=TOPIC, operation=Operation.DESCRIBE),
    Entry(ALLOW, "*", PREFIXED, principal="User:alice", types=TOPIC, operation=Operation.READ),
    Entry(ALLOW, "{p}-NAME", principal="User:Bob", types=TOPIC, operation=Operation.READ),
)
"""ACLs of which each filter below selects some."""
FILTERS: Final[dict[str, dict[str, Any]]] = {
    "the type": {"resource_type_filter": int(ResourceType.TOPIC)},
    "the name": {"resource_name_filter": NAME},
    "the pattern type LITERAL": {"pattern_type_filter": int(LITERAL)},
    "the pattern type PREFIXED": {"pattern_type_filter": int(PREFIXED)},
    "the pattern type MATCH": {
        "pattern_type_filter": int(PatternType.MATCH),
        "resource_name_filter": NAME,
    },
    "the pattern type MATCH without a name": {"pattern_type_filter": int(PatternType.MATCH)},
    "a prefix by its name": {
        "pattern_type_filter": int(PREFIXED),
        "resource_name_filter": "{p}-na",
    },
    "`*` by its name": {"pattern_type_filter": int(LITERAL), "resource_name_filter": "*"},
    "the principal": {"principal_filter": "User:bob"},
    "User:*": {"principal_filter": "User:*"},
    "the host": {"host_filter": "127.0.0.1"},
    "the host `*`": {"host_filter": "*"},
    "the operation": {"operation": int(Operation.READ)},
    "the operation All": {"operation": int(Operation.ALL)},
    "the permission": {"permission_type": int(Permission.DENY)},
    "nothing": {},
}


def delete_acls(*filters: dict[str, Any], newest: int = 3) -> Ask:
    everything = describe_acls().request
    return Ask(
        ApiKey.DELETE_ACLS, newest, {"filters": [everything | each for each in filters]}, ROOT
    )


def create_acls(*entries: Entry, newest: int = 3) -> Ask:
    creations = [acl for entry in entries for acl in entry.acls()]
    return Ask(ApiKey.CREATE_ACLS, newest, {"creations": creations}, ROOT)


def _stored(name: str, permission: Permission = ALLOW, **more: Any) -> Entry:
    return Entry(permission, name, types=TOPIC, operation=Operation.READ, **more)


def acl_request_rules() -> Iterator[Rule]:
    """Yield rules about DescribeAcls, DeleteAcls and CreateAcls, all sent by a super user."""
    listing = describe_acls(ROOT)
    for name, fields in FILTERS.items():
        asks = [
            describe_acls(ROOT, **fields),
            describe_acls(ROOT, newest=1, **fields),
            delete_acls(fields),
            listing,
        ]
        yield Rule(f"filters of ACLs by {name} select others", "", STORED, asks)
    yield Rule(
        "DeleteAcls deletes other ACLs than it returns",
        "",
        STORED,
        [
            delete_acls({"operation": int(Operation.WRITE)}),
            listing,
            delete_acls(
                {"principal_filter": "User:Bob"}, {"principal_filter": "User:alice"}, newest=2
            ),
            listing,
            delete_acls({"resource_name_filter": "{p}-none"}, newest=1),
            listing,
        ],
    )
    invalid = _stored("{p}-b")._replace(principal="nobody")
    unknown_type = {"resource_type_filter": 99}
    yield Rule(
        "results of ACLs are in another order",
        "",
        [_stored("{p}-a"), _stored("{p}-c"), _stored("{p}-d", DENY)],
        [
            create_acls(_stored("{p}-x"), invalid, _stored("{p}-y")),
            create_acls(invalid, _stored("{p}-z"), newest=1),
            create_acls(_stored("{p}-z"), _stored("{p}-y"), invalid, newest=2),
            listing,
            delete_acls(unknown_type, {"resource_name_filter": "{p}-a"}),
            delete_acls(
                {"resource_name_filter": "{p}-none"}, {"resource_name_filter": "{p}-c"}, newest=1
            ),
            delete_acls(
                {"resource_name_filter": "{p}-d"}, {"resource_name_filter": "{p}-none"}, newest=2
            ),
            listing,
        ],
    )
    stored = [
        _stored("{p}-a", principal="User:Bob"),
        _stored("{p}-a", DENY, host="127.0.0.1"),
        _stored("{p}-A", principal="Group:x"),
        _stored("{p}-a", pattern=PREFIXED),
        _stored("*", principal="User:*"),
    ]
    yield Rule(
        "ACLs are stored otherwise than sent",
        "",
        [],
        [
            create_acls(*stored),
            listing,
            create_acls(*stored[:2], newest=1),
            listing,
            delete_acls({"host_filter": "127.0.0.1"}),
            listing,
        ],
    )
