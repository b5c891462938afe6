"""Read traces or a lake with an engine, limited to the given times and APIs."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kafka_shim.pipeline.acls.acl_tables import principal_table
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.input_verdict import count_segment_problems
from kafka_shim.pipeline.observation import (
    Observation,
    clients_of_requests,
    make_observation,
    observed_rows_of_accesses,
    sum_equal_accesses,
    utc_text,
)
from kafka_shim.pipeline.request_accesses import accesses_of_requests
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, UNKNOWN_DECISION
from kafka_shim.pipeline.rows.batches import plan_splits
from kafka_shim.pipeline.rows.trace_facts import may_have_derived_accesses
from kafka_shim.pipeline.selection_options import selection_from_options
from kafka_shim.pipeline.spark.lake import Lake
from kafka_shim.pipeline.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class TraceTables(Protocol):
    """The tables of traces or of a lake, as relations of an engine."""

    def table(self, name: str, *columns: str) -> Relation: ...


class TraceInput:
    """Traces or a lake, with the options for reading.

    `reader` reads and counts them. `engine` judges the distinct accesses, and what else is handed
    over to it.
    """

    def __init__(
        self,
        reader: SqlEngine,
        tables_of: Callable[[list[str], dict[str, str]], TraceTables],
        paths: list[str],
        options: dict[str, str],
        engine: DuckDbEngine,
    ) -> None:
        self.reader = reader
        self.engine = engine
        self.paths = paths
        self.options = options
        self._tables_of = tables_of
        self._tables = tables_of(paths, options)
        self._observation: Observation | None = None
        self._request_totals: dict[str, Any] | None = None

    @property
    def spark(self) -> "SparkSession":
        """Return the session; for jobs that run on Spark only."""
        from kafka_shim.pipeline.engines.spark_engine import SparkEngine

        assert isinstance(self.reader, SparkEngine)
        return self.reader.session

    def of_paths(self, paths: list[str]) -> "TraceInput":
        """Return other traces or another lake, with the same engine and options."""
        return TraceInput(self.reader, self._tables_of, paths, self.options, self.engine)

    def lake_folder(self) -> Path | None:
        return lake_at_paths(self.paths)

    def table(self, name: str, *columns: str) -> Relation:
        """Return a table; for a trace, only the named columns are computed."""
        if self.lake_folder() is None:
            return self._tables.table(name, *columns)
        if name == "clients":
            return clients_of_requests(self.reader, self.table("requests"))
        return self._filter_lake_rows(name, columns)

    def added_needs_of_trace(self, present_release: str, target_release: str) -> Relation:
        """Return what requests need only in the target release; a lake has no requests."""
        options = self.options | {"release": target_release, "present": present_release}
        return self._tables_of(self.paths, options).table("added_needs")

    def distinct_accesses(self) -> Relation:
        """Return the distinct accesses."""
        if self.lake_folder() is None:
            counts = self._tables.table("observed")
        else:
            counts = observed_rows_of_accesses(self.reader, self.table("accesses"))
        return sum_equal_accesses(self.reader, counts)

    def accesses_by_request(self, *columns: str) -> Relation:
        """Return columns of the decided accesses of each request; `requests` counts equal requests,
        of which the first has a row for each access.
        """
        if self.lake_folder() is None:
            return self._tables.table("request_accesses", *columns)
        names = ", ".join(f"{'1 as ' if name == 'requests' else ''}{name}" for name in columns)
        return self.reader.sql(
            f"select {names} from {{accesses}} where allowed is not null",
            accesses=self.table("accesses"),
        )

    def accesses_of_requests(self) -> Relation:
        """Return the distinct accesses that requests needed, which the jobs about ACLs take."""
        return accesses_of_requests(self.engine, self.to_deciding_engine(self.distinct_accesses()))

    def damage_totals(self) -> dict[str, Any]:
        """Return the number of unreadable places and bytes; tails still
        being written do not count.
        """
        rows = self.reader.rows(
            self.reader.sql("select length from {d} where not is_tail", d=self.table("damage"))
        )
        size = sum(row["length"] for row in rows)
        return {"damaged_blocks": len(rows), "damaged_bytes": size}

    def request_totals(self) -> dict[str, Any]:
        """Return the number of requests, principals and brokers, and the first and last time."""
        if self._request_totals is None:
            (row,) = self.reader.rows(
                self.reader.sql(
                    "select count(*) as requests, count(distinct principal) as principals,"
                    " count(distinct node_id) as brokers, min(time) as first_seen,"
                    " max(time) as last_seen from {requests}",
                    requests=self.table("requests", "time", "node_id", "principal"),
                )
            )
            self._request_totals = {
                name: utc_text(value) if name.endswith("seen") else value
                for name, value in row.items()
            }
        return self._request_totals

    def cached_observation(self, args: argparse.Namespace) -> Observation:
        """Return what was observed; it is read once for all jobs of a report."""
        if self._observation is None:
            engine = self.engine
            accesses = self.to_deciding_engine(self.distinct_accesses())
            undecided = self._undecided_counts()
            self._observation = make_observation(
                engine, accesses, undecided, args, self.options["release"]
            )
            head = self._observation.totals_and_settings
            head |= self.damage_totals()
            looked_at = self.request_totals()
            head |= {name: looked_at[name] for name in ("requests", "brokers")}
            is_lake = self.lake_folder() is not None
            head |= count_segment_problems([] if is_lake else self.paths)
        return self._observation

    def to_deciding_engine(self, relation: Relation) -> str:
        """Return a relation of the reading engine as a table of the deciding engine."""
        if self.engine is self.reader:
            return self.engine.materialize(relation)
        return self.engine.create_batches_table(self.reader.batches(relation))

    def release_observation(self) -> None:
        """Release the cached observation, and what else was handed over."""
        self._observation = None
        for engine in dict.fromkeys((self.engine, self.reader)):
            engine.release()

    def _filter_lake_rows(self, name: str, columns: tuple[str, ...]) -> Relation:
        """Return a lake's rows within the times and for the APIs; damage has neither."""
        selection = selection_from_options(self.options)
        conditions = []
        if "time" in TABLES[name].names:
            for limit, comparison in ((selection.since_us, ">="), (selection.until_us, "<")):
                if limit is not None:
                    conditions.append(f"time {comparison} timestamp_micros({limit})")
            if selection.apis:
                conditions.append(f"api_key in ({', '.join(map(str, sorted(selection.apis)))})")
            if selection.principals:
                conditions.append("principal in (select principal from {principals})")
        rows = self._tables.table(name)
        if not conditions and not columns:
            return rows
        return self.reader.sql(
            f"select {', '.join(columns) or '*'} from {{rows}}"
            f" where {' and '.join(conditions) or 'true'}",
            rows=rows,
            principals=self.reader.relation_from_arrow(principal_table(selection.principals)),
        )

    def _undecided_counts(self) -> list[tuple[str, str, int]]:
        """Return principal, reason and number of derived accesses without a known decision."""
        if self.lake_folder() is None and not any(
            may_have_derived_accesses(split.path) for split in plan_splits(self.paths)
        ):
            return []
        accesses = self.table("accesses", "time", "api_key", "principal", "role", "allowed")
        counts = self.reader.sql(
            "select principal, role, count(*) as number from {accesses}"
            " where allowed is null group by principal, role",
            accesses=accesses,
        )
        return [
            (row["principal"], LEFT_OUT.get(row["role"], UNKNOWN_DECISION), row["number"])
            for row in self.reader.rows(counts)
        ]


