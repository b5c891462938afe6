"""Compares a capture by tcpdump of a client's run with the recorded trace of the same run."""

import contextlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kafka_shim.trace_format.entries import Request
from kafka_shim.traces.captures.capture_export import KAFKA_PORT, export_capture
from kafka_shim.traces.captures.capture_import import import_capture
from kafka_shim.traces.replay.events import load_recording
from tests.traces.captures.live import capturing, why_not

TSHARK_SECONDS = 120
_DETAILS = re.compile(r"[(\[].*")
_UNNAMED = "Kafka Response"
"""Tshark's summary of a response whose request it could not read."""


def captured(capture: Path, addresses: Sequence[str]) -> contextlib.AbstractContextManager[object]:
    """Capture the traffic from and to these addresses, if tcpdump is permitted to."""
    if why_not():
        sys.stdout.write(f"  not captured: {why_not()}\n")
        return contextlib.nullcontext()
    return capturing(capture, [str(port) for port in _ports(addresses)])


def compare(capture: Path, trace: Path, addresses: Sequence[str]) -> int:
    """Print how the capture differs from the trace; return the number of differences."""
    if not capture.exists():
        return 0
    return _compare_requests(capture, trace) + _compare_dissections(capture, trace, addresses)


def _compare_requests(capture: Path, trace: Path) -> int:
    again = trace.with_name(f"{trace.name}-capture")
    with capture.open("rb") as file:
        import_capture(file, again)
    seen, recorded = _requests(again), _requests(trace)
    different = {
        client
        for client in seen.keys() | recorded.keys()
        if seen.get(client) != recorded.get(client)
    }
    count = sum(len(frames) for frames in seen.values())
    sys.stdout.write(
        f"  the capture has {count} requests on {len(seen)} connections,"
        f" {len(different)} of which are not as recorded\n"
    )
    return len(different)


def _requests(trace: Path) -> dict[tuple[str, int], list[bytes]]:
    """Return the request frames of each connection, by the client's host and port."""
    found: dict[tuple[str, int], list[bytes]] = {}
    for event in load_recording(trace).events:
        if isinstance(event.entry, Request):
            found.setdefault((event.host, event.port), []).append(event.entry.frame)
    return found


def _compare_dissections(capture: Path, trace: Path, addresses: Sequence[str]) -> int:
    """Require that tshark reports the same frames of the exported trace and of the capture as
    malformed; return the number of differences.
    """
    if shutil.which("tshark") is None:
        sys.stdout.write("  not dissected: tshark is not installed\n")
        return 0
    exported = trace.with_name(f"{trace.name}-exported.pcap")
    with exported.open("wb") as file:
        export_capture(trace, file)
    own = _summaries(exported, [KAFKA_PORT], "kafka")
    malformed = _summaries(exported, [KAFKA_PORT], "_ws.malformed")
    known = _summaries(capture, _ports(addresses), "_ws.malformed")
    # kinds are compared, not counts, which also depend on the proxy's addresses
    different = (malformed.keys() ^ known.keys()) - {_UNNAMED}
    sys.stdout.write(
        f"  tshark dissects {own.total()} exported frames, {malformed.total()} as malformed,"
        f" as {known.total()} of the capture: {', '.join(sorted(malformed)) or 'none'}\n"
    )
    for kind in different:
        sys.stdout.write(f"  NOT AS CAPTURED {kind}\n")
    return len(different)


def _summaries(capture: Path, ports: Sequence[int], display_filter: str) -> Counter[str]:
    """Count the matching frames by tshark's summary, without their contents."""
    command = ["tshark", "-r", str(capture), "-Y", display_filter]
    command += ["-T", "fields", "-e", "_ws.col.Info"]
    for port in ports:
        command += ["-d", f"tcp.port=={port},kafka"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=TSHARK_SECONDS
    )
    return Counter(_DETAILS.sub("", line).strip() for line in done.stdout.splitlines())


def _ports(addresses: Sequence[str]) -> list[int]:
    return [int(address.rpartition(":")[2]) for address in addresses]
