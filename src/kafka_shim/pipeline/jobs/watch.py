"""Report denials, or those that another ACL set would cause, while they happen, each once."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.jobs.denials import denials
from kafka_shim.pipeline.jobs.what_breaks import DENIED, what_breaks
from kafka_shim.pipeline.report.output import cell, json_ready
from kafka_shim.pipeline.spark.observed import needed, setting
from kafka_shim.pipeline.spark.run_stream import run_stream
from kafka_shim.pipeline.spark.source import FORMAT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEYS = ("principal", "operation", "resource_type", "resource_name")
_SEEN_MAX = 1_000_000


class Watcher:
    """Finds new denials in each micro-batch; keeps reported denials, and super users."""

    def __init__(
        self, acls: list[Acl] | None, release: str, super_users: list[str] | None, *, lists: bool
    ) -> None:
        self._acls = acls
        self._release = release
        self._users = set(super_users or ())
        self._knows_users = super_users is not None
        self._everyone = False
        self._lists = lists
        self._told: set[tuple[str, ...]] = set()

    def news(self, counts: "DataFrame") -> list[dict[str, Any]]:
        """Return the rows of `denials` or `what_breaks` that were not reported before."""
        accesses = counts.persist()
        try:
            users, everyone = setting(accesses)
            self._users |= set() if self._knows_users else set(users)
            self._everyone |= everyone
            found = self._found(needed(accesses, with_lists=self._lists)).collect()
        finally:
            accesses.unpersist()
        rows = [row.asDict() for row in found]
        fresh = [row for row in rows if _key(row) not in self._told]
        if len(self._told) > _SEEN_MAX:
            self._told.clear()
        self._told.update(map(_key, fresh))
        return fresh

    def _found(self, accesses: "DataFrame") -> "DataFrame":
        if self._acls is None:
            return denials(accesses)
        users = tuple(sorted(self._users))
        candidate = AclSet(tuple(self._acls), users, self._everyone, self._release)
        return what_breaks(accesses, candidate).where(f.col("change") == DENIED)


def watch(
    spark: "SparkSession",
    paths: list[str],
    options: dict[str, str],
    watcher: Watcher,
    tell: Callable[[list[dict[str, Any]]], None],
    every: str | None,
) -> None:
    """Report new denials in traces: until interrupted, or without
    `every` only in the present data.
    """
    reader = spark.readStream.format(FORMAT).option("table", "observed").options(**options)
    counts = reader.option("paths", json.dumps(paths)).load()

    def take(batch: "DataFrame", _: int) -> None:
        rows = watcher.news(batch)
        if rows:
            tell(rows)

    run_stream(counts, take, every=every)


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _KEYS)


def watch_line(row: dict[str, Any], *, as_json: bool) -> str:
    """Return a finding as one line of text or JSON."""
    if as_json:
        return json.dumps(json_ready([row])[0], ensure_ascii=False)
    what = f"{row['principal']} {row['operation']} {row['resource_type']}:{row['resource_name']}"
    is_change = "change" in row
    why = row["would_be_rule"] if is_change else row["rule"]
    head = row["change"] if is_change else "denied"
    return f"{cell(row['first_seen'])} {head}: {what} from {', '.join(row['hosts'])} ({why})"
