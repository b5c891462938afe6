"""The observed accesses, with which all jobs about ACLs work, and what is left out of them."""

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.request_accesses import (
    accesses_of_requests,
    decidable_accesses,
    observed_settings,
    roles_of_requests,
)
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, LISTED, LISTS, UNATTRIBUTED, UNLOGGED
from kafka_shim.pipeline.tables import ACCESSES, CLIENTS, OBSERVED
from kafka_shim.trace_format.entries import AUDIT

_MEASURES = ("requests", "first_seen", "last_seen", "example")


class Observation(msgspec.Struct):
    """The accesses that requests needed, and the settings of the authorizer that decided them."""

    engine: DuckDbEngine
    request_accesses: str
    totals_and_settings: dict[str, Any]
    all_accesses: str
    """All accesses, which the engine keeps."""

    def with_undecided_accesses(self) -> "Observation":
        """Return the observation with the accesses that decide what a list shows, and with those
        whose decision the log does not show.
        """
        considered = {LEFT_OUT[LISTED], LEFT_OUT[UNLOGGED]}
        left_out = self.totals_and_settings["left_out"]
        added = [total["accesses"] for total in left_out if total["reason"] in considered]
        head = self.totals_and_settings | {
            "left_out": [total for total in left_out if total["reason"] not in considered],
            "considered": self.totals_and_settings["considered"] + sum(added),
            "left_out_lists": 0,
        }
        accesses = decidable_accesses(self.engine, self.all_accesses)
        return Observation(self.engine, accesses, head, self.all_accesses)

    def read_acl_set_with_observed_settings(self, path: str) -> AclSet:
        """Return a file's ACLs with the observed settings of the authorizer."""
        return self.acl_set_with_observed_settings(read_distinct_acls_from_file(path))

    def acl_set_with_observed_settings(self, acls: Iterable[Acl]) -> AclSet:
        """Return these ACLs with the observed settings of the authorizer."""
        head = self.totals_and_settings
        users, everyone = head["super_users"], head["allow_everyone_if_no_acl_found"]
        return AclSet(tuple(acls), tuple(users), everyone, head["release"])


def sum_equal_accesses(engine: SqlEngine, counts: Relation) -> Relation:
    """Sum rows of `observed` that are equal but for their numbers and times.

    Spark sorts them, since it cannot aggregate texts such as the example in a hash table. By a
    hash first, it need not compare all the keys, most of which are texts. Repartitioned by that
    hash first, they are sorted once, not also in each task that reads them, where equal ones are
    rare.
    """
    names = [name for name in OBSERVED.names if name not in _MEASURES]
    keys = ", ".join(names)
    return engine.sql(
        f"""
        select {keys}, cast(sum(requests) as bigint) as requests, min(first_seen) as first_seen,
            max(last_seen) as last_seen, min_by(example, first_seen) as example
        from (select /*+ repartition(key_hash) */ * from (
            select *, xxhash64({engine.struct_expression(*names)}) as key_hash from {{counts}}) c
        ) c
        group by key_hash, {keys}
        """,
        counts=counts,
    )


def observed_rows_of_accesses(engine: SqlEngine, accesses: Relation) -> Relation:
    """Turn rows of `accesses` into rows of `observed`, each for one request.

    Accesses with an unknown decision are left out, as by the reader of traces.
    """
    kept = ", ".join(name for name in OBSERVED.names if name in ACCESSES.names)
    return engine.sql(
        f"""
        select {kept}, cast(1 as bigint) as requests, time as first_seen, time as last_seen,
            concat(writer, '/', connection, '#', sequence) as example
        from {{accesses}} where allowed is not null
        """,
        accesses=accesses,
    )


def clients_of_requests(engine: SqlEngine, requests: Relation, *further_keys: str) -> Relation:
    """Return the table `clients` from rows of `requests`; the keys are further columns."""
    names = [name for name in CLIENTS.names if name not in _MEASURES]
    keys = ", ".join([*names, *further_keys])
    return engine.sql(
        f"select {keys}, count(*) as requests, min(time) as first_seen, max(time) as last_seen"
        f" from {{requests}} group by {keys}",
        requests=requests,
    )


