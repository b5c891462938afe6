"""What a job reads: traces, or one lake, limited to the times and APIs that were asked for."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql import functions as f

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.acl_set import AclSet, read_acls
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.jobs.clients import clients_of
from kafka_shim.pipeline.jobs.ingest import lake_table
from kafka_shim.pipeline.report.output import plain
from kafka_shim.pipeline.rows.batches import plan
from kafka_shim.pipeline.spark.lake import Lake
from kafka_shim.pipeline.spark.observed import counted, merged, needed, observed, setting
from kafka_shim.pipeline.spark.sightings import seen
from kafka_shim.pipeline.spark.source import selection_of, trace_table
from kafka_shim.pipeline.spark.topic_ids import id_rows, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Observation(msgspec.Struct):
    """The accesses that requests needed, and the setting in which they were decided."""

    accesses: "DataFrame"
    head: dict[str, Any]
    whole: "DataFrame"
    """All accesses, which Spark keeps."""

    def read_acl_set(self, path: str) -> AclSet:
        """The ACLs of a file, deciding in the setting that was observed."""
        return self.acl_set(read_acls(path))

    def acl_set(self, acls: list[Acl]) -> AclSet:
        """These ACLs, deciding in the setting that was observed."""
        head = self.head
        users, everyone = head["super_users"], head["allow_everyone_if_no_acl_found"]
        return AclSet(tuple(acls), tuple(users), everyone, head["release"])


class Source(msgspec.Struct):
    """Traces, or one lake, with the options for reading them."""

    spark: "SparkSession"
    paths: list[str]
    options: dict[str, str]
    _observation: Observation | None = None

    def lake(self) -> Path | None:
        return lake_of(self.paths)

    def table(self, name: str, *columns: str) -> "DataFrame":
        """One of the tables; of a trace, only the columns that are named are built."""
        lake = self.lake()
        if lake is None:
            options = self._named() if name == "accesses" else self.options
            return trace_table(self.spark, name, self.paths, options, columns)
        if name == "clients":
            return clients_of(self.table("requests"))
        rows = self._limited(lake_table(self.spark, name, lake))
        return rows.select(*columns) if columns else rows

    def added_needs(self, present: str, target: str) -> "DataFrame | None":
        """What requests need in the target alone; None of a lake, which has no requests."""
        if self.lake() is not None:
            return None
        options = self._named() | {"release": target, "present": present}
        return trace_table(self.spark, "added_needs", self.paths, options)

    def observed(self) -> "DataFrame":
        """The distinct accesses."""
        if self.lake() is not None:
            return merged(counted(self.table("accesses")))
        return observed(self.spark, self.paths, self._named())

    def _named(self) -> dict[str, str]:
        """The options with the names of topic ids and what existed, where they matter."""
        splits = plan(self.paths)
        return self.options | named(id_rows(self.spark, splits)) | seen(self.spark, splits)

    def _limited(self, rows: "DataFrame") -> "DataFrame":
        """A lake's rows within the times, of the APIs; damage has neither."""
        selection = selection_of(self.options)
        if "time" not in rows.columns:
            return rows
        for limit, is_kept in ((selection.since_us, True), (selection.until_us, False)):
            if limit is not None:
                after = f.col("time") >= f.timestamp_micros(f.lit(limit))
                rows = rows.where(after if is_kept else ~after)
        return rows.where(f.col("api_key").isin(*selection.apis)) if selection.apis else rows

    def damage_head(self) -> dict[str, Any]:
        """How many places could not be read, and their bytes; tails that may grow are none."""
        found = self.table("damage").where("not is_tail").collect()
        size = sum(row["length"] for row in found)
        return {"damaged_blocks": len(found), "damaged_bytes": size}

    def observation(self, args: argparse.Namespace) -> Observation:
        """What was observed; read once, however many jobs of a report ask."""
        if self._observation is None:
            self._observation = self._observed(args)
        return self._observation

    def _observed(self, args: argparse.Namespace) -> Observation:
        whole = self.observed().persist()
        users, everyone = setting(whole)
        head = _seen_head(whole) | self.damage_head()
        head["super_users"] = list(users if args.super_user is None else args.super_user)
        head["allow_everyone_if_no_acl_found"] = everyone
        head["release"] = self.options["release"]
        return Observation(needed(whole, with_lists=args.lists), head, whole)

    def forget(self) -> None:
        """Let go of what was observed."""
        if self._observation is not None:
            self._observation.whole.unpersist()
            self._observation = None


def _seen_head(accesses: "DataFrame") -> dict[str, Any]:
    """How many accesses were looked at, from when to when."""
    (total,) = accesses.selectExpr(
        "sum(requests) accesses",
        "count(*) distinct",
        "min(first_seen) first",
        "max(last_seen) last",
    ).collect()
    return {
        "accesses": total["accesses"] or 0,
        "distinct": total["distinct"],
        "first_seen": total["first"] and plain(total["first"]),
        "last_seen": total["last"] and plain(total["last"]),
    }


def lake_of(paths: list[str]) -> Path | None:
    """The lake, if that is what was named; a lake is not mixed with anything else."""
    lakes = [Path(path) for path in paths if Lake.is_one(Path(path))]
    if lakes and len(paths) > 1:
        raise PipelineError(f"`{lakes[0]}` is a lake, which cannot be combined with other inputs")
    return lakes[0] if lakes else None
