"""A replay that is interrupted prints the report so far; a trace of a newer format is named."""

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.blocks import MAGIC
from kafka_shim.trace_format.entries import BlockBody, Connection, Entry, Request, Response
from kafka_shim.trace_format.segments import SegmentWriter
from tests.support.commands import SHIM, environment
from tests.support.frames import sized
from tests.traces.replay.planted_changes import read_frame
from tests.traces.replay.test_window import VERSION, exchange

COUNT, ANSWERED = 20, 7


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    entries: list[Entry] = []
    for number in range(COUNT):
        asked, responded = exchange(number, 10, 10)
        entries.append(Request(0, number, number * 1000, asked))
        entries.append(Response(0, number, number * 1000, ApiKey.API_VERSIONS, VERSION, responded))
    writer = SegmentWriter(tmp_path / "trace", "w")
    who = Connection(0, 1, 1, "PLAINTEXT", "h", 1, "User:ANONYMOUS")
    writer.write_block(BlockBody([who], entries))
    writer.close()
    return tmp_path / "trace"


@pytest.fixture
def hanging() -> Iterator[tuple[str, threading.Event]]:
    """Return a broker that stops to answer, and an event for when it does."""
    has_stopped = threading.Event()

    def serve() -> None:
        listener.accept()[0].close()  # it asks for versions
        peer, _ = listener.accept()
        with peer:
            for number in range(ANSWERED):
                read_frame(peer)
                peer.sendall(sized(exchange(number, 10, 10)[1]))
            read_frame(peer)
            has_stopped.set()
            while peer.recv(4096):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield "{}:{}".format(*listener.getsockname()), has_stopped


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_replay_reports_what_was_replayed(
    trace: Path, hanging: tuple[str, threading.Event], name: str
) -> None:
    address, has_stopped = hanging
    command = [*SHIM, "replay", str(trace), "--target", address, "--json", "--speed", "1"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert has_stopped.wait(30)
        time.sleep(0.1)
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert (report["trace_requests"], report["responses"]) == (COUNT, ANSWERED)
    assert report["left_out"] == 1  # it was in flight
    assert report["not_reached"] == COUNT - ANSWERED - 1
    assert trace.with_name("trace.resume").exists()


@pytest.mark.parametrize("command", [["replay", "--target", "h:1"], ["trace", "info"]])
def test_a_segment_of_a_newer_format_is_named(
    trace: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (segment,) = trace.iterdir()
    segment.write_bytes(segment.read_bytes().replace(MAGIC + b"\0\x01", MAGIC + b"\0\x02"))
    first, *options = command
    words = [first, *options, str(trace)] if first == "trace" else [first, str(trace), *options]
    assert main(words) == 2
    assert f"`{segment}` is in a format of a newer kafka-shim" in capsys.readouterr().err
