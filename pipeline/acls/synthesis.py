"""The least ACLs for what one principal was seen to do. Pure: rows of `observed` in, ACLs out.

Exact unless over-grants are asked for: every access that was allowed stays so, none that was
denied becomes allowed. One principal's ACLs concern nobody else, so each is done on its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.pipeline.acls.generalise import Known, generalise
from kafka_shim.pipeline.acls.grants import Grant, What, parse_what, what_of
from kafka_shim.pipeline.acls.smallest import Cell, smallest
from kafka_shim.pipeline.acls.verdict import is_about_any
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType

_Cells = dict[What, dict[str, int]]
"""The requests for each thing that was done, by host."""


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
    denied = _denied(latest, needs)
    grants = list(_grants(principal, needs, denied))
    if known is None:
        return grants
    allows = [grant for grant in grants if grant.acl.permission is Permission.ALLOW]
    refused = [what_of(row) for row in latest if not row["allowed"]]
    denies = grants[len(allows) :]
    return [*generalise(allows, known, over_grants, refused), *denies]


def _latest(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that agree with the latest decision on their question; super users' are left out."""
    asked = [
        ((row["host"], *what_of(row), is_about_any(row)), row)
        for row in rows
        if row["rule"] != "SuperUser"
    ]
    latest: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for question, row in asked:
        decision = row["last_seen"], row["allowed"]
        latest[question] = max(decision, latest.get(question, decision))
    return [row for question, row in asked if latest[question][1] == row["allowed"]]


def _needs(rows: list[dict[str, Any]]) -> _Cells:
    needs: _Cells = defaultdict(lambda: defaultdict(int))
    flexible = []
    for row in rows:
        if row["allowed"] and (is_about_any(row) or _is_any_instead(row)):
            flexible.append(row)
        elif row["allowed"]:
            for what in _chosen(row):
                needs[what][row["host"]] += row["requests"]
    for row in flexible:  # last, because what is needed anyway may do for them
        _add_flexible(needs, row)
    return needs


def _denied(rows: list[dict[str, Any]], needs: _Cells) -> _Cells:
    """What was denied by name, and is not needed."""
    denied: _Cells = defaultdict(lambda: defaultdict(int))
    for row in rows:
        what = what_of(row)
        is_needed = row["host"] in needs.get(what, ())
        if not (row["allowed"] or is_about_any(row) or is_needed):
            denied[what][row["host"]] += row["requests"]
    return denied


def _grants(principal: str, needs: _Cells, denied: _Cells) -> Iterator[Grant]:
    """The fewest ACLs on each resource, those that deny at the end."""
    resources = sorted({(kind, name) for _, kind, name in needs})
    allowed_on, denied_on = _by_resource(needs), _by_resource(denied)
    found = [
        (kind, name, entry)
        for kind, name in resources
        for entry in smallest(allowed_on[kind, name], denied_on.get((kind, name), {}))
    ]
    for kind, name, entry in sorted(found, key=lambda grant: grant[2].permission, reverse=True):
        what, who = (kind, name, PatternType.LITERAL), (principal, entry.host)
        yield Grant(Acl(*what, *who, entry.operation, entry.permission), entry.requests)


def _by_resource(cells: _Cells) -> dict[tuple[ResourceType, str], dict[Cell, int]]:
    found: dict[tuple[ResourceType, str], dict[Cell, int]] = defaultdict(dict)
    for (operation, kind, name), hosts in cells.items():
        for host, requests in hosts.items():
            found[kind, name][operation, host] = requests
    return found


def _is_any_instead(row: dict[str, Any]) -> bool:
    return any(text.endswith("|" + WILDCARD) for text in row["instead"])


def _chosen(row: dict[str, Any]) -> list[What]:
    """What to grant for an allowed access: on named topics rather than on the cluster."""
    others = [parse_what(text) for text in row["instead"]]
    if (
        row["resource_type"] == ResourceType.CLUSTER.name
        and others
        and all(kind is ResourceType.TOPIC for _, kind, _ in others)
    ):
        return others
    return [what_of(row)]


def _add_flexible(needs: _Cells, row: dict[str, Any]) -> None:
    """WRITE on some topic, or else IDEMPOTENT_WRITE on the cluster, which allows nothing more."""
    ways = [what_of(row), *(parse_what(text) for text in row["instead"])]
    named = [way for way in ways if way[2] != WILDCARD]
    for operation, kind, name in ways:
        if name == WILDCARD and any(
            what[:2] == (operation, kind) and what[2] != WILDCARD and row["host"] in hosts
            for what, hosts in needs.items()
        ):
            return
    what = named[0] if named else ways[0]
    needs[what][row["host"]] += row["requests"]
