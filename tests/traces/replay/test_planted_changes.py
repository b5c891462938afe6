"""A replay finds what is planted into the target's responses, and names what it did not compare."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.records.batches import Record, encode_batch, iterate_batches
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.shim.config import SecurityProtocol, parse_address
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from tests.cli.conftest import Running
from tests.support.acl_filters import ANY_ACL
from tests.support.record_requests import fetch_request, produce_request
from tests.traces.replay.planted_changes import Change, changed_broker, of_response
from tests.traces.replay.recorded_clients import replay, shims

pytestmark = pytest.mark.usefixtures("short_waits")
ALICE = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", "alice", "alice-secret"))
PARTITIONS, BATCHES, RECORDS = 2, 4, 3
FETCH, PRODUCE, LIST_OFFSETS, COMMIT, COMMITTED = 12, 9, 7, 8, 8


def request_all(broker: Running) -> None:
    """Write and read records, commit an offset, change ACLs, and be denied."""
    plaintext, sasl = (parse_address(text, "") for text in (broker.plaintext, broker.sasl))
    with Client(*plaintext) as client, Client(*sasl, ALICE) as alice:
        topic = CreatableTopic("orders", num_partitions=PARTITIONS, replication_factor=1)
        client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]), 5)
        named = MetadataRequest([MetadataRequestTopic(name="orders")])
        client.send_request(ApiKey.METADATA, named, 9)
        for number in range(BATCHES):
            write(client, number)
        for index in range(PARTITIONS):
            read(client, index)
        offset = OffsetCommitRequestPartition(0, 5)
        topics = [OffsetCommitRequestTopic("orders", partitions=[offset])]
        client.send_request(ApiKey.OFFSET_COMMIT, OffsetCommitRequest("g", topics=topics), COMMIT)
        wanted = OffsetFetchRequestTopics("orders", partition_indexes=[0])
        groups = [OffsetFetchRequestGroup("g", topics=[wanted])]
        client.send_request(ApiKey.OFFSET_FETCH, OffsetFetchRequest(groups=groups), COMMITTED)
        row = DeleteRecordsPartition(1, 2)
        doomed = DeleteRecordsRequest([DeleteRecordsTopic("orders", [row])], timeout_ms=5_000)
        client.send_request(ApiKey.DELETE_RECORDS, doomed, 2)
        list_offsets(client, 1, -2)
        acl = (ResourceType.TOPIC, "orders", PatternType.LITERAL, "User:bob", "*")
        created = AclCreation(*acl, Operation.READ, Permission.ALLOW)
        client.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest([created]), 3)
        client.send_request(ApiKey.DESCRIBE_ACLS, ANY_ACL, 3)
        write(alice, 0)


def write(client: Client, number: int) -> None:
    records = [
        Record(at, 0, b"k", f"value {number}.{at}".encode(), (("h", b"1"),))
        for at in range(RECORDS)
    ]
    blobs = [encode_batch(records)] * PARTITIONS
    client.send_request(ApiKey.PRODUCE, produce_request("orders", *blobs), PRODUCE)


def read(client: Client, index: int) -> None:
    for offset in (0, RECORDS, BATCHES * RECORDS - 1):
        request = fetch_request("orders", offset=offset, indexes=[index], max_wait_ms=10)
        client.send_request(ApiKey.FETCH, request, FETCH)
    for timestamp in (-2, -1):
        list_offsets(client, index, timestamp)


def list_offsets(client: Client, index: int, timestamp: int) -> None:
    row = ListOffsetsPartition(index, timestamp=timestamp)
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("orders", [row])])
    client.send_request(ApiKey.LIST_OFFSETS, request, LIST_OFFSETS)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    with shims(1, seed=1) as recorded:
        recorded.record(folder)
        request_all(recorded)
    return folder


def changed(trace: Path, change: Change) -> tuple[ReplayReport, str]:
    """Return the report of a replay to a broker with this change, and its text."""
    with shims(1, seed=2) as target:
        upstream = parse_address(target.plaintext, "")
        with changed_broker(upstream, change) as broker:
            report = replay(trace, "{}:{}".format(*broker.address), target.sasl)
            changes = broker.changes
    text = "\n".join(report_lines(report))
    assert report.unreached_requests == 0, text
    assert changes, "the change was not planted"
    return report, text


def rows(api: ApiKey, wanted: ApiKey, message: Any) -> Iterator[Any]:
    if api == wanted:
        for topic in getattr(message, "responses", None) or message.topics:
            yield from topic.partitions


def changed_batches(change: Callable[[list[bytes]], list[bytes]]) -> Change:
    """Return a change of the batches that are fetched."""

    def plant(api: ApiKey, _: Any, response: Any) -> bool:
        planted = False
        for row in rows(api, ApiKey.FETCH, response):
            batches = [batch.blob for batch in complete_batches(row.records)]
            new = change(batches)
            planted |= new != batches
            row.records = b"".join(new)
        return planted

    return plant


def with_other_records(blob: bytes, change: Callable[[list[Record]], None]) -> bytes:
    (batch,) = iterate_batches(blob)
    records = batch.records()
    change(records)
    return encode_batch(records)


def lose(batches: list[bytes]) -> list[bytes]:
    return [batch for batch in batches if next(iterate_batches(batch)).base_offset != RECORDS]


def lose_one_of_a_batch(batches: list[bytes]) -> list[bytes]:
    return [
        with_other_records(batch, lambda records: records.pop(1).offset)  # type: ignore[arg-type]
        if next(iterate_batches(batch)).base_offset == RECORDS
        else batch
        for batch in batches
    ]


def repeat(batches: list[bytes]) -> list[bytes]:
    return [*batches[:2], *batches[1:]]


def change_value(batches: list[bytes]) -> list[bytes]:
    def change(records: list[Record]) -> None:
        records[-1].value = b"another value"

    return [with_other_records(batch, change) for batch in batches]


def change_header(batches: list[bytes]) -> list[bytes]:
    def change(records: list[Record]) -> None:
        records[0].headers = ()

    return [with_other_records(batch, change) for batch in batches]


def truncate(batches: list[bytes]) -> list[bytes]:
    return [batch for batch in batches if next(iterate_batches(batch)).base_offset < RECORDS]


def commit_elsewhere(response: Any) -> None:
    response.groups[0].topics[0].partitions[0].committed_offset -= 1


def end_earlier(api: ApiKey, request: Any, response: Any) -> bool:
    for row in rows(api, ApiKey.LIST_OFFSETS, response):
        if request.topics[0].partitions[0].timestamp == -1:
            row.offset -= 2
            return True
    return False


def begin_later(api: ApiKey, _: Any, response: Any) -> bool:
    for row in rows(api, ApiKey.FETCH, response):
        row.log_start_offset += 3
    return api == ApiKey.FETCH


def delete_less(api: ApiKey, _: Any, response: Any) -> bool:
    for row in rows(api, ApiKey.DELETE_RECORDS, response):
        row.low_watermark = 0
    return api == ApiKey.DELETE_RECORDS


def deny(api: ApiKey, _: Any, response: Any) -> bool:
    for row in rows(api, ApiKey.FETCH, response):
        row.error_code, row.records = 29, None
    return api == ApiKey.FETCH


def lose_topic(response: Any) -> None:
    response.topics = []


def lose_acl(response: Any) -> None:
    response.resources = []


def lose_api(response: Any) -> None:
    del response.api_keys[3]


def create_otherwise(response: Any) -> None:
    response.topics[0].num_partitions += 1


RECORDS_FIELD = ("Fetch", "responses[].partitions[].records", "data")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (changed_batches(lose), RECORDS_FIELD),
        (changed_batches(lose_one_of_a_batch), RECORDS_FIELD),
        (changed_batches(repeat), RECORDS_FIELD),
        (changed_batches(change_value), RECORDS_FIELD),
        (changed_batches(change_header), RECORDS_FIELD),
        (changed_batches(truncate), RECORDS_FIELD),
        (
            of_response(ApiKey.OFFSET_FETCH, commit_elsewhere),
            ("OffsetFetch", "committed_offset", "data"),
        ),
        (end_earlier, ("ListOffsets", "topics[].partitions[].offset", "data")),
        (begin_later, ("Fetch", "responses[].partitions[].log_start_offset", "data")),
        (delete_less, ("DeleteRecords", "topics[].partitions[].low_watermark", "data")),
        (deny, ("Fetch", "responses[].partitions[].error_code", "permission")),
        (of_response(ApiKey.METADATA, lose_topic), ("Metadata", "topics[]", "data")),
        (
            of_response(ApiKey.DESCRIBE_ACLS, lose_acl),
            ("DescribeAcls", "resources[]", "permission"),
        ),
        (of_response(ApiKey.API_VERSIONS, lose_api), ("ApiVersions", "api_keys[]", "release")),
        (
            of_response(ApiKey.CREATE_TOPICS, create_otherwise),
            ("CreateTopics", "topics[].num_partitions", "settings"),
        ),
    ],
)
def test_a_planted_change_is_found(trace: Path, change: Change, kind: tuple[str, str, str]) -> None:
    report, text = changed(trace, change)
    assert {*report.counts_by_kind} == {kind}, text


def test_nothing_is_found_without_a_change(trace: Path) -> None:
    report, text = changed(trace, lambda *_: True)
    assert report.matches_recording, text
    assert report.compared_records == PARTITIONS * (2 * BATCHES * RECORDS), text


def test_a_record_that_is_written_twice_is_found(trace: Path) -> None:
    """The broker appends one request twice, without anybody reading in between."""
    with shims(1, seed=2) as target, shims(1, seed=3) as _:
        upstream = parse_address(target.plaintext, "")
        copies: list[int] = []

        def write_again(api: ApiKey, request: Any, _: Any) -> bool:
            if api == ApiKey.PRODUCE and not copies:
                copies.append(1)
                with Client(*upstream) as other:
                    other.send_request(ApiKey.PRODUCE, request, PRODUCE)
                return True
            return False

        with changed_broker(upstream, write_again) as broker:
            report = replay(trace, "{}:{}".format(*broker.address), target.sasl)
    text = "\n".join(report_lines(report))
    assert {*report.counts_by_kind} == {RECORDS_FIELD}, text


def test_an_allowed_request_that_was_denied_is_found(trace: Path) -> None:
    with shims(1, seed=2) as target:
        acl = (ResourceType.TOPIC, "orders", PatternType.LITERAL, "User:alice", "*")
        with Client(*parse_address(target.plaintext, "")) as client:
            created = AclCreation(*acl, Operation.WRITE, Permission.ALLOW)
            client.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest([created]), 3)
        report = replay(trace, target.plaintext, target.sasl)
    kinds = {(kind.api, kind.cause) for kind in report.counts_by_kind}
    assert kinds == {("Produce", "permission"), ("DescribeAcls", "permission")}
