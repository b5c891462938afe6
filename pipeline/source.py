"""`spark.read.format("kafka_trace")`: the tables of a trace as DataFrames.

Options: `table` (accesses if not given), `paths` or the path of `load`, `since` and `until` (ISO
times), `apis` (Kafka's names, separated by commas), `release`, `splitBytes`, or `splits`,
a JSON list of [path, start, end]. Columns are pruned by
`schema(...)`. Filters are not pushed down on purpose: Spark then reuses a filtered reader for the
same DataFrame without the filter, and gives wrong results.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pipeline.batches import SPLIT_BYTES, Split, batches, plan
from pipeline.errors import PipelineError
from pipeline.rows import Selection
from pipeline.tables import TABLES, ddl, pruned
from protocol.api_versions import RELEASES
from protocol.enums import ApiKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "kafka_trace"


class TraceSplit(InputPartition):
    """One split, as Spark sends it to a worker."""

    def __init__(self, split: Split) -> None:
        super().__init__(None)
        self.split = split


class KafkaTraceSource(DataSource):
    """Tables of traces; see the module's text for the options."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return ddl(TABLES[self._table()])

    def reader(self, schema: StructType) -> DataSourceReader:
        splits = _splits(self.options)
        return TraceReader(self._table(), splits, selection_of(self.options), schema.names)

    def _table(self) -> str:
        table = self.options.get("table", "accesses")
        if table not in TABLES:
            raise PipelineError(f"there is no table `{table}`; there are {', '.join(TABLES)}")
        return table


class TraceReader(DataSourceReader):
    """Reads one table, split by split, in the workers."""

    def __init__(
        self,
        table: str,
        splits: list[Split],
        selection: Selection,
        columns: list[str],
    ) -> None:
        unknown = [name for name in columns if name not in TABLES[table].names]
        if unknown:
            raise PipelineError(f"the table `{table}` has no column `{unknown[0]}`")
        self._table = table
        self._splits = splits
        self._selection = selection
        self._columns = columns

    def partitions(self) -> list[InputPartition]:
        return [TraceSplit(split) for split in self._splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, TraceSplit):  # Spark makes up a partition where there is none
            yield from batches(self._table, partition.split, self._selection, self._columns)


def trace_table(
    spark: "SparkSession",
    table: str,
    paths: list[str],
    options: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
) -> "DataFrame":
    """One table of traces, or some of its columns.

    A new DataFrame each time, since Spark keeps the plan of an old one.
    """
    reader = spark.read.format(FORMAT).option("table", table).option("paths", json.dumps(paths))
    if columns:
        reader = reader.schema(ddl(pruned(TABLES[table], list(columns))))
    return reader.options(**(options or {})).load()


def selection_of(options: Mapping[str, str]) -> Selection:
    """The selection that options ask for; PipelineError for one that cannot be read."""
    apis = [name.strip() for name in options.get("apis", "").split(",") if name.strip()]
    known = {key.wire_name: int(key) for key in ApiKey}
    for name in apis:
        if name not in known:
            raise PipelineError(f"there is no API `{name}`; names are as in `Fetch`")
    release = options.get("release", RELEASES[-1])
    return Selection(
        _time_us(options, "since"),
        _time_us(options, "until"),
        frozenset(known[name] for name in apis),
        release,
    )


def _time_us(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise PipelineError(f"{name} is `{text}`; it must be like 2026-01-31T12:00:00Z") from None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return round(when.timestamp() * 1_000_000)


def _splits(options: Mapping[str, str]) -> list[Split]:
    """The pieces to read: those given, or all of the traces."""
    if "splits" in options:
        return [Split(*one) for one in json.loads(options["splits"])]
    return plan(_paths(options), int(options.get("splitBytes", SPLIT_BYTES)))


def _paths(options: Mapping[str, str]) -> list[str]:
    if "paths" in options:
        return list(json.loads(options["paths"]))
    if "path" in options:
        return [options["path"]]
    raise PipelineError("no trace was named; use load(PATH) or the option `paths`")
