"""The recorded requests and the mismatches of a playback, in the format of the inspector."""

from itertools import islice
from pathlib import Path
from typing import Any

from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, PlaybackReport
from kafka_shim.shim.traffic.traces.inspector_rows import REQUESTS_MAX, InspectorRows
from kafka_shim.shim.traffic.traces.trace_rows import TraceReader

_ENTRIES_PER_REQUEST = 4
"""Only the beginning of a large trace is read: its request, response and accesses."""


class PlaybackRows:
    """The rows of a recording, and behind them the requests that it does not answer."""

    def __init__(self, trace: Path, report: PlaybackReport) -> None:
        rows = TraceReader(trace).rows(with_denials=True, with_frames=True)
        beginning = islice(rows, REQUESTS_MAX * _ENTRIES_PER_REQUEST)
        self._recorded = InspectorRows(trace.name, beginning)
        self._report = report
        self.name = f"playback of {trace.name}"
        self.decisions = self._recorded.decisions

    @property
    def last(self) -> int:
        return self._recorded.last + len(self._report.mismatches)

    @property
    def requests(self) -> list[dict[str, Any]]:
        mismatches = [*self._report.mismatches]
        numbered = enumerate(mismatches, self._recorded.last + 1)
        return self._recorded.requests + [self._row(*each) for each in numbered]

    def request_detail(self, number: int) -> dict[str, Any] | None:
        """Return a request and its response; of a mismatch, what is known of it."""
        place = number - self._recorded.last - 1
        mismatches = [*self._report.mismatches]
        if not 0 <= place < len(mismatches):
            return self._recorded.request_detail(number)
        fields = self._report.mismatch_fields(mismatches[place])
        nothing = {"request": None, "request_hex": "", "response_hex": "", "response_bytes": 0}
        return {"number": number, **nothing, "response": {"not_recorded": fields}}

    def _row(self, number: int, mismatch: Mismatch) -> dict[str, Any]:
        api, _, version = mismatch.request.rpartition(" v")
        return {
            "number": number,
            "api": api or mismatch.request,
            "version": int(version) if version.isdecimal() else None,
            "time_us": self._report.first_times_us[mismatch],
            "principal": mismatch.principal,
            "client_id": mismatch.client_id,
            "error_names": [f"NOT_RECORDED ({mismatch.kind})"],
            "errors": [-1],
            "faults": [],
            "decisions_left_out": 0,
            "latency_us": None,
            **dict.fromkeys(("host", "correlation_id", "connection", "node_id", "request")),
        }
