"""What happened during a playback: requests without a recorded response, and what changed."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.shim.html_page import html_page_with_table
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.traffic.cassettes.interactions import Interaction
from kafka_shim.shim.traffic.cassettes.request_content import FieldDifference
from kafka_shim.shim.traffic.traces.inspector_rows import REQUESTS_MAX, InspectorRows
from kafka_shim.shim.traffic.traces.trace_rows import TraceReader

MISMATCHES_KEPT_MAX = 1_000
CHANGES_KEPT_MAX = 200
UNSENT_KEPT_MAX = 20
_HEADINGS = ("Kind", "Request", "Reason", "Field", "Recorded", "Sent", "Nearest", "Count")
_ENTRIES_PER_REQUEST = 4
"""Only the beginning of a large trace is read: its request, response and accesses."""


class Mismatch(msgspec.Struct, frozen=True):
    """A request that the recording does not answer, and the nearest one that it does.

    `kind` is what differs: `content`, `order`, `count`, `authentication`, `waiting` or `bytes`.
    """

    kind: str
    request: str
    principal: str
    client_id: str
    reason: str
    nearest: str = ""
    field: str = ""
    recorded: str = ""
    sent: str = ""

    def __str__(self) -> str:
        text = f"{self.request} of {self.principal} (client id `{self.client_id}`): {self.reason}"
        if self.field:
            text += f"; {self.field}: recorded {self.recorded}, sent {self.sent}"
        return f"{text}; nearest: {self.nearest}" if self.nearest else text


class MismatchError(Exception):
    """The recording has no response to a request; `nearest` is the nearest recorded request."""

    def __init__(
        self,
        kind: str,
        reason: str,
        nearest: Interaction | None = None,
        difference: FieldDifference | None = None,
    ) -> None:
        """`kind` is what differs, as in `Mismatch`."""
        super().__init__(reason)
        self.kind = kind
        self.nearest = nearest
        self.difference = difference


class PlaybackReport:
    """Counts and mismatches of a playback; `changes` are differences that were tolerated."""

    def __init__(self, *, requires_all: bool = False) -> None:
        """`requires_all`: a recorded change that no client sent is a mismatch, too."""
        self._requires_all = requires_all
        self.requests = 0
        self.repeated = 0
        """Responses that were sent again, such as those to heartbeats."""
        self.early: Counter[str] = Counter()
        """Requests whose response was sent before a change that precedes it in the recording."""
        self.recorded_anew = 0
        self.mismatches: Counter[Mismatch] = Counter()
        self.on_new_mismatch: Callable[[Mismatch], None] = lambda _: None
        self.mismatch_count = 0
        self.changes: Counter[str] = Counter()
        self.unsent: list[str] = []
        """Recorded changes, such as records, that no client sent."""
        self.unsent_count = 0
        self.undecodable = 0

    @property
    def has_mismatches_or_missing_required_changes(self) -> bool:
        return self.mismatch_count > 0 or (self._requires_all and self.unsent_count > 0)

    def add_mismatch(self, mismatch: Mismatch) -> None:
        self.mismatch_count += 1
        if mismatch in self.mismatches:
            self.mismatches[mismatch] += 1
        elif len(self.mismatches) < MISMATCHES_KEPT_MAX:
            self.mismatches[mismatch] = 1
            self.on_new_mismatch(mismatch)

    def count_tolerated_difference(self, change: str) -> None:
        """Count a tolerated difference, such as another version of an API."""
        if change in self.changes or len(self.changes) < CHANGES_KEPT_MAX:
            self.changes[change] += 1

    def json_fields(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "failed": self.has_mismatches_or_missing_required_changes,
            "requests": self.requests,
            "repeated": self.repeated,
            "early": dict(self.early),
            "recorded_anew": self.recorded_anew,
            "undecodable": self.undecodable,
            "mismatch_count": self.mismatch_count,
            "mismatches": [
                msgspec.to_builtins(each) | {"text": str(each), "count": count}
                for each, count in self.mismatches.items()
            ],
            "changes": dict(self.changes),
            "unsent_count": self.unsent_count,
            "unsent": self.unsent,
        }

    def summary_lines(self) -> Iterator[str]:
        """Yield the report as text, mismatches first."""
        counts = {
            "repeated": self.repeated,
            "recorded anew": self.recorded_anew,
            "recorded requests that cannot be read": self.undecodable,
        }
        details = "".join(f", {count} {name}" for name, count in counts.items() if count)
        yield f"{self.requests} requests played, {self.mismatch_count} mismatches{details}"
        for each, count in self.mismatches.items():
            yield f"mismatch ({each.kind}): {each}" + (f" ({count} times)" if count > 1 else "")
        for change, count in self.changes.items():
            yield f"changed: {change} ({count} requests)"
        for name, count in self.early.items():
            yield f"early: {name} ({count} requests)"
        if self.unsent_count:
            yield f"not sent: {self.unsent_count} recorded changes"
            yield from (f"  {text}" for text in self.unsent)


def write_playback_report(report: PlaybackReport, trace: Path, file: Path) -> None:
    """Write the report; as a page if the name of the file ends in `.html`, else as JSON."""
    if file.suffix == ".html":
        text = _page(report, trace)
    else:
        text = json.dumps(report.json_fields(), indent=2) + "\n"
    file.write_text(text, encoding="utf-8")


def _page(report: PlaybackReport, trace: Path) -> str:
    lists = {
        "Tolerated differences": [f"{each} ({n})" for each, n in report.changes.items()],
        "Answered early": [f"{each} ({n})" for each, n in report.early.items()],
        f"Not sent: {report.unsent_count} recorded changes": report.unsent,
    }
    return html_page_with_table(
        f"Playback of {trace.name}",
        _HEADINGS,
        [_row(each, count) for each, count in report.mismatches.items()],
        f"{report.requests} requests, {report.mismatch_count} mismatches",
        lists,
    )


def _row(mismatch: Mismatch, count: int) -> str:
    client = f"{mismatch.request} of {mismatch.principal}, client id {mismatch.client_id}"
    values = mismatch.field, mismatch.recorded, mismatch.sent
    cells = *map(escape, (mismatch.kind, client, mismatch.reason)), *map(_code, values)
    return "".join(f"<td>{each}</td>" for each in (*cells, escape(mismatch.nearest), count))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def inspector_rows(trace: Path, report: PlaybackReport) -> InspectorRows:
    """Return the rows of a recording; the mismatches of its playback are added behind them."""
    recorded = TraceReader(trace).rows(with_denials=True, with_frames=True)
    beginning = islice(recorded, REQUESTS_MAX * _ENTRIES_PER_REQUEST)
    rows = InspectorRows(f"playback of {trace.name}", beginning)
    report.on_new_mismatch = partial(_add_mismatch, rows)
    return rows


def _add_mismatch(rows: InspectorRows, mismatch: Mismatch) -> None:
    api, _, version = mismatch.request.rpartition(" v")
    row = {
        "api": api or mismatch.request,
        "version": int(version) if version.isdecimal() else None,
        "time_us": SystemClock().now_ms() * 1_000,
        "principal": mismatch.principal,
        "host": None,
        "client_id": mismatch.client_id,
    }
    unknown = dict.fromkeys(("correlation_id", "connection", "node_id", "request", "latency_us"))
    errors = {"error_names": [f"NOT_RECORDED ({mismatch.kind})"], "errors": [-1], "faults": []}
    nothing = {"request": None, "request_hex": "", "response_hex": "", "response_bytes": 0}
    response = {"not_recorded": msgspec.to_builtins(mismatch) | {"text": str(mismatch)}}
    fields = errors | unknown | {"decisions_left_out": 0}
    rows.add_request(row, fields, nothing | {"response": response})
