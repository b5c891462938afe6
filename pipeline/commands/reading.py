"""What a job reads: traces, or one lake, limited to the times and APIs that were asked for."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql import functions as f

from pipeline.errors import PipelineError
from pipeline.jobs.clients import clients_of
from pipeline.jobs.ingest import lake_table
from pipeline.rows.batches import plan
from pipeline.spark.lake import Lake
from pipeline.spark.observed import counted, merged, observed
from pipeline.spark.source import selection_of, trace_table
from pipeline.spark.topic_ids import id_rows, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Source(msgspec.Struct):
    """Traces, or one lake, with the options for reading them."""

    spark: "SparkSession"
    paths: list[str]
    options: dict[str, str]

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

    def observed(self) -> "DataFrame":
        """The distinct accesses."""
        if self.lake() is not None:
            return merged(counted(self.table("accesses")))
        return observed(self.spark, self.paths, self._named())

    def _named(self) -> dict[str, str]:
        """The options with the names of topic ids, where they matter."""
        return self.options | named(id_rows(self.spark, plan(self.paths)))

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

    def damage(self) -> tuple[int, int]:
        """How many places could not be read, and their bytes; tails that may grow are none."""
        found = self.table("damage").where("not is_tail").collect()
        return len(found), sum(row["length"] for row in found)


def lake_of(paths: list[str]) -> Path | None:
    """The lake, if that is what was named; a lake is not mixed with anything else."""
    lakes = [Path(path) for path in paths if Lake.is_one(Path(path))]
    if lakes and len(paths) > 1:
        raise PipelineError(f"`{lakes[0]}` is a lake, and has to be the only thing to look at")
    return lakes[0] if lakes else None
