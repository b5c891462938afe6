"""The smallest ACL set for observed accesses: sums and groups by SQL, ACLs by the authorizer.

Each resource of a principal is handled separately, so a principal may have any number of accesses.
Accesses that can be met in several ways, of which there are few, are first reduced to one way.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess
from kafka_shim.pipeline.acl_decisions import IS_ANY_RESOURCE, QUESTION
from kafka_shim.pipeline.acls.acl_tables import PRINCIPALS, principal_table
from kafka_shim.pipeline.acls.required_access import (
    observed_access_of_row,
    operation_on_resource,
)
from kafka_shim.pipeline.engines.checked_sql import checked_sql
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.tables import OBSERVED
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.policy.least.least_acls import (
    ObservedAccess,
    choose_alternatives,
    least_grants,
)
from kafka_shim.policy.least.name_prefixes import (
    Grant,
    OperationOnResource,
    join_names_into_prefixes,
)
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType

LEAST_ACLS = pa.schema(
    [
        ("principal", pa.string()),
        ("acl", pa.string()),
        ("requests", pa.int64()),
        ("over_grants", pa.list_(pa.string())),
        ("add", pa.string()),
    ]
)
_CELL = pa.schema(
    [
        *((name, pa.string()) for name in QUESTION),
        ("allowed", pa.bool_()),
        ("requests", pa.int64()),
    ]
)
_CELL_COLUMNS = ", ".join(_CELL.names)
_CELL_RESOURCE = ("principal", "resource_type", "resource_name")
_KEYS = (*QUESTION, "is_any_resource")
_WAY = ("principal", "host", "resource_type", "resource_name")
_LATEST = checked_sql(
    f"""
with marked as (
    select *, {IS_ANY_RESOURCE} as is_any_resource from {{accesses}}
    where rule is distinct from 'SuperUser'
        and principal not in (select principal from {{super_users}})
),
decided as (
    select {", ".join(_KEYS)}, max(last_seen) filter (where allowed) as last_allowed,
        max(last_seen) filter (where not allowed) as last_denied
    from marked group by {", ".join(_KEYS)}
)
select m.principal, m.host, m.api_key, m.operation, m.resource_type, m.resource_name, m.instead,
    m.allowed, cast(sum(m.requests) as bigint) as requests, max(m.last_seen) as last_seen,
    m.allowed and (m.is_any_resource or size(m.instead) > 0) as has_alternatives, m.is_any_resource
from marked m
join decided d on {" and ".join(f"d.{name} = m.{name}" for name in _KEYS)}
where m.allowed = (d.last_denied is null or coalesce(d.last_allowed >= d.last_denied, false))
group by m.principal, m.host, m.api_key, m.operation, m.resource_type, m.resource_name, m.instead,
    m.allowed, m.is_any_resource
""",
    accesses=OBSERVED.names,
    super_users=PRINCIPALS.names,
)
"""The accesses with the latest decision, without super users."""
_LATEST_COLUMNS = (*QUESTION, "allowed", "has_alternatives")
_MEETING = checked_sql(
    """
select distinct p.principal, p.host, p.operation, p.resource_type, p.resource_name
from {latest} p join {ways} w on w.principal = p.principal and w.host = p.host
    and w.resource_type = p.resource_type and w.resource_name = p.resource_name
where p.allowed and not p.has_alternatives
union all
select p.principal, p.host, p.operation, p.resource_type, min(p.resource_name)
from {latest} p
where p.allowed and not p.has_alternatives
    and p.principal in (select principal from {ways})
