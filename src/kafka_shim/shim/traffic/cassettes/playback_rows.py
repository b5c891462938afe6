"""The recorded requests and the mismatches of a playback, in the format of the inspector."""

from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, PlaybackReport
from kafka_shim.shim.traffic.traces.inspector_rows import REQUESTS_MAX, InspectorRows
from kafka_shim.shim.traffic.traces.trace_rows import TraceReader

_ENTRIES_PER_REQUEST = 4
"""Only the beginning of a large trace is read: its request, response and accesses."""


def playback_rows(trace: Path, report: PlaybackReport) -> InspectorRows:
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
