"""What happened during a playback: requests without a recorded response, and what changed."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.text.html_page import html_page_with_table, page_start_pattern
from kafka_shim.text.output_paths import check_output_file
from kafka_shim.traces.cassettes.interactions import Interaction
from kafka_shim.traces.cassettes.request_content import FieldDifference
from kafka_shim.traces.inspector_rows import REQUESTS_MAX, InspectorRows
from kafka_shim.traces.trace_rows import TraceReader

MISMATCHES_KEPT_MAX = 1_000
CHANGES_KEPT_MAX = 200
UNSENT_KEPT_MAX = 20
_HEADINGS = ("Kind", "Request", "Reason", "Field", "Recorded", "Sent", "Nearest", "Count")
_TITLE = "Playback of"
_NO_DIFFERENCE = FieldDifference("", "", "")
_ENTRIES_PER_REQUEST = 4
"""Only the beginning of a large trace is read: its request, response and accesses."""


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """A request that the recording does not answer, and the nearest one that it does.

    `kind` is what differs: `content`, `order`, `count`, `authentication`, `waiting`, `bytes`, or
    `cluster` if the cluster of new episodes cannot be reached.
    """

    kind: str
    request: str
    principal: str
    client_id: str
    reason: str
    nearest: str
    field: str
    recorded: str
    sent: str

    def __str__(self) -> str:
        text = f"{self.request} of {self.principal} (client id `{self.client_id}`): {self.reason}"
        if self.field:
            text += f"; {FieldDifference(self.field, self.recorded, self.sent)}"
        return f"{text}; nearest: {self.nearest}" if self.nearest else text


class MismatchError(Exception):
    """The recording has no response to a request; `fields` are those of a `Mismatch`."""

    def __init__(
        self,
        kind: str,
        reason: str,
        nearest: Interaction | None = None,
        difference: FieldDifference = _NO_DIFFERENCE,
    ) -> None:
        """`nearest` is the nearest recorded request."""
        super().__init__(reason)
        self.kind = kind
        of_nearest = {"nearest": "" if nearest is None else str(nearest)} | difference._asdict()
        self.fields = {"kind": kind, "reason": reason} | of_nearest


class PlaybackReport(msgspec.Struct):
    """Counts and mismatches of a playback.

    `repeated` responses were sent again, such as those to heartbeats. `changes` are differences
    that were tolerated, `early` responses that were sent before a change that precedes them in the
    recording, `unsent` recorded changes that no client sent: mismatches, too, if `requires_all`.
    `damage` are the parts of the trace that cannot be read: failures unless `accepts_damage`.
    """

    requires_all: bool = False
    requests: int = 0
    repeated: int = 0
    recorded_anew: int = 0
    undecodable: int = 0
    damage: list[str] = []
    accepts_damage: bool = False
    mismatch_count: int = 0
    mismatches: Counter[Mismatch] = msgspec.field(default_factory=Counter)
    changes: Counter[str] = msgspec.field(default_factory=Counter)
    early: Counter[str] = msgspec.field(default_factory=Counter)
    unsent_count: int = 0
    unsent: list[str] = []
    on_new_mismatch: Callable[[Mismatch], None] = lambda _: None

    @property
    def failures(self) -> list[str]:
        """The mismatches, and missing changes that are required, as text."""
        mismatches = [
            f"mismatch ({each.kind}): {each}" + (f" ({count} times)" if count > 1 else "")
            for each, count in self.mismatches.items()
        ]
        missing = [f"not sent: {each}" for each in self.unsent if self.requires_all]
        damage = [f"damaged: {each}" for each in self.damage if not self.accepts_damage]
        return mismatches + missing + damage

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
        fields = msgspec.structs.asdict(self) | {
            "failed": bool(self.failures),
            "failures": self.failures,
            "mismatches": [
                msgspec.structs.asdict(each) | {"text": str(each), "count": count}
                for each, count in self.mismatches.items()
            ],
        }
        del fields["on_new_mismatch"]
        return fields

    @property
    def summary(self) -> str:
        counts = {
            "repeated": self.repeated,
            "recorded anew": self.recorded_anew,
            "recorded requests that cannot be read": self.undecodable,
        }
        details = "".join(f", {count} {name}" for name, count in counts.items() if count)
        return f"{self.requests} requests, {self.mismatch_count} mismatches{details}"

    @property
    def lists(self) -> Mapping[str, list[str]]:
        """What else is reported, by headings."""
        return {
            "accepted damage": self.damage if self.accepts_damage else [],
            "tolerated differences": [f"{each} ({n} times)" for each, n in self.changes.items()],
            "early responses": [f"{each} ({n} times)" for each, n in self.early.items()],
            f"{self.unsent_count} recorded changes that were not sent": self.unsent,
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as text, mismatches first."""
        yield from (self.summary, *self.failures)
        for heading, texts in self.lists.items():
            yield from (f"{heading}:", *(f"  {text}" for text in texts)) if texts else ()


def check_report_file(file: Path) -> None:
    """Raise ForeignContentError if this file exists and is no earlier report."""
    is_page = file.suffix == ".html"
    check_output_file(file, page_start_pattern(_TITLE) if is_page else r'\{\n  "requires_all": ')


def write_playback_report(report: PlaybackReport, trace: Path, file: Path) -> None:
    """Write the report; as a page if the name of the file ends in `.html`, else as JSON."""
    text = json.dumps(report.json_fields(), indent=2) + "\n"
    if file.suffix == ".html":
        rows = [_mismatch_cells(each, count) for each, count in report.mismatches.items()]
        title = f"{_TITLE} {trace.name}"
        text = html_page_with_table(title, _HEADINGS, rows, report.summary, report.lists)
    file.write_text(text, encoding="utf-8")


def _mismatch_cells(mismatch: Mismatch, count: int) -> str:
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
    fields = msgspec.structs.asdict(mismatch) | {"text": str(mismatch)}
    rows.add_unanswered_request(row, f"NOT_RECORDED ({mismatch.kind})", {"not_recorded": fields})
