"""A replay holds one block of a trace in memory, not all of it."""

import socket
import tracemalloc
from pathlib import Path

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import BlockBody, Connection, Entry, Request, Response
from kafka_shim.trace_format.segments import SegmentWriter
from kafka_shim.traces.replay import report
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import (
    Recording,
    TraceEvents,
    load_recording,
)
from kafka_shim.traces.replay.offset_mapping import OffsetMapping
from kafka_shim.traces.replay.recorded_facts import RecordedFacts
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target
from tests.support.frames import sized
from tests.traces.replay.test_offsets import committed, committing, write
from tests.traces.replay.test_window import VERSION, answering, exchange

COUNT, BLOCK, BYTES = 6_000, 250, 1_000
MEGABYTE = 1 << 20


def made(folder: Path, writers: int = 1) -> Path:
    """Write a trace of `COUNT` requests for each writer; their times alternate."""
    asked, responded = exchange(1, BYTES, BYTES)
    for number in range(writers):
        writer = SegmentWriter(folder, f"broker-{number}", segment_bytes=4 * MEGABYTE)
        who = Connection(0, 1, 1, "PLAINTEXT", "h", 1, "User:ANONYMOUS")
        for start in range(0, COUNT, BLOCK):
            entries: list[Entry] = []
            for at in range(start, start + BLOCK):
                time_us = at * writers + number
                entries.append(Request(0, at, time_us, asked))
                entries.append(Response(0, at, time_us, ApiKey.API_VERSIONS, VERSION, responded))
            writer.write_block(BlockBody([who], entries))
        writer.close()
    return folder


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    folder = made(tmp_path)
    response = sized(exchange(1, BYTES, BYTES)[1])

    def serve(peer: socket.socket) -> None:
        with peer.makefile("rb") as stream:
            while size := stream.read(4):
                stream.read(int.from_bytes(size, "big"))
                peer.sendall(response)

    with answering(serve) as address:
        tracemalloc.start()
        events = TraceEvents(folder)
        player = Replayer(Recording(events, events.damage), Target(address), RecordedFacts(events))
        done = player.replay()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (done.requests, done.responses, done.matches_recording) == (COUNT, COUNT, True)
    assert peak < 6 * MEGABYTE < 2 * COUNT * BYTES


def test_events_of_several_writers_are_merged_by_time(tmp_path: Path) -> None:
    folder = made(tmp_path, writers=2)
    assert list(TraceEvents(folder)) == load_recording(folder).events


def test_offsets_with_a_constant_distance_take_no_memory() -> None:
    offsets = OffsetMapping()
    for base in range(1000):
        write(offsets, base, base + 7)
    for base in range(1000, 2000):
        write(offsets, base, base + 9)
    asked = [committing(offset) for offset in (0, 500, 999, 1000, 1500, 5000)]
    for request in asked:
        offsets.put_target_offsets(request)
    assert [committed(request) for request in asked] == [7, 507, 1006, 1007, 1509, 5009]
    assert [len(partition.written) for partition in offsets.partitions.values()] == [2]


def test_a_report_keeps_the_first_of_many_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "EXAMPLES_KEPT_MAX", 3)
    found = report.ReplayReport()
    for number in range(10):
        place = report.RequestId(1, number, "Fetch", 12, "User:a")
        found.add_differences(place, [Difference("error_code", 0, 29)])
        found.add_unreplayable_request(place, "gone")
    row = found.json_fields()
    assert [kind["count"] for kind in row["differences"]] == [10]
    assert (row["differing_responses"], row["misses"], len(row["missed"])) == (10, 10, 3)
    assert any(line.startswith("    10  Fetch v12") for line in report_lines(found))
