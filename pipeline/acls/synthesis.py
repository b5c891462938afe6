"""The least ACLs for what one principal was seen to do. Pure: rows of `observed` in, ACLs out.

Exact unless over-grants are asked for: every access that was allowed stays so, none that was
denied becomes allowed. One principal's ACLs concern nobody else, so each is done on its own.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.implied import allowing
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acls.generalise import Known, generalise
from kafka_shim.pipeline.acls.grants import Grant, What
from kafka_shim.pipeline.acls.verdict import is_about_any, verdict
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_INCLUDING = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
"""Operations that others include."""


class Need(msgspec.Struct):
    """One thing that was done: how often, and from where it was allowed and denied."""

    requests: int = 0
    hosts: set[str] = msgspec.field(default_factory=set)
    denied_hosts: set[str] = msgspec.field(default_factory=set)


def least_for(
    principal: str,
    rows: Iterable[dict[str, Any]],
    *,
    known: Known | None = None,
    over_grants: int = 0,
) -> list[Grant]:
    """The grants for one principal's rows of `observed`.

    `known` are all names by resource type; with them, literals become prefixes that allow at most
    `over_grants` of the known names that this principal never used, in all. Accesses of super
    users need none. Where a decision changed in time, the latest counts.
    """
    latest = _latest(rows)
    needs = _needs(latest)
    _drop_included(needs)
    literals = [
        (what, host, need.requests)
        for what, need in sorted(needs.items())
        if need.hosts
        for host in (sorted(need.hosts) if need.denied_hosts else [WILDCARD])
    ]
    grants = [Grant(_allow(principal, what, host), requests) for what, host, requests in literals]
    denied = [row for row in latest if not row["allowed"]]
    if known is not None:
        grants = generalise(grants, known, over_grants, [_what(row) for row in denied])
    return [*grants, *_denials(principal, grants, denied)]


def _latest(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that agree with the latest decision on their question; super users' are left out."""
    wanted = [row for row in rows if row["rule"] != "SuperUser"]
    latest: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for row in wanted:
        key = (row["host"], *_what(row), is_about_any(row))
        latest[key] = max(
            (row["last_seen"], row["allowed"]), latest.get(key, (row["last_seen"], False))
        )
    return [
        row
        for row in wanted
        if latest[(row["host"], *_what(row), is_about_any(row))][1] == row["allowed"]
    ]


def _what(row: dict[str, Any]) -> What:
    return (
        Operation[row["operation"]],
        ResourceType[row["resource_type"]],
        row["resource_name"],
    )


def _needs(rows: list[dict[str, Any]]) -> dict[What, Need]:
    needs: dict[What, Need] = defaultdict(Need)
    flexible = []
    for row in rows:
        if not row["allowed"]:
            needs[_what(row)].denied_hosts.add(row["host"])
        elif is_about_any(row) or _is_any_instead(row):
            flexible.append(row)
        else:
            for what in _chosen(row):
                needs[what].requests += row["requests"]
                needs[what].hosts.add(row["host"])
    for row in flexible:  # last, because what is needed anyway may do for them
        _add_flexible(needs, row)
    return needs


def _is_any_instead(row: dict[str, Any]) -> bool:
    return any(text.endswith("|" + WILDCARD) for text in row["instead"])


def _chosen(row: dict[str, Any]) -> list[What]:
    """What to grant for an allowed access: on named topics rather than on the cluster."""
    others = [_parsed(text) for text in row["instead"]]
    if (
        row["resource_type"] == ResourceType.CLUSTER.name
        and others
        and all(kind is ResourceType.TOPIC for _, kind, _ in others)
    ):
        return others
    return [_what(row)]


def _parsed(text: str) -> What:
    operation, kind, name = text.split("|", 2)
    return Operation[operation], ResourceType[kind], name


def _add_flexible(needs: dict[What, Need], row: dict[str, Any]) -> None:
    """WRITE on some topic, or else IDEMPOTENT_WRITE on the cluster, which allows nothing more."""
    ways = [_what(row), *(_parsed(text) for text in row["instead"])]
    named = [way for way in ways if way[2] != WILDCARD]
    for operation, kind, name in ways:
        if name == WILDCARD and any(
            what[:2] == (operation, kind) and what[2] != WILDCARD and row["host"] in need.hosts
            for what, need in needs.items()
        ):
            return
    what = named[0] if named else ways[0]
    needs[what].requests += row["requests"]
    needs[what].hosts.add(row["host"])


def _drop_included(needs: dict[What, Need]) -> None:
    """DESCRIBE goes where READ, WRITE, DELETE or ALTER is granted to the same hosts."""
    for what, need in list(needs.items()):
        operation, kind, name = what
        if operation not in _INCLUDING or not need.hosts:
            continue
        stronger = [
            other
            for including in sorted(allowing(operation) - {operation})
            if (other := needs.get((including, kind, name))) is not None and other.hosts
        ]
        left = set(need.hosts)
        for (
            other
        ) in stronger:  # each is granted to its hosts if it was denied to others, else to all
            left -= other.hosts if other.denied_hosts else left
        if not left:
            stronger[0].requests += need.requests
            need.hosts = set()


def _allow(principal: str, what: What, host: str) -> Acl:
    operation, kind, name = what
    return Acl(kind, name, PatternType.LITERAL, principal, host, operation, Permission.ALLOW)


def _denials(principal: str, grants: list[Grant], denied: list[dict[str, Any]]) -> list[Grant]:
    """DENY for what was denied and would be allowed, because another operation includes it."""
    authorizer = StandardAuthorizer(store=AclStore(grant.acl for grant in grants))
    found: dict[Acl, int] = {}
    for row in denied:
        would = verdict(authorizer, {**row, "principal": principal})
        if would.allowed and not is_about_any(row) and not row["instead"]:
            operation, kind, name = _what(row)
            acl = Acl(
                kind,
                name,
                PatternType.LITERAL,
                principal,
                row["host"],
                operation,
                Permission.DENY,
            )
            found[acl] = found.get(acl, 0) + row["requests"]
    return [Grant(acl, requests) for acl, requests in found.items()]
