"""Rules about changes: a new ACL, and the end of one, apply to the first request after them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from tests.recordings.conformance.rules.acl_request_rules import create_acls, delete_acls
from tests.recordings.conformance.rules.any_resource_rules import init_producers
from tests.recordings.conformance.rules.rule import (
    ALLOW,
    DENY,
    LITERAL,
    NAME,
    PREFIXED,
    Ask,
    Entry,
    Rule,
    describe,
    fetch,
    own,
)

ONE_TOPIC: Final = [ResourceType.TOPIC]
SESSION: Final = {"session_id": "session:session_id"}


def change_rules() -> Iterator[Rule]:
    """Yield rules about requests on connections that were opened before a change."""
    allow, deny = Entry(ALLOW), Entry(DENY)
    denied = {"permission_type": int(DENY)}
    for case, asks in (("", own()), ("of what is implied", describe())):
        entry = Entry(DENY, operation=Operation.DESCRIBE) if case else deny
        create, delete = create_acls(entry), delete_acls(denied)
        yield Rule("a new DENY is not applied", case, [allow], [*asks, create, *asks], [NAME])
        yield Rule(
            "a deleted DENY is still applied", case, [allow, entry], [*asks, delete, *asks], [NAME]
        )
    for place, acl in (
        ("a name", allow),
        ("a prefix", Entry(ALLOW, "{p}-na", PREFIXED)),
        ("`*`", Entry(ALLOW, "*", LITERAL)),
        ("User:*", Entry(ALLOW, principal="User:*")),
    ):
        before = [*own(), create_acls(acl), *own()]
        yield Rule("a new ALLOW is not applied", place, [], before)
        after = [*own(), delete_acls({}), *own()]
        yield Rule("a deleted ALLOW is still applied", place, [acl], after)
    write: dict[str, Any] = {"types": ONE_TOPIC, "operation": Operation.WRITE}
    producing = init_producers()
    for case, entries, change in (
        ("new ALLOW", [], create_acls(Entry(ALLOW, **write))),
        ("new DENY", [Entry(ALLOW, **write)], create_acls(Entry(DENY, **write))),
        ("deleted ALLOW", [Entry(ALLOW, **write)], delete_acls({})),
    ):
        steps = [*producing, change, *producing]
        yield Rule("any resource: a change is not applied", case, entries, steps)
    yield from _sessions()


def later_change_rules() -> Iterator[Rule]:
    """Yield rules that were added after others had been recorded, which keep their numbers."""
    denied = {"permission_type": int(DENY)}
    for place, acl in (
        ("a prefix", Entry(DENY, "{p}-na", PREFIXED)),
        ("`*`", Entry(DENY, "*", LITERAL)),
        ("User:*", Entry(DENY, principal="User:*")),
    ):
        allow = Entry(ALLOW)
        before = [*own(), create_acls(acl), *own()]
        yield Rule("a new DENY is not applied", place, [allow], before)
        after = [*own(), delete_acls(denied), *own()]
        yield Rule("a deleted DENY is still applied", place, [allow, acl], after)


def _sessions() -> Iterator[Rule]:
    """Yield rules about incremental fetch sessions, in three versions of Fetch."""
    read = Entry(ALLOW, types=ONE_TOPIC)
    changes: Sequence[tuple[str, list[Entry], Ask]] = (
        ("a new DENY is not applied", [read], create_acls(Entry(DENY, types=ONE_TOPIC))),
        ("a deleted ALLOW is still applied", [read], delete_acls({})),
        ("a new ALLOW is not applied", [], create_acls(read)),
    )
    for mistake, entries, change in changes:
        for newest in (8, 10, 12):
            opening, following = _session_requests(newest)
            asks = [opening(0), following(1), change, following(2), following(3)]
            text = f"{mistake} in open fetch sessions"
            yield Rule(text, f"version {newest}", entries, asks, [NAME])


def _session_requests(newest: int) -> tuple[Any, Any]:
    """Return functions that make the first and later requests of a session, by its epoch."""
    whole = {**fetch().request, "session_id": 0}

    def opening(epoch: int) -> Ask:
        request = whole | {"session_epoch": epoch}
        return Ask(ApiKey.FETCH, newest, request, label="session")

    def following(epoch: int) -> Ask:
        request = whole | {"session_epoch": epoch, "topics": []}
        return Ask(ApiKey.FETCH, newest, request, takes=SESSION)

    return opening, following