group by p.principal, p.host, p.operation, p.resource_type
""",
    latest=_LATEST_COLUMNS,
    ways=_WAY,
)
"""The accesses whose ACLs may meet an alternative of others: on its name, or any name of a type."""


def least_grant_rows(
    engine: DuckDbEngine,
    accesses: str,
    over_grants_max: int | None,
    super_users: Sequence[str],
) -> str:
    """Return rows of `LEAST_ACLS` for the accesses, in no order."""
    users = principal_table(super_users)
    latest = engine.materialize(
        engine.sql(_LATEST, accesses=accesses, super_users=engine.relation_from_arrow(users))
    )
    grants = list(_literal_grants(engine, latest))
    if over_grants_max is not None:
        grants = _join_into_prefixes(engine, grants, latest, accesses, over_grants_max)
    return engine.relation_from_arrow(
        pa.Table.from_pylist([_grant_row(grant) for grant in grants], LEAST_ACLS)
    )


def _literal_grants(engine: DuckDbEngine, latest: str) -> Iterator[Grant]:
    """Yield the grants of each resource of a principal, which are read one after the other."""
    chosen = pa.Table.from_pylist(list(_choose_alternatives(engine, latest)), _CELL)
    cells = engine.sql(
        f"""
        select {_CELL_COLUMNS} from {{latest}} where not has_alternatives and not is_any_resource
        union all
        select {_CELL_COLUMNS} from {{chosen}}
        order by principal, resource_type, resource_name
        """,
        latest=latest,
        chosen=engine.relation_from_arrow(chosen),
    )
    rows = (row for batch in engine.batches(cells) for row in batch.to_pylist())
    for _, of_resource in groupby(rows, key=itemgetter(*_CELL_RESOURCE)):
        accesses = [_access_from_row(row) for row in of_resource]
        if any(access.is_allowed for access in accesses):
            yield from least_grants(accesses)


def _choose_alternatives(engine: DuckDbEngine, latest: str) -> Iterator[dict[str, Any]]:
    """Yield the cells of accesses with alternatives."""
    with_alternatives = engine.sql("select * from {l} where has_alternatives", l=latest)
    rows = engine.rows(with_alternatives)
    if not rows:
        return
    accesses = [observed_access_of_row(row) for row in rows]
    ways = [
        {
            "principal": access.required.actor.principal,
            "host": access.required.actor.host,
            "resource_type": check.action.resource_type.name,
            "resource_name": check.action.resource_name,
        }
        for access in accesses
        for way in access.required.alternatives
        for check in way
    ]
    table = pa.Table.from_pylist(ways, pa.schema([(name, pa.string()) for name in _WAY]))
    meeting = engine.sql(_MEETING, latest=latest, ways=engine.relation_from_arrow(table))
    needs = [
        _access_from_row(row | {"allowed": True, "requests": 0}) for row in engine.rows(meeting)
    ]
    for access in choose_alternatives(accesses, needs):
        actor = access.required.actor
        ((check,),) = access.required.alternatives
        yield {
            "principal": actor.principal,
            "host": actor.host,
            "operation": check.action.operation.name,
            "resource_type": check.action.resource_type.name,
            "resource_name": check.action.resource_name,
            "allowed": True,
            "requests": access.request_count,
        }


def _access_from_row(row: dict[str, Any]) -> ObservedAccess:
    action = Action(*operation_on_resource(row))
    required = RequiredAccess(Actor(row["principal"], row["host"]), ((CheckedAction(action),),))
    return ObservedAccess(required, row["allowed"], row["requests"])


UNSEEN = "... (unseen names)"
"""What a prefix allows besides the observed names."""


def _grant_row(grant: Grant) -> dict[str, Any]:
    return {
        "principal": grant.acl.principal,
        "acl": format_acl_rule(grant.acl),
        "requests": grant.requests,
        "over_grants": _over_grants(grant),
        "add": format_command("--add", grant.acl),
    }


def _over_grants(grant: Grant) -> list[str]:
    """Return the names that an ACL allows although the principal did not use them."""
    names = list(grant.over_granted_names)
    if grant.acl.pattern_type is PatternType.PREFIXED:
        names.append(f"{grant.acl.resource_name}{UNSEEN}")
    return names


def _join_into_prefixes(
    engine: DuckDbEngine,
    literal_grants: Iterable[Grant],
    latest: str,
    accesses: str,
    over_grants_max: int,
) -> list[Grant]:
    allows: dict[str, list[Grant]] = defaultdict(list)
    joined = []
    for grant in literal_grants:
        if grant.acl.permission is Permission.ALLOW:
            allows[grant.acl.principal].append(grant)
        else:
            joined.append(grant)
    used_names = _used_names_by_resource_type(engine, accesses)
    denied = _denied_by_principal(engine, latest, allows)
    for principal, grants in allows.items():
        joined += join_names_into_prefixes(
            grants, used_names, over_grants_max, denied.get(principal, [])
        )
    return joined


def _used_names_by_resource_type(
    engine: DuckDbEngine, accesses: str
) -> dict[ResourceType, frozenset[str]]:
    names: dict[ResourceType, set[str]] = defaultdict(set)
    query = "select distinct resource_type, resource_name from {accesses}"
    for row in engine.rows(engine.sql(query, accesses=accesses)):
        names[ResourceType[row["resource_type"]]].add(row["resource_name"])
    return {resource_type: frozenset(of_type) for resource_type, of_type in names.items()}


def _denied_by_principal(
    engine: DuckDbEngine, latest: str, principals: Iterable[str]
) -> dict[str, list[OperationOnResource]]:
    denied: dict[str, list[OperationOnResource]] = defaultdict(list)
    wanted = set(principals)
    query = (
        "select distinct principal, operation, resource_type, resource_name"
        " from {latest} where not allowed"
    )
    for row in engine.rows(engine.sql(query, latest=latest)):
        if row["principal"] in wanted:
            denied[row["principal"]].append(operation_on_resource(row))
    return denied