def make_observation(
    engine: DuckDbEngine,
    all_accesses: str,
    undecided: Iterable[tuple[str, str, int]],
    args: argparse.Namespace,
    release: str,
) -> Observation:
    """Return the observation of distinct accesses, by the options of a job.

    `undecided` are principal, reason and number of accesses without a known decision.
    """
    users, everyone = observed_settings(engine, all_accesses)
    head = _access_totals(engine, all_accesses)
    head["super_users"] = list(users if args.super_user is None else args.super_user)
    head["allow_everyone_if_no_acl_found"] = everyone
    head["release"] = release
    keys = ("source", "role", "principal", "allowed")
    columns = ", ".join(keys)
    counts = engine.rows(
        engine.sql(
            f"select {columns}, cast(sum(requests) as bigint) as requests from {{accesses}}"
            f" group by {columns}",
            accesses=all_accesses,
        )
    )
    rows = [(*(row[key] for key in keys), row["requests"]) for row in counts]
    head |= _source_totals(rows, undecided, with_listed_accesses=args.lists)
    accesses = accesses_of_requests(engine, all_accesses, with_listed_accesses=args.lists)
    return Observation(engine, accesses, head, all_accesses)


def _source_totals(
    rows: list[tuple[Any, ...]],
    undecided: Iterable[tuple[str, str, int]],
    *,
    with_listed_accesses: bool,
) -> dict[str, Any]:
    """Return the sources, and how many accesses are considered or left out, whose and why.

    `rows` are source, role, principal, decision and number of requests.
    """
    roles = roles_of_requests(with_listed_accesses=with_listed_accesses)
    left_out = [
        (principal, LEFT_OUT[role], requests)
        for _, role, principal, _, requests in rows
        if role not in roles
    ]
    return {
        "sources": sorted({source for source, *_ in rows}),
        "log_has_denials_only": {row[3] for row in rows if row[0] == AUDIT} == {False},
        "considered": sum(row[-1] for row in rows if row[1] in roles),
        "left_out": _sum_accesses_by_reason([*left_out, *undecided]),
        "left_out_lists": sum(row[-1] for row in rows if row[1] in LISTS and LISTED not in roles),
        "unattributed": _sum_accesses_by_reason(
            [(row[2], UNATTRIBUTED, row[-1]) for row in rows if row[1] == UNATTRIBUTED]
        ),
    }


def _sum_accesses_by_reason(rows: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """Sum accesses (principal, reason, number) by reason, with the principals of each."""
    totals: dict[str, dict[str, int]] = {}
    for principal, reason, number in rows:
        principals = totals.setdefault(reason, {})
        principals[principal] = principals.get(principal, 0) + number
    return [
        {"reason": reason, "accesses": sum(principals.values()), "principals": principals}
        for reason, principals in sorted(totals.items())
    ]


def _access_totals(engine: DuckDbEngine, accesses: str) -> dict[str, Any]:
    """Return the number of accesses, and the first and last time."""
    (total,) = engine.rows(
        engine.sql(
            "select cast(sum(requests) as bigint) as accesses, count(*) as number_of_rows,"
            " count(distinct principal) as principals, min(first_seen) as first,"
            " max(last_seen) as last from {accesses}",
            accesses=accesses,
        )
    )
    return {
        "accesses": total["accesses"] or 0,
        "distinct": total["number_of_rows"],
        "observed_principals": total["principals"],
        "first_seen": utc_text(total["first"]),
        "last_seen": utc_text(total["last"]),
    }


def utc_text(time: datetime | None) -> str | None:
    """Return a time as ISO text in UTC; Spark returns local times."""
    return None if time is None else time.astimezone(UTC).isoformat()
