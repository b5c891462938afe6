"""Compares a recorded run, read by the pipeline from each source, with the broker's own log."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.pipeline.rows.access_row import api_name
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.existence import ExistenceIndex, existence_records_from_rows
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.traces.captures.capture_import import import_capture
from kafka_shim.traces.importers.authorizer_log import parse_authorizer_log_line
from kafka_shim.traces.importers.log_import import import_authorizer_log, import_request_log
from tests.recordings.traffic.recording import ARCHIVES, AUDIT_LOG, CAPTURE, PROXY, REQUEST_LOG

RELEASE = "4.3.1"
SOURCES = ("proxy", "capture", "request log", "audit log")
_ANY_NAME = ("InitProducerId", "WRITE", "TOPIC")


class Decision(NamedTuple):
    """A line of the authorizer's log without its time; `*` stands for any resource of the type."""

    principal: str
    api: str
    operation: str
    resource_type: str
    resource_name: str
    allowed: bool

    @property
    def kind(self) -> str:
        """API, operation and resource type, without principal and name."""
        return f"{self.api} {self.operation} {self.resource_type}"


class Agreement:
    """The decisions derived from a source, compared with the log.

    `told` counts derived decisions that are in the log. `wrong` counts derived decisions that the
    log contradicts or does not have. `unlogged` counts checks of any resource of a type, which are
    logged only if they are denied.
    """

    def __init__(self, logged: Counter[Decision], rows: Iterable[dict[str, Any]]) -> None:
        self.told: Counter[Decision] = Counter()
        self.wrong: Counter[Decision] = Counter()
        self.unlogged: Counter[Decision] = Counter()
        for row in rows:
            if row["allowed"] is None:
                continue
            ways = list(_ways(row))
            found = [way for way in ways if way in logged]
            self.told.update(found)
            if not found and ways[0].resource_name == WILDCARD:
                self.unlogged[ways[0]] += 1
            elif not found:
                self.wrong[ways[0]] += 1
        self.missed = {decision for decision in logged if decision not in self.told}


def _ways(row: dict[str, Any]) -> Iterator[Decision]:
    """Yield the decision of a row, and those of its alternatives."""
    first = (row["operation"], row["resource_type"], row["resource_name"])
    for operation, kind, name in (first, *(text.split("|", 2) for text in row["instead"])):
        yield Decision(row["principal"], row["api"], operation, kind, name, row["allowed"])


def unpacked(folder: Path) -> dict[str, Path]:
    """Unpack the recorded run, and return the trace of each source."""
    ARCHIVES.extract(RELEASE, folder)
    traces = {name: folder / name for name in SOURCES[1:]}
    with (folder / CAPTURE).open("rb") as capture:
        import_capture(capture, traces["capture"])
    with (folder / REQUEST_LOG).open() as log:
        import_request_log(log, traces["request log"])
    with (folder / AUDIT_LOG).open() as log:
        import_authorizer_log(log, traces["audit log"])
    return {"proxy": folder / PROXY} | traces


def logged(folder: Path) -> Counter[Decision]:
    """Return the decisions in the broker's log, and how often each was made."""
    found: Counter[Decision] = Counter()
    for text in (folder / AUDIT_LOG).read_text().splitlines():
        line = parse_authorizer_log_line(text)
        assert line is not None, text
        what = (api_name(line.api_key), line.operation.name, line.resource_type.name)
        is_any = what == _ANY_NAME and line.resource_name == PROBED_NAME
        name = WILDCARD if is_any else line.resource_name
        found[Decision(line.principal, *what, name, line.allowed)] += 1
    return found


def accesses(trace: Path) -> list[dict[str, Any]]:
    """Return the table `accesses` of a trace."""
    names = {bytes.fromhex(row["topic_id"]): row["name"] for row in _rows("topic_ids", trace)}
    existence = ExistenceIndex(existence_records_from_rows(_rows("sightings", trace)))
    return list(
        _rows(
            "accesses",
            trace,
            Selection(release="4.3", topic_names_by_id=names, existence=existence),
        )
    )


def _rows(table: str, trace: Path, selection: Selection | None = None) -> Iterator[dict[str, Any]]:
    for split in plan_splits([str(trace)]):
        for batch in table_batches(table, split, selection or Selection()):
            yield from batch.to_pylist()
