"""Rows of the list of changes, with the calls of the control API that undo them."""

from typing import Any
from urllib.parse import quote

from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.shim.observing.change_log import Change, ChangeLog
from kafka_shim.shim.observing.originators import CallOfControlApi, Originator
from kafka_shim.shim.state.state_change import StateChange
from kafka_shim.shim.state.topics import INTERNAL_TOPICS, NOBODY

UNDO_CALLS_MAX = 100
"""Changes that need more calls cannot be undone: the page would be busy for long."""

Row = dict[str, Any]
_TOPIC = "topic "
"""What the names of topics' settings begin with; those of others have no undo."""


def change_rows(log: ChangeLog, after: int) -> Row:
    """Return the changes with a greater number, oldest first."""
    return {
        "changes": [_change_row(change) for change in log if change.number > after],
        "last": log.last_number,
        "observes_acls": log.observes_acls,
    }


def _change_row(change: Change) -> Row:
    first = change.items[0]
    calls = [] if change.left_out else _undo_calls(change.items)
    return {
        "number": change.number,
        "time_ms": change.time_ms,
        "kind": first.kind,
        "action": first.action,
        "by": _originator_row(change.originator),
        "items": [_item_row(item) for item in change.items],
        "items_left_out": change.left_out,
        "undo": calls if len(calls) <= UNDO_CALLS_MAX else [],
    }


def _originator_row(originator: Originator) -> Row:
    row: Row = {"kind": "broker", "principal": None, "client_id": None, "request": None}
    if isinstance(originator, CallOfControlApi):
        return row | {"kind": "inspector" if originator.is_from_inspector else "control API"}
    if originator is None:
        return row
    return {
        "kind": "client",
        "principal": originator.principal,
        "client_id": originator.client_id,
        "request": originator.number,
    }


def _item_row(item: StateChange) -> Row:
    if item.kind == "acl":
        return {"name": acl_line(_acl_of_item(item)), "before": None, "after": None}
    return {"name": item.name, "before": item.before, "after": item.after}


def _acl_of_item(item: StateChange) -> Acl:
    acl = item.after if item.before is None else item.before
    assert isinstance(acl, Acl)
    return acl


def _undo_calls(items: list[StateChange]) -> list[Row]:
    """Return the calls that undo equal changes, the last first; none if that is impossible."""
    first = items[0]
    if first.kind == "acl":
        path = "acls/remove" if first.action == "added" else "acls"
        return [_undo_call_row("POST", path, {"acls": acls_to_objects(map(_acl_of_item, items))})]
    calls = [_undo_call(item) for item in reversed(items)]
    return [call for call in calls if call is not None] if all(calls) else []


def _undo_call(item: StateChange) -> Row | None:
    name, method, path, body = quote(item.name, safe=""), "POST", None, None
    match item.kind, item.action:
        case "topic", "added" if item.name not in INTERNAL_TOPICS:
            method, path = "DELETE", f"topics/{name}"
        case "user", "added" if item.after == "password":
            method, path = "DELETE", f"users/{name}"
        case "fault", "added":
            method, path = "DELETE", f"faults/{name}"
        case "fault", "removed":
            path, body = "faults", item.before
        case "fault", "changed":
            path = f"faults/{name}/{'enable' if item.before == 'on' else 'disable'}"
        case "settings", "changed" if item.name.startswith(_TOPIC):
            path = f"topics/{quote(item.name.removeprefix(_TOPIC), safe='')}/settings"
            body = {"configs": item.before}
        case "leader", "changed" if item.before != NOBODY:
            topic, _, partition = item.name.rpartition("-")
            path = f"topics/{quote(topic, safe='')}/partitions/{partition}/leader"
            body = {"node_id": item.before}
        case "broker", _:
            path = f"nodes/{name}/{'stop' if item.action == 'added' else 'start'}"
    return None if path is None else _undo_call_row(method, path, body)


def _undo_call_row(method: str, path: str, body: Any = None) -> Row:
    return {"method": method, "path": path, "body": body}