def spark_trace_input(
    spark: "SparkSession", paths: list[str], options: dict[str, str] | None = None
) -> TraceInput:
    """Return traces or a lake that Spark reads."""
    from kafka_shim.pipeline.engines.spark_engine import SparkEngine
    from kafka_shim.pipeline.spark.trace_tables import SparkLakeTables, SparkTraceTables

    def tables_of(paths: list[str], options: dict[str, str]) -> TraceTables:
        lake = lake_at_paths(paths)
        if lake is None:
            return SparkTraceTables(spark, paths, options)
        return SparkLakeTables(spark, lake)

    engine = SparkEngine(spark)
    return TraceInput(engine, tables_of, paths, options or {}, DuckDbEngine(engine.write_parquet))


def local_trace_input(paths: list[str], options: dict[str, str] | None = None) -> TraceInput:
    """Return traces or a lake that DuckDB reads in this process."""
    from kafka_shim.pipeline.local import LocalLakeTables, LocalTraceTables

    engine = DuckDbEngine()

    def tables_of(paths: list[str], options: dict[str, str]) -> TraceTables:
        lake = lake_at_paths(paths)
        if lake is None:
            return LocalTraceTables(engine, paths, options)
        return LocalLakeTables(engine, lake)

    return TraceInput(engine, tables_of, paths, options or {}, engine)


def lake_at_paths(paths: list[str]) -> Path | None:
    """Return the lake if the path is one.

    Raise PipelineError for a lake together with other paths.
    """
    lakes = [Path(path) for path in paths if Lake.is_lake(Path(path))]
    if lakes and len(paths) > 1:
        raise PipelineError(f"`{lakes[0]}` is a lake, which cannot be combined with other inputs")
    return lakes[0] if lakes else None
