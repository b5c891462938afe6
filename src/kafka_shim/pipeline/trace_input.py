"""Read traces or a lake, limited to the given times and APIs."""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql import functions as f

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, LISTED, UNATTRIBUTED, UNKNOWN_DECISION
from kafka_shim.pipeline.rows.batches import plan_splits
from kafka_shim.pipeline.rows.trace_facts import may_have_derived_accesses
from kafka_shim.pipeline.spark.data_source import selection_from_options, trace_table
from kafka_shim.pipeline.spark.lake import Lake
from kafka_shim.pipeline.spark.lake_tables import clients_table_rows, lake_table
from kafka_shim.pipeline.spark.observed_accesses import (
    accesses_of_requests,
    decided_accesses_as_observed_rows,
    distinct_accesses,
    observed_super_users_and_allow_everyone,
    roles_of_requests,
    sum_equal_accesses,
)
from kafka_shim.pipeline.spark.trace_facts_options import (
    existence_option_if_derived,
    topic_id_table_if_derived,
    topic_names_option,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Observation(msgspec.Struct):
    """The accesses that requests needed, and the settings of the authorizer that decided them."""

    request_accesses: "DataFrame"
    totals_and_settings: dict[str, Any]
    all_accesses: "DataFrame"
    """All accesses, which Spark keeps."""

    def with_listed_accesses(self) -> "Observation":
        """Return the observation with the accesses that decide what a list shows."""
        head = self.totals_and_settings | {
            "left_out": [
                total
                for total in self.totals_and_settings["left_out"]
                if total["reason"] != LEFT_OUT[LISTED]
            ],
            "considered": self.totals_and_settings["considered"]
            + self.totals_and_settings["left_out_lists"],
            "left_out_lists": 0,
        }
        accesses = accesses_of_requests(self.all_accesses, with_listed_accesses=True)
        return Observation(accesses, head, self.all_accesses)

    def read_acl_set_with_observed_settings(self, path: str) -> AclSet:
        """Return a file's ACLs with the observed settings of the authorizer."""
        return self.acl_set_with_observed_settings(read_distinct_acls_from_file(path))

    def acl_set_with_observed_settings(self, acls: list[Acl]) -> AclSet:
        """Return these ACLs with the observed settings of the authorizer."""
        head = self.totals_and_settings
        users, everyone = head["super_users"], head["allow_everyone_if_no_acl_found"]
        return AclSet(tuple(acls), tuple(users), everyone, head["release"])


class TraceOrLake(msgspec.Struct):
    """Traces or a lake, with the options for reading."""

    spark: "SparkSession"
    paths: list[str]
    options: dict[str, str]
    _observation: Observation | None = None

    def lake_folder(self) -> Path | None:
        return lake_at_paths(self.paths)

    def table(self, name: str, *columns: str) -> "DataFrame":
        """Return a table; for a trace, only the named columns are computed."""
        lake = self.lake_folder()
        if lake is None:
            options = (
                self._options_with_topic_names_and_existence()
                if name == "accesses"
                else self.options
            )
            return trace_table(self.spark, name, self.paths, options, columns)
        if name == "clients":
            return clients_table_rows(self.table("requests"))
        rows = self._within_selection(lake_table(self.spark, name, lake))
        return rows.select(*columns) if columns else rows

    def added_needs_of_trace(self, present_release: str, target_release: str) -> "DataFrame":
        """Return what requests need only in the target release; a lake has no requests."""
        options = self._options_with_topic_names_and_existence() | {
            "release": target_release,
            "present": present_release,
        }
        return trace_table(self.spark, "added_needs", self.paths, options)

    def distinct_accesses(self) -> "DataFrame":
        """Return the distinct accesses."""
        if self.lake_folder() is not None:
            return sum_equal_accesses(decided_accesses_as_observed_rows(self.table("accesses")))
        return distinct_accesses(
            self.spark, self.paths, self._options_with_topic_names_and_existence()
        )

    def _options_with_topic_names_and_existence(self) -> dict[str, str]:
        """Return the options, with names of topic ids and what existed if accesses are derived."""
        splits = plan_splits(self.paths)
        return (
            self.options
            | topic_names_option(topic_id_table_if_derived(self.spark, splits))
            | existence_option_if_derived(self.spark, splits)
        )

    def _within_selection(self, rows: "DataFrame") -> "DataFrame":
        """Return a lake's rows within the times and for the APIs; damage has neither."""
        selection = selection_from_options(self.options)
        if "time" not in rows.columns:
            return rows
        for limit, is_kept in ((selection.since_us, True), (selection.until_us, False)):
            if limit is not None:
                after = f.col("time") >= f.timestamp_micros(f.lit(limit))
                rows = rows.where(after if is_kept else ~after)
        return rows.where(f.col("api_key").isin(*selection.apis)) if selection.apis else rows

    def damage_totals_except_unfinished_tails(self) -> dict[str, Any]:
        """Return the number of unreadable places and bytes; tails still
        being written do not count.
        """
        found = self.table("damage").where("not is_tail").collect()
        size = sum(row["length"] for row in found)
        return {"damaged_blocks": len(found), "damaged_bytes": size}

    def cached_observation(self, args: argparse.Namespace) -> Observation:
        """Return what was observed; it is read once for all jobs of a report."""
        if self._observation is None:
            self._observation = self._read_and_persist_observation(args)
        return self._observation

    def _read_and_persist_observation(self, args: argparse.Namespace) -> Observation:
        all_accesses = self.distinct_accesses().persist()
        users, everyone = observed_super_users_and_allow_everyone(all_accesses)
        head = _access_totals(all_accesses) | self.damage_totals_except_unfinished_tails()
        head["super_users"] = list(users if args.super_user is None else args.super_user)
        head["allow_everyone_if_no_acl_found"] = everyone
        head["release"] = self.options["release"]
        head |= self._considered_and_left_out_totals(all_accesses, with_listed_accesses=args.lists)
        return Observation(
            accesses_of_requests(all_accesses, with_listed_accesses=args.lists), head, all_accesses
        )

    def _considered_and_left_out_totals(
        self, accesses: "DataFrame", *, with_listed_accesses: bool
    ) -> dict[str, Any]:
        """Return the sources, and how many accesses are considered or left out, whose and why."""
        keys = ("source", "role", "principal")
        rows = [
            (*key, requests)
            for *key, requests in accesses.groupBy(*keys).agg(f.sum("requests")).collect()
        ]
        roles = roles_of_requests(with_listed_accesses=with_listed_accesses)
        left_out = [
            (principal, LEFT_OUT[role], requests)
            for _, role, principal, requests in rows
            if role not in roles
        ]
        left_out += self._count_undecided_by_principal_and_reason()
        return {
            "sources": sorted({source for source, *_ in rows}),
            "considered": sum(row[-1] for row in rows if row[1] in roles),
            "left_out": _sum_by_reason(left_out),
            "left_out_lists": sum(
                row[-1] for row in rows if row[1] == LISTED and LISTED not in roles
            ),
            "unattributed": _sum_by_reason(
                [(row[2], UNATTRIBUTED, row[3]) for row in rows if row[1] == UNATTRIBUTED]
            ),
        }

    def _count_undecided_by_principal_and_reason(self) -> list[tuple[str, str, int]]:
        """Return principal, reason and number of derived accesses without a known decision."""
        is_lake = self.lake_folder() is not None
        if not (
            is_lake
            or any(may_have_derived_accesses(split.path) for split in plan_splits(self.paths))
        ):
            return []
        accesses = self.table("accesses", "time", "api_key", "principal", "role", "allowed")
        counts = accesses.where("allowed is null").groupBy("principal", "role").count()
        return [
            (row["principal"], LEFT_OUT.get(row["role"], UNKNOWN_DECISION), row["count"])
            for row in counts.collect()
        ]

    def unpersist_observation(self) -> None:
        """Release the cached observation."""
        if self._observation is not None:
            self._observation.all_accesses.unpersist()
            self._observation = None


def _sum_by_reason(rows: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """Sum accesses (principal, reason, number) by reason, with the principals of each."""
    totals: dict[str, dict[str, int]] = {}
    for principal, reason, number in rows:
        principals = totals.setdefault(reason, {})
        principals[principal] = principals.get(principal, 0) + number
    return [
        {"reason": reason, "accesses": sum(principals.values()), "principals": principals}
        for reason, principals in sorted(totals.items())
    ]


def _access_totals(accesses: "DataFrame") -> dict[str, Any]:
    """Return the number of accesses, and the first and last time."""
    (total,) = accesses.selectExpr(
        "sum(requests) accesses",
        "count(*) distinct",
        "min(first_seen) first",
        "max(last_seen) last",
    ).collect()
    return {
        "accesses": total["accesses"] or 0,
        "distinct": total["distinct"],
        "first_seen": _utc_text(total["first"]),
        "last_seen": _utc_text(total["last"]),
    }


def _utc_text(time: datetime | None) -> str | None:
    """Return a time as ISO text in UTC; Spark returns local times."""
    return None if time is None else time.astimezone(UTC).isoformat()


def lake_at_paths(paths: list[str]) -> Path | None:
    """Return the lake if the path is one.

    Raise PipelineError for a lake together with other paths.
    """
    lakes = [Path(path) for path in paths if Lake.is_lake(Path(path))]
    if lakes and len(paths) > 1:
        raise PipelineError(f"`{lakes[0]}` is a lake, which cannot be combined with other inputs")
    return lakes[0] if lakes else None
