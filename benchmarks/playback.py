"""The speed of a playback compared with that of a broker, and its memory with a large trace.

    python -m benchmarks.playback [--check] [--json]

A broker in its own process records the requests of a connection. The same requests are then sent to
a broker and to a playback, which have responded to each of them before. The large trace has Produce
requests with different records.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.broker import Broker, framed, requests
from benchmarks.command import finish, parse_arguments
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_request_frame, write_response_frame
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.trace_format.entries import Connection, Request, Response
from kafka_shim.trace_format.segments import trace_size_in_bytes
from kafka_shim.traces.cassettes.playback_state import PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.player import PlayedConnection
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from kafka_shim.traces.trace_writer import TraceWriter

ROUNDS = 3
RATIO_GOAL = 0.9
"""The broker's cache responds to both: less than 1 allows for what else the machine does."""
KINDS = ("Metadata", "ListOffsets")
RECORD_BYTES = 10_000
RECORDS = 10
MEMORY_GOAL_MIB = 256
LISTENER = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0)


def repeated_reads(folder: Path, kind: str) -> tuple[float, float]:
    """Return requests per second of processor time, of a broker and of a playback."""
    frame = requests()[kind]
    trace = folder / "trace"
    (folder / "recorded").mkdir(parents=True)
    recorder = Broker(folder / "recorded", "--record", str(trace))
    recorder.play(frame)
    recorder.stop()
    taken: dict[str, list[float]] = {"broker": [], "playback": []}
    for turn in range(ROUNDS):
        for side, words in ("broker", ()), ("playback", ("--playback", str(trace))):
            (folder / f"{side}-{turn}").mkdir()
            server = Broker(folder / f"{side}-{turn}", *words)
            server.play(frame)  # the recorded responses
            server.play(frame)  # a cache keeps the last one
            taken[side].append(server.play(frame).processor)
            server.stop()
    return 1 / min(taken["broker"]), 1 / min(taken["playback"])


def large_trace(folder: Path, mib: int) -> dict[str, float]:
    """Write a trace of this size, and play a part of it; return its memory and its times."""
    sent = mib * 1024 * 1024 // (RECORDS * RECORD_BYTES)
    _write_trace(folder / "large", sent)
    began = time.process_time()
    state = PlaybackState(TraceIndex(folder / "large"), PlaybackOptions())
    index_s = time.process_time() - began
    session = Session(LISTENER, 1, "127.0.0.1", 1)
    cluster = Cluster(Config(listeners=(LISTENER,)), SystemClock())
    connection = PlayedConnection(state, session, cluster)
    frames = [_produce(number) for number in range(min(sent, 200))]
    began = time.process_time()
    for frame in frames:
        connection.respond(*read_request_frame(frame)).due_response()
    request_ms = (time.process_time() - began) * 1000 / len(frames)
    return {
        "MiB of trace": trace_size_in_bytes(folder / "large") / 1024 / 1024,
        "seconds for its index": index_s,
        "ms per request": request_ms,
        "MiB of memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _write_trace(folder: Path, requests: int) -> None:
    writer = TraceWriter(folder, "benchmark")
    connection = Connection(0, 1, 1, "PLAINTEXT", "127.0.0.1", 1, "User:ANONYMOUS")
    for number in range(requests):
        index = writer.connection_index_in_block(connection)
        row = PartitionProduceResponse(index=0, base_offset=RECORDS * number)
        topic = TopicProduceResponse(name="orders", partition_responses=[row])
        header = RequestHeader(ApiKey.PRODUCE, 9, 1, "bench")
        response = write_response_frame(header, ProduceResponse(responses=[topic]))
        writer.add(
            Request(index, number, 10 * number, _produce(number)),
            Response(index, number, 10 * number + 5, ApiKey.PRODUCE, 9, response),
        )
        if number % 10 == 9:  # about 1 MiB
            writer.flush()
    writer.close()


def _produce(number: int) -> bytes:
    """Return a request with records that no other number has."""
    values = (f"{number} {each} ".encode() * RECORD_BYTES for each in range(RECORDS))
    batch = encode_batch(
        [Record(n, 0, None, value[:RECORD_BYTES]) for n, value in enumerate(values)]
    )
    topic = TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])
    return framed(ApiKey.PRODUCE, 9, request)[4:]


def main() -> int:
    options = parse_arguments(__doc__, mib=(64, "size of the large trace in MiB"))
    with tempfile.TemporaryDirectory() as folder:
        rates = {kind: repeated_reads(Path(folder, kind), kind) for kind in KINDS}
        large = large_trace(Path(folder), options.mib)
    lines = ["| request | broker | playback |", "|---|---|---|"]
    for kind, (broker, playback) in rates.items():
        lines.append(f"| {kind} | {broker:,.0f} | {playback:,.0f} |")
    lines.append(", ".join(f"{value:,.1f} {name}" for name, value in large.items()))
    missed = [
        f"{playback:,.0f} repeated {kind} a second of the playback, {broker:,.0f} of the broker"
        for kind, (broker, playback) in rates.items()
        if playback < broker * RATIO_GOAL
    ]
    if large["MiB of memory"] > MEMORY_GOAL_MIB:
        missed.append(f"{large['MiB of memory']:,.0f} MiB of memory, goal {MEMORY_GOAL_MIB}")
    return finish(options, {"rates": rates, "large": large}, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
