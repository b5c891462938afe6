"""The accesses that requests needed, and the settings of the authorizer that they show."""

from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.rows.access_roles import (
    EITHER,
    LISTS,
    PASSED,
    REFUSED,
    REQUIRED,
    UNATTRIBUTED,
    UNLOGGED,
)


def decidable_accesses(engine: SqlEngine, accesses: Relation) -> Relation:
    """Return the accesses that requests needed, those that decide lists, and unlogged ones."""
    return _filter_by_role(
        engine, accesses, (*roles_of_requests(with_listed_accesses=True), UNLOGGED)
    )


def accesses_of_requests(
    engine: SqlEngine, accesses: Relation, *, with_listed_accesses: bool = False
) -> Relation:
    """Return the accesses that requests needed; `with_listed_accesses` adds the names that lists
    would show.
    """
    roles = roles_of_requests(with_listed_accesses=with_listed_accesses)
    return _filter_by_role(engine, accesses, roles)


def _filter_by_role(engine: SqlEngine, accesses: Relation, roles: tuple[str, ...]) -> Relation:
    listed = ", ".join(f"'{role}'" for role in roles)
    return engine.sql(f"select * from {{accesses}} where role in ({listed})", accesses=accesses)


def roles_of_requests(*, with_listed_accesses: bool) -> tuple[str, ...]:
    """Return the roles of the accesses that `accesses_of_requests` returns."""
    needed = (REQUIRED, EITHER, REFUSED, PASSED, UNATTRIBUTED)
    return (*needed, *LISTS) if with_listed_accesses else needed


def observed_settings(engine: SqlEngine, accesses: Relation) -> tuple[tuple[str, ...], bool]:
    """Return the observed super users, and whether resources without ACLs were open to everyone."""
    rows = engine.rows(
        engine.sql(
            "select distinct principal, rule from {accesses}"
            " where rule in ('SuperUser', 'DefaultAllow')",
            accesses=accesses,
        )
    )
    users = {row["principal"] for row in rows if row["rule"] == "SuperUser"}
    return tuple(sorted(users)), any(row["rule"] == "DefaultAllow" for row in rows)
