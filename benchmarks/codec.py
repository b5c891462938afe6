"""The speed of decoding and encoding messages, compared with kafka-python and kio.

    python -m benchmarks.codec [--json] [--check] [--rounds N]

Every figure is the best of several rounds, in each of which the libraries take turns. All of them
read and write the same bytes, which is checked first. A message that misses a goal is measured
again for longer, and the second figure counts. `--check` exits with 3 if a goal is missed.
"""

import io
import sys
import timeit
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import kio.index
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from benchmarks.command import finish, parse_arguments
from kafka_shim.protocol.codec.codecs import message_reader, message_writer
from kafka_shim.protocol.codec.resource_names import names_reader
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

ROUND_SECONDS = 0.01
KAFKA_PYTHON_MODULES = ("metadata", "consumer", "admin", "producer")
GOALS = {
    "decode_vs_kafka_python": 2.0,
    "encode_vs_kafka_python": 6.0,
    "encode_vs_kio": 8.0,
    "decode_vs_kio": 1 / 2.6,
    "skim_vs_decode": 2.0,
}


class Case(NamedTuple):
    name: str
    version: int
    message: Any

    @property
    def message_name(self) -> str:
        return type(self.message).__name__


def metadata_response() -> MetadataResponse:
    brokers = [
        MetadataResponseBroker(i, f"broker-{i}.example.com", 9092, f"rack-{i}") for i in range(3)
    ]
    topics = [
        MetadataResponseTopic(
            0,
            f"orders.topic-{i:03}",
            bytes([i]) * 16,
            False,
            [MetadataResponsePartition(0, p, p, 5, [0, 1, 2], [0, 1, 2], []) for p in range(3)],
        )
        for i in range(100)
    ]
    return MetadataResponse(0, brokers, "cluster-0123456789abcd", 1, topics)


def fetch_request(topics: int, partitions: int) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52428800,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=f"orders.topic-{i:03}",
                partitions=[
                    FetchPartition(p, 5, 123456789012 + p, -1, -1, 1048576)
                    for p in range(partitions)
                ],
            )
            for i in range(topics)
        ],
    )


def create_acls_request() -> CreateAclsRequest:
    return CreateAclsRequest(
        [
            AclCreation(2, f"orders.topic-{i:03}", 3, f"User:app-{i:03}", "*", 3, 3)
            for i in range(100)
        ]
    )


def cases() -> list[Case]:
    heartbeat = HeartbeatRequest("orders-consumers", 17, "consumer-1-0123456789abcdef", None)
    return [
        Case("MetadataResponse v12, 100 topics x 3", 12, metadata_response()),
        Case("FetchRequest v12, 100 topics x 3", 12, fetch_request(100, 3)),
        Case("CreateAclsRequest v3, 100 creations", 3, create_acls_request()),
        Case("FetchRequest v12, 1 x 1", 12, fetch_request(1, 1)),
        Case("HeartbeatRequest v4", 4, heartbeat),
    ]


class Codec(NamedTuple):
    """How a library reads and writes the bytes of a case."""

    decode: Callable[[], Any]
    encode: Callable[[], bytes]


def ours(case: Case, data: bytes) -> Codec:
    read, write = (
        message_reader(case.message_name, case.version),
        message_writer(case.message_name, case.version),
    )
    return Codec(lambda: read(data, 0), lambda: write(case.message))


def kafka_python(case: Case, data: bytes) -> Codec:
    modules = (import_module(f"kafka.protocol.{name}") for name in KAFKA_PYTHON_MODULES)
    cls = next(getattr(m, case.message_name) for m in modules if hasattr(m, case.message_name))
    message, version = cls.decode(data, version=case.version), case.version
    message._header = None  # decoded messages lack this attribute, which encode reads
    message.API_VERSION = version
    return Codec(lambda: cls.decode(data, version=version), message.encode)


def kio_library(case: Case, data: bytes) -> Codec:
    name = case.message_name.removesuffix("Request").removesuffix("Response")
    api = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    module = (
        kio.index.load_entity_module(api, case.version, EntityType.request)
        if case.message_name.endswith("Request")
        else kio.index.load_entity_module(api, case.version, EntityType.response)
    )
    cls = getattr(module, case.message_name)
    read, write = entity_reader(cls), entity_writer(cls)
    message, _ = read(data, 0)

    def encode() -> bytes:
        out = io.BytesIO()
        write(out, message)
        return out.getvalue()

    return Codec(lambda: read(data, 0), encode)


LIBRARIES = {"ours": ours, "kafka-python": kafka_python, "kio": kio_library}


