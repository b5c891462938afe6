"""The ACLs that each observed decision depends on, as signatures with their numbers of requests."""

from typing import Any

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.pipeline.acl_decisions import IS_ANY_RESOURCE, QUESTION, AclDecider
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.matches import DecidingAclFinder, DecisionSignature
from kafka_shim.pipeline.acls.removable import CountedSignature
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.rows.access_roles import WITHOUT_CERTAIN_EFFECT
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS

_COLUMNS = ", ".join(QUESTION)


_HAS_EFFECT = f"bool_or(role not in {WITHOUT_CERTAIN_EFFECT}) as has_effect"
"""Whether a response certainly depends on one of equal accesses."""


def split_by_signature(
    engine: DuckDbEngine, accesses: str, acl_set: AclSet
) -> tuple[list[CountedSignature], list[dict[str, Any]]]:
    """Return the signatures of all accesses, and the rows that only the authorizer can decide.

    Of those accesses, the requirement can be met in another way, they are about any resource of a
    type, or the release overlooks ACLs. Their column `has_effect` is whether a response certainly
    depends on the decision. Accesses of super users are left out.
    """
    rules = acl_rules_of_release(acl_set.release)
    is_plain = f"size(instead) = 0 and not {IS_ANY_RESOURCE}"
    if rules.prefix_search_stops_early:
        is_plain = "false"
    others = _signatures_by_authorizer(engine, accesses, acl_set, is_plain)
    return (
        [*_signatures_by_joins(engine, accesses, acl_set, is_plain), *others[0]],
        others[1],
    )


def _signatures_by_joins(
    engine: DuckDbEngine, accesses: str, acl_set: AclSet, is_plain: str
) -> list[CountedSignature]:
    decider = AclDecider(engine, acl_set)
    questions = engine.materialize(
        engine.sql(
            f"""
            select {_COLUMNS}, cast(sum(requests) as bigint) as requests,
                max(last_seen) as last_seen, {_HAS_EFFECT}
            from {{accesses}}
            where {is_plain} and principal not in (select principal from {{super_users}})
            group by {_COLUMNS}
            """,
            accesses=accesses,
            super_users=decider.super_users,
        )
    )
    patterns = engine.materialize(decider.resource_patterns(questions))
    on_resource = f"""
        select resource_type, resource_name, array_sort(array_agg(pattern)) as patterns
        from {{patterns}} where {str(acl_set.allow_everyone_if_no_acl).lower()}
        group by resource_type, resource_name
    """
    same = " and ".join(f"a.{name} = q.{name}" for name in QUESTION)
    rows = engine.sql(
        f"""
        select allows, denies, patterns, has_effect, cast(sum(requests) as bigint) as requests,
            max(last_seen) as last_seen
        from (
            select q.requests, q.last_seen, q.has_effect, a.allows, a.denies, r.patterns
            from {{questions}} q
            left join (
                select {_COLUMNS},
                    array_sort(array_agg(rank) filter (where not is_deny)) as allows,
                    array_sort(array_agg(rank) filter (where is_deny)) as denies
                from {{applying}} group by {_COLUMNS}
            ) a on {same}
            left join ({on_resource}) r
                on r.resource_type = q.resource_type and r.resource_name = q.resource_name
        ) signatures
        group by allows, denies, patterns, has_effect
        """,
        questions=questions,
        applying=decider.applying_acls(questions, patterns),
        patterns=patterns,
    )
    positions = decider.relations.positions_by_rank()
    ranks = decider.relations.ranks_by_pattern()
    return [_signature_from_row(row, positions, ranks) for row in engine.rows(rows)]


def _signature_from_row(
    row: dict[str, Any], positions_by_rank: list[int], ranks_by_pattern: dict[int, list[int]]
) -> CountedSignature:
    allows, denies = (
        sorted(positions_by_rank[rank] for rank in row[name] or ()) for name in ("allows", "denies")
    )
    on_resource = {
        positions_by_rank[rank]
        for pattern in row["patterns"] or ()
        for rank in ranks_by_pattern[pattern]
    }
    inapplicable = sorted(on_resource.difference(allows, denies))
    signature = DecisionSignature(
        determines_decision=True,
        allows=tuple(allows),
        denies=tuple(denies),
        inapplicable=tuple(inapplicable),
    )
    return CountedSignature(signature, row["requests"], row["last_seen"], row["has_effect"])


def _signatures_by_authorizer(
    engine: DuckDbEngine, accesses: str, acl_set: AclSet, is_plain: str
) -> tuple[list[CountedSignature], list[dict[str, Any]]]:
    columns = ", ".join(DECISION_COLUMNS)
    rows = engine.rows(
        engine.sql(
            f"""
            select {columns}, cast(sum(requests) as bigint) as requests,
                max(last_seen) as last_seen, {_HAS_EFFECT}
            from {{accesses}} where not ({is_plain}) group by {columns}
            """,
            accesses=accesses,
        )
    )
    finder = DecidingAclFinder(acl_set, acl_set.build_authorizer().store) if rows else None
    signatures = [
        CountedSignature(
            finder.find_signature(row), row["requests"], row["last_seen"], row["has_effect"]
        )
        for row in rows
        if finder is not None and row["principal"] not in acl_set.super_users
    ]
    return signatures, [
        {name: row[name] for name in (*DECISION_COLUMNS, "has_effect")} for row in rows
    ]
