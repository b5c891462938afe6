"""The recorded requests and the mismatches of a playback, in the format of the inspector."""

from itertools import islice
from pathlib import Path

import msgspec

from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, PlaybackReport
from kafka_shim.shim.traffic.traces.inspector_rows import REQUESTS_MAX, InspectorRows
from kafka_shim.shim.traffic.traces.trace_rows import TraceReader

_ENTRIES_PER_REQUEST = 4
"""Only the beginning of a large trace is read: its request, response and accesses."""


class PlaybackRows(InspectorRows):
    """The rows of a recording, and behind them the requests that it does not answer."""

    def __init__(self, trace: Path, report: PlaybackReport) -> None:
        rows = TraceReader(trace).rows(with_denials=True, with_frames=True)
        beginning = islice(rows, REQUESTS_MAX * _ENTRIES_PER_REQUEST)
        super().__init__(f"playback of {trace.name}", beginning)
        report.on_new_mismatch = self._add_mismatch

    def _add_mismatch(self, mismatch: Mismatch) -> None:
        api, _, version = mismatch.request.rpartition(" v")
        row = self._next_number_with_common_fields(
            {
                "api": api or mismatch.request,
                "version": int(version) if version.isdecimal() else None,
                "time_us": SystemClock().now_ms() * 1_000,
                "principal": mismatch.principal,
                "host": None,
                "client_id": mismatch.client_id,
            }
        )
        row |= {"error_names": [f"NOT_RECORDED ({mismatch.kind})"], "errors": [-1], "faults": []}
        row |= dict.fromkeys(("correlation_id", "connection", "node_id", "request", "latency_us"))
        self.requests.append(row | {"decisions_left_out": 0})
        nothing = {"request": None, "request_hex": "", "response_hex": "", "response_bytes": 0}
        fields = msgspec.to_builtins(mismatch) | {"text": str(mismatch)}
        detail = {"number": self.last, **nothing, "response": {"not_recorded": fields}}
        self._details[self.last] = detail