def best_of(functions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least microseconds per call of each function, all taking turns."""
    timers = {name: timeit.Timer(function) for name, function in functions.items()}
    numbers = {}
    for name, timer in timers.items():
        once = min(timer.repeat(repeat=3, number=1))
        numbers[name] = max(1, int(ROUND_SECONDS / once))
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(numbers[name]) / numbers[name])
    return {name: seconds * 1e6 for name, seconds in best.items()}


def measure(case: Case, rounds: int) -> dict[str, Any]:
    """Return a row: sizes, microseconds per library, and how many times faster the package is."""
    data = message_writer(case.message_name, case.version)(case.message)
    codecs = {name: make(case, data) for name, make in LIBRARIES.items()}
    for name, codec in codecs.items():
        if codec.encode() != data:
            raise AssertionError(f"{name} writes other bytes for {case.name}")
    functions: dict[str, Callable[[], Any]] = {}
    for name, codec in codecs.items():
        functions[f"decode {name}"] = codec.decode
        functions[f"encode {name}"] = codec.encode
    times = best_of(functions, rounds)
    row: dict[str, Any] = {"case": case.name, "bytes": len(data), "us": times}
    decode, encode = times["decode ours"], times["encode ours"]
    row["decode_vs_kafka_python"] = times["decode kafka-python"] / decode
    row["encode_vs_kafka_python"] = times["encode kafka-python"] / encode
    row["decode_vs_kio"] = times["decode kio"] / decode
    row["encode_vs_kio"] = times["encode kio"] / encode
    return row


def skim_cases() -> list[Case]:
    topics = [f"orders.topic-{i:03}" for i in range(100)]
    produced = [
        TopicProduceData(
            name=name, partition_data=[PartitionProduceData(p, bytes(200)) for p in range(3)]
        )
        for name in topics
    ]
    committed = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[
                OffsetCommitRequestPartition(
                    p, committed_offset=123456789012, committed_metadata=""
                )
                for p in range(3)
            ],
        )
        for name in topics
    ]
    return [
        Case("FetchRequest v12, 100 topics x 3", 12, fetch_request(100, 3)),
        Case("ProduceRequest v9, 100 topics x 3", 9, ProduceRequest(topic_data=produced)),
        Case(
            "OffsetCommitRequest v8, 100 topics x 3",
            8,
            OffsetCommitRequest("orders-consumers", topics=committed),
        ),
    ]


def measure_skim(case: Case, rounds: int) -> dict[str, Any]:
    """Return a row: microseconds to read only the names, and everything."""
    data = message_writer(case.message_name, case.version)(case.message)
    read, skim = (
        message_reader(case.message_name, case.version),
        names_reader(case.message_name, case.version),
    )
    times = best_of({"decode": lambda: read(data, 0), "skim": lambda: skim(data, 0)}, rounds)
    factor = times["decode"] / times["skim"]
    return {"case": case.name, "bytes": len(data), "us": times, "skim_vs_decode": factor}


def missed(rows: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['case']}: {goal} is {row[goal]:.2f}, the goal is {least:.2f}"
        for row in rows
        for goal, least in GOALS.items()
        if goal in row and row[goal] < least
    ]


def steady(
    measured: Callable[[Case, int], dict[str, Any]], case: Case, rounds: int
) -> dict[str, Any]:
    """Return a row; one that misses a goal is measured once more, and for longer."""
    row = measured(case, rounds)
    return measured(case, 3 * rounds) if missed([row]) else row


def table(rows: list[dict[str, Any]], skims: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown tables; brackets show how many times slower a library is."""
    lines = [
        "| us per message | bytes | decode | kafka-python | kio | encode | kafka-python | kio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        times = row["us"]
        cells = [row["case"], str(row["bytes"])]
        for way in ("decode", "encode"):
            cells.append(f"**{times[f'{way} ours']:.2f}**")
            for library in ("kafka-python", "kio"):
                time = times[f"{way} {library}"]
                cells.append(f"{time:.2f} (x{time / times[f'{way} ours']:.2f})")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| us per request | bytes | decode | skim |", "|---|---|---|---|"]
    for row in skims:
        decode, skim = row["us"]["decode"], row["us"]["skim"]
        factor = row["skim_vs_decode"]
        lines.append(
            f"| {row['case']} | {row['bytes']} | {decode:.2f} | {skim:.2f} (x{factor:.1f}) |"
        )
    return "\n".join(lines)


def main() -> int:
    options = parse_arguments(__doc__, rounds=(40, "number of rounds"))
    rows = [steady(measure, case, options.rounds) for case in cases()]
    skims = [steady(measure_skim, case, options.rounds) for case in skim_cases()]
    found = {"messages": rows, "skims": skims, "goals": GOALS}
    return finish(options, found, table(rows, skims), missed(rows + skims))


if __name__ == "__main__":
    sys.exit(main())
