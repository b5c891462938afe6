"""`spark.read.format("kafka_trace")`: the tables of a trace as DataFrames, batch or streaming.

Options: `table` (accesses if not given), `paths` or the path of `load`, `since` and `until` (ISO
times), `apis` (Kafka's names, separated by commas), `principals` (one, or a JSON list),
`release`, `present`, `splitBytes`, `topicIds` and `sightings` (results of a first pass as JSON;
without them the reader makes that pass if accesses are derived), or `splits`, a JSON list of [path,
start, end, whether a block begins there]. A stream has `startingOffsets` (earliest, latest) and
`maxBytesPerTrigger` in addition. Columns are pruned by `schema(...)`.

Filters are not pushed down on purpose: Spark then reuses a filtered reader for the same DataFrame
without the filter, and gives wrong results.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import SPLIT_BYTES, Split, plan_splits
from kafka_shim.pipeline.rows.trace_facts import TABLES_FROM_TRACE_FACTS, read_trace_facts
from kafka_shim.pipeline.selection_options import (
    SIGHTINGS,
    TOPIC_IDS,
    decoded_json_option,
    selection_from_options,
    size_option,
)
from kafka_shim.pipeline.spark.trace_reader import TraceReader, TraceStreamReader
from kafka_shim.pipeline.tables import TABLES, select_columns, spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "kafka_trace"
MAX_BYTES_PER_TRIGGER = 1 << 30
STARTING_OFFSETS = ("earliest", "latest")


OPTIONS = (
    *("table", "path", "paths", "splits", "since", "until", "apis", "principals"),
    *("release", "present"),
    *("splitBytes", TOPIC_IDS, SIGHTINGS, "startingOffsets", "maxBytesPerTrigger"),
)


class KafkaTraceSource(DataSource):
    """Tables of traces; see the module's text for the options."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        check_option_names(options)

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return spark_ddl(TABLES[self._table()])

    def reader(self, schema: StructType) -> DataSourceReader:
        splits = _splits(self.options)
        split_bytes = size_option(self.options, "splitBytes", SPLIT_BYTES)
        selection = selection_from_options(self.options)
        if self._needs_trace_facts():
            selection = read_trace_facts(splits).add_to_selection(selection)
        return TraceReader(self._table(), splits, selection, schema.names, split_bytes)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return TraceStreamReader(
            _paths_from_options(self.options),
            TraceReader(self._table(), [], selection_from_options(self.options), schema.names),
            size_option(self.options, "splitBytes", SPLIT_BYTES),
            size_option(self.options, "maxBytesPerTrigger", MAX_BYTES_PER_TRIGGER),
            from_now=_starts_from_now(self.options),
            needs_trace_facts=self._needs_trace_facts(),
        )

    def _needs_trace_facts(self) -> bool:
        return self._table() in TABLES_FROM_TRACE_FACTS and TOPIC_IDS not in self.options

    def _table(self) -> str:
        table = self.options.get("table", "accesses")
        if table not in TABLES:
            raise PipelineError(f"unknown table `{table}`; expected one of {', '.join(TABLES)}")
        return table


def check_option_names(options: Iterable[str]) -> None:
    """Raise PipelineError if an option is unknown; Spark ignores the case of names."""
    known = {name.lower(): name for name in OPTIONS}
    for name in options:
        if name.lower() not in known:
            similar = get_close_matches(name.lower(), known, 1)
            advice = f"did you mean `{known[similar[0]]}`?" if similar else ", ".join(OPTIONS)
            raise PipelineError(f"unknown option `{name}` of {FORMAT}; {advice}")


def trace_table(
    spark: "SparkSession",
    table: str,
    paths: list[str],
    options: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
) -> "DataFrame":
    """Return a table of traces, or some of its columns.

    The DataFrame is new for each call, since Spark keeps the plan of an old one.
    """
    reader = spark.read.format(FORMAT).option("table", table).option("paths", json.dumps(paths))
    if columns:
        reader = reader.schema(spark_ddl(select_columns(TABLES[table], list(columns))))
    return reader.options(**(options or {})).load()


def _splits(options: Mapping[str, str]) -> list[Split]:
    """Return the given splits, or all splits of the traces."""
    if "splits" in options:
        fields = decoded_json_option(options["splits"], "splits", list[tuple[str, int, int, bool]])
        return [Split(*values) for values in fields]
    return plan_splits(
        _paths_from_options(options), size_option(options, "splitBytes", SPLIT_BYTES)
    )


def _starts_from_now(options: Mapping[str, str]) -> bool:
    offsets = options.get("startingOffsets", STARTING_OFFSETS[0])
    if offsets not in STARTING_OFFSETS:
        raise PipelineError(
            f"invalid startingOffsets `{offsets}`; expected {' or '.join(STARTING_OFFSETS)}"
        )
    return offsets == "latest"


def _paths_from_options(options: Mapping[str, str]) -> list[str]:
    if "paths" in options:
        return decoded_json_option(options["paths"], "paths", list[str], '`["/traces/a"]`')
    if "path" in options:
        return [options["path"]]
    raise PipelineError("no trace was named; use load(PATH) or the option `paths`")
