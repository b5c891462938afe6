"""The smallest ACL set for the observed accesses of a principal: rows of `observed` in, ACLs out.

Without over-grants the result is exact: everything that was allowed stays allowed, and nothing
that was denied becomes allowed. ACLs of a principal do not affect others, so each is handled
separately.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from kafka_shim.authorizer.least_acls import OperationFromHost, fewest_entries
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.pipeline.acls.generalise import NamesByResourceType, join_names_into_prefixes
from kafka_shim.pipeline.acls.grants import (
    Grant,
    OperationOnResource,
    operation_on_resource,
    parse_alternative,
)
from kafka_shim.pipeline.acls.verdict import row_is_about_any_resource
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType

_CountsByAccessAndHost = dict[OperationOnResource, dict[str, int]]
"""The requests for each thing that was done, by host."""


def least_grants_for_principal(
    principal: str,
    rows: Iterable[dict[str, Any]],
    *,
    used_names: NamesByResourceType | None = None,
    over_grants_max: int = 0,
) -> list[Grant]:
    """Return the grants for one principal's rows of `observed`.

    `known` are all names by resource type. With them, literal names become prefixes that together
    allow at most `over_grants` known names that this principal never used. Accesses of super users
    need no grants. If a decision changed over time, the latest counts.
    """
    latest = _latest_decisions_without_super_users(rows)
    needs = _needed_counts(latest)
    denied = _denied_counts_unless_needed(latest, needs)
    grants = list(_fewest_grants_denies_last(principal, needs, denied))
    if used_names is None:
        return grants
    allows = [grant for grant in grants if grant.acl.permission is Permission.ALLOW]
    refused = [operation_on_resource(row) for row in latest if not row["allowed"]]
    denies = grants[len(allows) :]
    return [*join_names_into_prefixes(allows, used_names, over_grants_max, refused), *denies]


def _latest_decisions_without_super_users(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the latest decision about their access, without those of super users."""
    asked = [
        ((row["host"], *operation_on_resource(row), row_is_about_any_resource(row)), row)
        for row in rows
        if row["rule"] != "SuperUser"
    ]
    latest: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for question, row in asked:
        decision = row["last_seen"], row["allowed"]
        latest[question] = max(decision, latest.get(question, decision))
    return [row for question, row in asked if latest[question][1] == row["allowed"]]


def _needed_counts(rows: list[dict[str, Any]]) -> _CountsByAccessAndHost:
    needs: _CountsByAccessAndHost = defaultdict(lambda: defaultdict(int))
    flexible = []
    for row in rows:
        if row["allowed"] and (
            row_is_about_any_resource(row) or _has_any_resource_alternative(row)
        ):
            flexible.append(row)
        elif row["allowed"]:
            for what in _accesses_to_grant(row):
                needs[what][row["host"]] += row["requests"]
    for row in flexible:  # last, since grants for other rows may be sufficient
        _ensure_idempotent_write_need(needs, row)
    return needs


def _denied_counts_unless_needed(
    rows: list[dict[str, Any]], needs: _CountsByAccessAndHost
) -> _CountsByAccessAndHost:
    """Return the accesses that were denied by name and are not needed."""
    denied: _CountsByAccessAndHost = defaultdict(lambda: defaultdict(int))
    for row in rows:
        what = operation_on_resource(row)
        is_needed = row["host"] in needs.get(what, ())
        if not (row["allowed"] or row_is_about_any_resource(row) or is_needed):
            denied[what][row["host"]] += row["requests"]
    return denied


def _fewest_grants_denies_last(
    principal: str, needs: _CountsByAccessAndHost, denied: _CountsByAccessAndHost
) -> Iterator[Grant]:
    """Yield the fewest ACLs for each resource, DENY ACLs last."""
    resources = sorted({(kind, name) for _, kind, name in needs})
    allowed_on, denied_on = _counts_by_resource(needs), _counts_by_resource(denied)
    found = [
        (kind, name, entry)
        for kind, name in resources
        for entry in fewest_entries(allowed_on[kind, name], denied_on.get((kind, name), {}))
    ]
    for kind, name, entry in sorted(found, key=lambda grant: grant[2].permission, reverse=True):
        what, who = (kind, name, PatternType.LITERAL), (principal, entry.host)
        yield Grant(Acl(*what, *who, entry.operation, entry.permission), entry.request_count)


def _counts_by_resource(
    counts: _CountsByAccessAndHost,
) -> dict[tuple[ResourceType, str], dict[OperationFromHost, int]]:
    found: dict[tuple[ResourceType, str], dict[OperationFromHost, int]] = defaultdict(dict)
    for (operation, kind, name), hosts in counts.items():
        for host, requests in hosts.items():
            found[kind, name][operation, host] = requests
    return found


def _has_any_resource_alternative(row: dict[str, Any]) -> bool:
    return any(text.endswith("|" + WILDCARD) for text in row["instead"])


def _accesses_to_grant(row: dict[str, Any]) -> list[OperationOnResource]:
    """Return what to grant for an allowed access: named topics rather than the cluster."""
    others = [parse_alternative(text) for text in row["instead"]]
    if (
        row["resource_type"] == ResourceType.CLUSTER.name
        and others
        and all(kind is ResourceType.TOPIC for _, kind, _ in others)
    ):
        return others
    return [operation_on_resource(row)]


def _ensure_idempotent_write_need(needs: _CountsByAccessAndHost, row: dict[str, Any]) -> None:
    """Add WRITE on a topic, or else IDEMPOTENT_WRITE on the cluster, which allows nothing else."""
    ways = [operation_on_resource(row), *(parse_alternative(text) for text in row["instead"])]
    named = [way for way in ways if way[2] != WILDCARD]
    for operation, kind, name in ways:
        if name == WILDCARD and any(
            what[:2] == (operation, kind) and what[2] != WILDCARD and row["host"] in hosts
            for what, hosts in needs.items()
        ):
            return
    what = named[0] if named else ways[0]
    needs[what][row["host"]] += row["requests"]
