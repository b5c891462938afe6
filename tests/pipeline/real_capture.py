"""A capture of real clients' traffic, and the resources that each of its requests names.

The broker records the same requests. A reader of the capture must find the same names as the full
codec does in the recording.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from confluent_kafka import KafkaException, Producer

from examples import pipeline_demo
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.trace_format.segments import Block, read_trace
from kafka_shim.traces.captures.capture_import import import_capture
from tests.traces.captures.live import capturing

Names = dict[tuple[int, int], set[str]]
"""The resources that a request names, by the client's port and the correlation id."""

_FIELDS = ("topic", "group_id", "transactional_id", "key", "coordinator_keys", "topic_id")
_BY_KAFKA_PYTHON = Path(__file__).with_name("by_kafka_python.py")
_OLD = "v3_and_below_"
_NO_ID = bytes(16)
_BY_ID = ("Fetch", "Produce")
_TSHARK = (
    *("tcp.srcport", "kafka.correlation_id", "kafka.topic_name", "kafka.consumer_group"),
    *("kafka.transactional_id", "kafka.coordinator_key"),
)


def captured(folder: Path) -> tuple[Path, Path, str]:
    """Run clients; return the broker's recording, the capture, and the broker's port."""
    trace, capture = folder / "trace", folder / "capture.pcap"
    with pipeline_demo.serving(trace, folder / "ready") as address:
        port = address.rpartition(":")[2]
        with capturing(capture, [port]):
            pipeline_demo.produce(address, "alice")
            pipeline_demo.consume(address, "bob")
            pipeline_demo.produce(address, "carol")
            _in_a_transaction(address)
            subprocess.run([sys.executable, _BY_KAFKA_PYTHON, address], check=True, timeout=40)
    return trace, capture, port


def _in_a_transaction(address: str) -> None:
    """Write in a transaction with librdkafka, as the administrator, who has the permission."""
    settings = pipeline_demo.settings(address, "admin")
    producer = Producer({**settings, "transactional.id": "orders-app"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("orders", b"x")
    with contextlib.suppress(KafkaException):
        producer.commit_transaction(20)


def expected_names(trace: Path) -> Names:
    """Return the names in the broker's recording, decoded by the full codec."""
    found: dict[tuple[int, int], set[Any]] = {}
    ids: dict[bytes, str] = {}
    for block in read_trace(trace):
        assert isinstance(block, Block)
        ports = {connection.number: connection.port for connection in block.body.connections}
        for entry in block.body.entries:
            if isinstance(entry, Response) and entry.api_key in NAMING_APIS:
                response, _ = read_response_with_version(
                    entry.api_key, entry.api_version, entry.frame
                )
                ids |= topic_ids_with_names(response)
            if isinstance(entry, Request):
                header, at = read_request_header(entry.frame)
                message = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
                names = {name for name in _named(message) if name and name != _NO_ID}
                found[ports[entry.connection], header.correlation_id] = names
    return {key: {ids.get(name, name) for name in names} for key, names in found.items()}


def _named(message: Any) -> Iterator[Any]:
    """Yield names of topics, groups and transactional ids, and topic ids, at any depth."""
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if name.removeprefix(_OLD) in _FIELDS or (
            name == "name" and "Topic" in type(message).__name__
        ):
            yield from value if isinstance(value, list) else [value]
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, msgspec.Struct):
                yield from _named(item)


def names_imported(capture: Path, folder: Path) -> Names:
    """Return the names that the pipeline finds in the imported capture."""
    with capture.open("rb") as file:
        import_capture(file, folder)
    ids = {bytes.fromhex(row["topic_id"]): row["name"] for row in _rows("topic_ids", folder)}
    found: dict[tuple[int, int], set[Any]] = {}
    requests: dict[tuple[int, int], tuple[int, int]] = {}
    for row in _rows("requests", folder):
        key = (row["port"], row["correlation_id"])
        requests[row["connection"], row["sequence"]] = key
        found[key] = {*row["topics"], *row["groups"], *row["transactional_ids"]}
    for row in _rows("accesses", folder, ids):  # requests that name topics by id
        if row["api"] in _BY_ID and row["resource_type"] == "TOPIC":
            found[requests[row["connection"], row["sequence"]]].add(row["resource_name"])
    return found


def _rows(table: str, folder: Path, ids: dict[bytes, str] | None = None) -> list[dict[str, Any]]:
    splits = plan_splits([str(folder)])
    found = (
        batch
        for split in splits
        for batch in table_batches(table, split, Selection(topic_names_by_id=ids or {}))
    )
    return [row for batch in found for row in batch.to_pylist()]


def names_by_tshark(capture: Path, port: str) -> Names:
    """Return the names that tshark prints; none for requests that it cannot read."""
    command = ["tshark", "-r", str(capture), "-d", f"tcp.port=={port},kafka"]
    command += ["-Y", f"kafka.request_key and tcp.dstport == {port}", "-T", "json"]
    for field in _TSHARK:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[tuple[int, int], set[Any]] = {}
    for packet in msgspec.json.decode(done.stdout):
        fields = packet["_source"]["layers"]
        client = int(fields["tcp.srcport"][0])
        named = {name for field in _TSHARK[2:] for name in fields.get(field, ())}
        for correlation in fields["kafka.correlation_id"]:
            found[client, int(correlation)] = named
    return found
