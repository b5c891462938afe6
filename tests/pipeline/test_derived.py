"""Accesses derived from messages, compared with those that the shim recorded."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from examples import pipeline_demo
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.existence import ExistenceIndex, existence_records_from_rows
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.tables import TABLES
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import write_response_header
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from kafka_shim.protocol.messages.produce import ProduceRequest, TopicProduceData
from kafka_shim.trace_format.entries import (
    AUDIT,
    DERIVED,
    Access,
    BlockBody,
    Connection,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import Block, SegmentWriter, read_trace
from kafka_shim.traces.importers.log_import import import_authorizer_log
from tests.pipeline.traces import START_US, frame

ID, UNKNOWN_ID = bytes(15) + b"\1", bytes(15) + b"\2"


def rows(table: str, folder: Path, selection: Selection | None = None) -> list[dict[str, Any]]:
    found = [
        batch
        for split in plan_splits([str(folder)])
        for batch in table_batches(table, split, selection or Selection())
    ]
    return list(pa.Table.from_batches(found, TABLES[table]).to_pylist())


def names_in(folder: Path) -> dict[bytes, str]:
    return {bytes.fromhex(row["topic_id"]): row["name"] for row in rows("topic_ids", folder)}


def without_accesses(trace: Path, folder: Path) -> None:
    """Write a copy of the trace without accesses, as a proxy records it."""
    writer = SegmentWriter(folder, "proxy")
    for block in read_trace(trace):
        assert isinstance(block, Block)
        connections_in = [
            msgspec.structs.replace(c, access_source=DERIVED) for c in block.body.connections
        ]
        entries: list[Entry] = [
            entry for entry in block.body.entries if not isinstance(entry, Access)
        ]
        writer.write_block(BlockBody(connections_in, entries))
    writer.close()


def judged(found: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    keys = ("principal", "api", "operation", "resource_type", "resource_name", "allowed")
    wanted = [row for row in found if row["role"] in ("required", "either")]
    return {tuple(row[key] for key in keys) for row in wanted if row["allowed"] is not None}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    pipeline_demo.record(folder / "trace", folder / "ready")
    return folder / "trace"


@pytest.mark.client
def test_derived_accesses_equal_the_recorded_ones(recorded: Path, tmp_path: Path) -> None:
    without_accesses(recorded, tmp_path)
    exact = rows("accesses", recorded)
    existence = ExistenceIndex(existence_records_from_rows(rows("sightings", tmp_path)))
    derived = rows(
        "accesses", tmp_path, Selection(topic_names_by_id=names_in(tmp_path), existence=existence)
    )
    assert {row["source"] for row in exact} == {"recorded"}
    assert {row["source"] for row in derived} == {"derived"}
    assert judged(derived) == judged(exact)
    assert {row["principal"] for row in derived} == {"User:alice", "User:bob", "User:carol"}
    assert any(row["allowed"] is False for row in derived)
    assert not [row for row in derived if row["role"] == "unnamed"]
    observed = rows(
        "observed", tmp_path, Selection(topic_names_by_id=names_in(tmp_path), existence=existence)
    )
    assert judged(observed) == judged(exact)


def write(folder: Path, entries: list[Entry]) -> None:
    who = Connection(0, 1, 1, "SASL", "10.0.0.1", 5000, "User:a", access_source=DERIVED)
    writer = SegmentWriter(folder, "proxy")
    writer.write_block(BlockBody([who], entries))
    writer.close()


def response_frame(api: ApiKey, version: int, message: msgspec.Struct) -> bytes:
    return write_response_header(api, version, 7) + codecs.write_response(api, version, message)


def fetch(*ids: bytes) -> bytes:
    return frame(
        ApiKey.FETCH, 13, FetchRequest(topics=[FetchTopic(topic_id=topic_id) for topic_id in ids])
    )


def fetched(**codes: int) -> bytes:
    ids = {"known": ID, "unknown": UNKNOWN_ID}
    topics = [
        FetchableTopicResponse(topic_id=ids[name], partitions=[PartitionData(error_code=code)])
        for name, code in codes.items()
    ]
    return response_frame(ApiKey.FETCH, 13, FetchResponse(responses=topics))


def test_topic_ids_have_their_names_from_responses(tmp_path: Path) -> None:
    topics = [MetadataResponseTopic(name="orders", topic_id=ID)]
    named = response_frame(ApiKey.METADATA, 12, MetadataResponse(topics=topics))
    entries: list[Entry] = [
        Request(0, 0, START_US, fetch(ID, UNKNOWN_ID)),
        Response(0, 0, START_US + 1, ApiKey.FETCH, 13, fetched(known=29, unknown=0)),
        Response(0, 1, START_US + 2, ApiKey.METADATA, 12, named),
        Request(0, 2, START_US + 3, fetch(ID)),
        Response(0, 2, START_US + 4, ApiKey.FETCH, 13, fetched(known=0)),
        Request(0, 3, START_US + 5, fetch(ID)),
    ]
    write(tmp_path, entries)
    assert names_in(tmp_path) == {ID: "orders"}
    found = rows("accesses", tmp_path, Selection(topic_names_by_id=names_in(tmp_path)))
    assert [(r["sequence"], r["resource_name"], r["role"], r["allowed"]) for r in found] == [
        (0, "orders", "required", False),
        (0, "", "unnamed", None),
        (2, "orders", "required", True),
        (3, "orders", "required", None),  # no response
    ]
    counted = rows("observed", tmp_path, Selection(topic_names_by_id=names_in(tmp_path)))
    assert [(r["allowed"], r["requests"]) for r in counted] == [(False, 1), (True, 1)]


def test_a_producer_with_acks_0_is_allowed_if_a_later_request_is_answered(tmp_path: Path) -> None:
    """A broker closes the connection if a Produce request with acks=0 is denied."""
    produce = ProduceRequest(acks=0, topic_data=[TopicProduceData("orders")])
    silent = frame(ApiKey.PRODUCE, 9, produce)
    metadata = frame(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    responded = response_frame(ApiKey.METADATA, 12, MetadataResponse())
    entries: list[Entry] = [
        Request(0, 0, START_US, silent),
        Request(0, 1, START_US + 1, metadata),
        Response(0, 1, START_US + 2, ApiKey.METADATA, 12, responded),
        Request(0, 2, START_US + 3, silent),
    ]
    write(tmp_path, entries)
    found = rows("accesses", tmp_path)
    writes = [(row["sequence"], row["allowed"]) for row in found if row["operation"] == "WRITE"]
    assert writes == [(0, True), (2, None)]


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[-1]])
def test_alternatives_are_listed(tmp_path: Path, release: str) -> None:
    from tests.pipeline.traces import create_frame

    write(tmp_path, [Request(0, 0, START_US, create_frame("x"))])
    found = rows("accesses", tmp_path, Selection(release=release))
    (row,) = [row for row in found if row["operation"] == "CREATE"]
    if release == RELEASES[0]:
        assert (row["operation"], row["resource_type"], row["role"]) == (
            "CREATE",
            "CLUSTER",
            "required",
        )
    else:
        assert (row["operation"], row["resource_name"], row["role"]) == ("CREATE", "x", "either")
        assert row["instead"] == ["CREATE|CLUSTER|kafka-cluster"]


def test_accesses_of_an_authorizers_log_are_marked(tmp_path: Path) -> None:
    decisions = (("Denied", "Cluster:LITERAL:kafka-cluster"), ("Allowed", "Topic:LITERAL:x"))
    lines = [
        f"[2026-01-31 12:00:00,123] DEBUG Principal = User:a is {outcome} operation = CREATE from"
        f" host = 10.0.0.1 on resource = {resource} for request = CreateTopics with"
        " resourceRefCount = 1 based on rule DefaultDeny (kafka.authorizer.logger)"
        for outcome, resource in decisions
    ]
    import_authorizer_log(iter(lines), tmp_path)
    found = rows("accesses", tmp_path)
    assert {row["source"] for row in found} == {AUDIT}
    assert [(row["resource_type"], row["role"]) for row in found] == [
        ("CLUSTER", "tried"),
        ("TOPIC", "either"),
    ]
