"""The results of the jobs, computed by plain loops with the simplest form of Kafka's rules."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import Operation, PatternType, Permission
from kafka_shim.trace_format.entries import Access
from kafka_shim.trace_format.segments import Block, read_trace

O = Operation  # noqa: E741 - makes the table of operations readable
RULES = NEWEST_RULES
"""The rules of the current case's release."""
IMPLIED = {
    O.DESCRIBE: {O.READ, O.WRITE, O.DELETE, O.ALTER},
    O.DESCRIBE_CONFIGS: {O.ALTER_CONFIGS},
}


def accesses(folder: Path) -> list[dict[str, Any]]:
    """Return every access recorded in the trace."""
    found = []
    for block in read_trace(folder):
        assert isinstance(block, Block)
        people = {connection.number: connection for connection in block.body.connections}
        for entry in block.body.entries:
            if isinstance(entry, Access):
                who = people[entry.connection]
                found.append(
                    {
                        "principal": who.principal,
                        "host": who.host,
                        "operation": Operation(entry.operation),
                        "type": entry.resource_type,
                        "name": entry.resource_name,
                        "allowed": entry.allowed,
                        "rule": entry.rule,
                        "time_us": entry.time_us,
                        "request": (people[entry.connection].writer_connection, entry.sequence),
                    }
                )
    return found


def covers(acl: Acl, type_: int, name: str) -> bool:
    if acl.resource_type != type_:
        return False
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name == name or (
        acl.resource_name == "*"
        and (RULES.wildcard_covers_starred_names or not name.startswith("*"))
    )


def applies(acl: Acl, access: dict[str, Any]) -> bool:
    if not covers(acl, access["type"], access["name"]):
        return False
    if acl.principal not in (access["principal"], "User:*"):
        return False
    if acl.host not in (access["host"], "*"):
        return False
    operations = {access["operation"], Operation.ALL}
    if acl.permission is Permission.ALLOW:
        operations |= IMPLIED.get(access["operation"], set())
    return acl.operation in operations


def decide(
    acls: list[Acl], supers: tuple[str, ...], access: dict[str, Any], *, everyone: bool = False
) -> bool:
    if access["principal"] in supers:
        return True
    found = [acl for acl in acls if applies(acl, access)]
    if any(acl.permission is Permission.DENY for acl in found):
        return False
    if found:
        return True
    return everyone and not any(covers(acl, access["type"], access["name"]) for acl in acls)


def key(access: dict[str, Any]) -> tuple[str, ...]:
    kind = {2: "TOPIC", 3: "GROUP"}[access["type"]]
    return (access["principal"], access["operation"].name, kind, access["name"])


def what_breaks(
    seen: list[dict[str, Any]], acls: list[Acl], supers: tuple[str, ...], *, everyone: bool = False
) -> dict[tuple[str, ...], int]:
    """Return the number of requests by (change, principal, operation, type, name)."""
    found: dict[tuple[str, ...], int] = defaultdict(int)
    for access in seen:
        after = decide(acls, supers, access, everyone=everyone)
        if after != access["allowed"]:
            change = "newly denied" if access["allowed"] else "newly allowed"
            found[change, *key(access)] += 1
    return dict(found)


def changed_requests(
    seen: list[dict[str, Any]],
    acls: list[Acl],
    supers: tuple[str, ...],
    *,
    everyone: bool = False,
    baseline: list[Acl] | None = None,
) -> dict[tuple[str, ...], set[Any]]:
    """Return the changed requests by (change, principal), and by that with the access added."""
    requests: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for access in seen:
        requests[access["request"]].append(access)
    found: dict[tuple[str, ...], set[Any]] = defaultdict(set)
    for request, asked in requests.items():
        after = [decide(acls, supers, access, everyone=everyone) for access in asked]
        before = [access["allowed"] for access in asked]
        if baseline is not None:
            before = [decide(baseline, supers, access, everyone=everyone) for access in asked]
        if all(before) == all(after):
            continue
        change = "newly denied" if all(before) else "newly allowed"
        for access, was, would in zip(asked, before, after, strict=True):
            if was != would:
                found[change, *key(access)].add(request)
                found[change, access["principal"]].add(request)
    return dict(found)


def redundant(
    seen: list[dict[str, Any]], acls: list[Acl], supers: tuple[str, ...], *, everyone: bool = False
) -> set[Acl]:
    """Return the ACLs that could each be removed alone without changing a decision."""
    now = [decide(acls, supers, access, everyone=everyone) for access in seen]
    found = set()
    for acl in acls:
        rest = [other for other in acls if other != acl]
        if all(
            decide(rest, supers, access, everyone=everyone) == was
            for access, was in zip(seen, now, strict=True)
        ):
            found.add(acl)
    return found
