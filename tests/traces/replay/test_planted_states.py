"""A replay finds changes of what clients see of groups, settings, ACLs, times and transactions."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    EntityData,
    EntryData,
    ValueData,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.fetch import AbortedTransaction
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch, iterate_batches
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.shim.config import parse_address
from tests.support.acl_filters import ANY_ACL
from tests.support.record_requests import fetch_request, produce_request
from tests.traces.replay.planted_changes import Change, of_response
from tests.traces.replay.recorded_clients import shims
from tests.traces.replay.test_planted_changes import (
    RECORDS_FIELD,
    changed,
    list_offsets,
    rows,
    with_other_records,
)

pytestmark = [
    pytest.mark.usefixtures("short_waits"),
    pytest.mark.folders("src/kafka_shim/traces/replay", "tests/traces/replay"),
]
TIME_MS = 1_700_000_000_000
BATCHES = 3


def records(number: int) -> list[Record]:
    """Return a record with an empty key and a header, and one without key and value."""
    time_ms = TIME_MS + number
    header = ("h", b"%d" % number)
    first = Record(0, time_ms, b"", b"value %d" % number, (header,))
    return [first, Record(1, time_ms, None, None)]


def request_all(client: Client) -> None:
    """Write and read with times, in transactions, and describe everything."""
    configs = [CreatableTopicConfig("retention.ms", "1000000000000")]
    topic = CreatableTopic("orders", num_partitions=1, replication_factor=1, configs=configs)
    for _ in range(2):  # the second time, there is an error with a text
        client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]), 5)
    for number in range(BATCHES):
        blob = encode_batch(records(number))
        client.send_request(ApiKey.PRODUCE, produce_request("orders", blob), 9)
    write_in_transaction(client)
    read = fetch_request("orders", max_wait_ms=10, isolation_level=1)
    client.send_request(ApiKey.FETCH, read, 12)
    list_offsets(client, 0, TIME_MS + 1)
    acl = (ResourceType.TOPIC, "orders", PatternType.LITERAL)
    for name in ("User:alice", "User:bob"):
        created = AclCreation(*acl, name, "*", Operation.READ, Permission.ALLOW)
        client.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest([created]), 3)
    offset = OffsetCommitRequestPartition(0, 2, committed_metadata="note")
    commit = OffsetCommitRequest(
        "g", topics=[OffsetCommitRequestTopic("orders", partitions=[offset])]
    )
    client.send_request(ApiKey.OFFSET_COMMIT, commit, 8)
    describe_all(client)


def write_in_transaction(client: Client) -> None:
    """Write a transaction and commit it."""
    found = FindCoordinatorRequest("tx", 1)
    client.send_request(ApiKey.FIND_COORDINATOR, found, 3)
    producer = client.send_request(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest("tx", 60_000), 4)
    ids = producer.producer_id, producer.producer_epoch
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    client.send_request(
        ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest([], "tx", *ids, topics), 3
    )
    options = BatchOptions(
        producer_id=ids[0], producer_epoch=ids[1], base_sequence=0, is_transactional=True
    )
    written = produce_request("orders", encode_batch(records(BATCHES), options))
    written.transactional_id = "tx"
    client.send_request(ApiKey.PRODUCE, written, 9)
    client.send_request(ApiKey.END_TXN, EndTxnRequest("tx", *ids, committed=True), 3)


def describe_all(client: Client) -> None:
    named = MetadataRequest([MetadataRequestTopic(name="orders")])
    resource = DescribeConfigsResource(ResourceType.TOPIC, "orders", ["retention.ms"])
    for api, request, version in (
        (ApiKey.METADATA, named, 9),
        (ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest([resource]), 4),
        (ApiKey.DESCRIBE_ACLS, ANY_ACL, 3),
        (ApiKey.DESCRIBE_GROUPS, DescribeGroupsRequest(["g"]), 5),
        (ApiKey.LIST_GROUPS, ListGroupsRequest(), 4),
        (
            ApiKey.OFFSET_FETCH,
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)]),
            8,
        ),
        (ApiKey.DESCRIBE_CLIENT_QUOTAS, DescribeClientQuotasRequest(), 1),
    ):
        client.send_request(api, request, version)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    with shims(1, seed=1) as recorded:
        recorded.record(folder)
        with Client(*parse_address(recorded.plaintext, "")) as client:
            request_all(client)
    return folder


def of_records(change: Callable[[list[Record]], None], offset: int = 0) -> Change:
    """Return a change of the records in the batch that begins with this offset."""

    def plant(api: ApiKey, _: Any, response: Any) -> bool:
        for row in rows(api, ApiKey.FETCH, response):
            row.records = b"".join(
                with_other_records(batch.blob, change)
                if batch.first_offset == offset
                else batch.blob
                for batch in complete_batches(row.records)
            )
        return api == ApiKey.FETCH

    return plant


def change_header(found: list[Record]) -> None:
    found[0].headers = (("h", b"another"),)


def lose_key(found: list[Record]) -> None:
    """Put null in the place of an empty key."""
    found[0].key = None


def empty_value(found: list[Record]) -> None:
    """Put an empty value in the place of null, which deletes a key in a compacted topic."""
    found[1].value = b""


def shift_times(found: list[Record]) -> None:
    for record in found:
        record.timestamp += 1


def compact(found: list[Record]) -> None:
    del found[0]


def set_append_time(api: ApiKey, _: Any, response: Any) -> bool:
    """Let the broker set the times, as with message.timestamp.type=LogAppendTime."""
    for row in rows(api, ApiKey.FETCH, response):
        blobs = [batch.blob for batch in complete_batches(row.records)]
        (batch,) = iterate_batches(blobs[0])
        blobs[0] = encode_batch(batch.records(), BatchOptions(append_time_ms=TIME_MS + 5))
        row.records = b"".join(blobs)
    return api == ApiKey.FETCH


def abort(response: Any) -> None:
    """Say that the committed transaction was aborted."""
    row = response.responses[0].partitions[0]
    batch = next(batch for batch in iterate_batches(row.records) if batch.is_transactional)
    row.aborted_transactions = [AbortedTransaction(batch.producer_id, batch.base_offset)]


def find_later(response: Any) -> None:
    response.topics[0].partitions[0].offset += 2


def grow(response: Any) -> None:
    """Add a partition to the topic."""
    found = response.topics[0].partitions
    found.append(copy.copy(found[0]))
    found[-1].partition_index = 1


def lose_acl_of_bob(response: Any) -> None:
    for resource in response.resources:
        resource.acls = [acl for acl in resource.acls if acl.principal != "User:bob"]


def let_bob_in_from_one_host(response: Any) -> None:
    for resource in response.resources:
        for acl in resource.acls:
            acl.host = "10.0.0.1" if acl.principal == "User:bob" else acl.host


def set_config(response: Any) -> None:
    response.results[0].configs[0].value = "1"


def end_group(response: Any) -> None:
    response.groups[0].group_state = "Dead"


def lose_group(response: Any) -> None:
    response.groups = []


def lose_note(response: Any) -> None:
    response.groups[0].topics[0].partitions[0].metadata = ""


def lose_commit(response: Any) -> None:
    response.groups[0].topics = []


def limit_clients(response: Any) -> None:
    entity = EntityData("user", "alice")
    response.entries = [EntryData([entity], [ValueData("producer_byte_rate", 1.0)])]


CONFIGS = ("DescribeConfigs", "results[].configs[].value", "settings")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (of_records(change_header), RECORDS_FIELD),
        (of_records(lose_key), RECORDS_FIELD),
        (of_records(empty_value), RECORDS_FIELD),
        (of_records(shift_times), RECORDS_FIELD),
        (of_records(compact, offset=2), RECORDS_FIELD),
        (set_append_time, RECORDS_FIELD),
        (of_response(ApiKey.FETCH, abort), RECORDS_FIELD),
        (
            of_response(ApiKey.LIST_OFFSETS, find_later),
            ("ListOffsets", "topics[].partitions[].offset", "data"),
        ),
        (of_response(ApiKey.METADATA, grow), ("Metadata", "topics[].partitions[]", "data")),
        (
            of_response(ApiKey.DESCRIBE_ACLS, lose_acl_of_bob),
            ("DescribeAcls", "resources[].acls[]", "permission"),
        ),
        (
            of_response(ApiKey.DESCRIBE_ACLS, let_bob_in_from_one_host),
            ("DescribeAcls", "resources[].acls[]", "permission"),
        ),
        (of_response(ApiKey.DESCRIBE_CONFIGS, set_config), CONFIGS),
        (
            of_response(ApiKey.DESCRIBE_GROUPS, end_group),
            ("DescribeGroups", "groups[].group_state", "data"),
        ),
        (of_response(ApiKey.LIST_GROUPS, lose_group), ("ListGroups", "groups[]", "data")),
        (
            of_response(ApiKey.OFFSET_FETCH, lose_note),
            ("OffsetFetch", "groups[].topics[].partitions[].metadata", "data"),
        ),
        (
            of_response(ApiKey.OFFSET_FETCH, lose_commit),
            ("OffsetFetch", "groups[].topics[]", "data"),
        ),
        (
            of_response(ApiKey.DESCRIBE_CLIENT_QUOTAS, limit_clients),
            ("DescribeClientQuotas", "entries[]", "settings"),
        ),
    ],
)
def test_a_planted_change_is_found(trace: Path, change: Change, kind: tuple[str, str, str]) -> None:
    report, text = changed(trace, change)
    assert {*report.counts_by_kind} == {kind}, text


def test_nothing_is_found_without_a_change(trace: Path) -> None:
    report, text = changed(trace, lambda *_: True)
    assert report.matches_recording, text
    assert report.compared_records == 2 * (BATCHES + 1), text
    assert "offsets by time" not in text


def lose_error_message(api: ApiKey, _: Any, response: Any) -> bool:
    if api != ApiKey.CREATE_TOPICS or not response.topics[0].error_message:
        return False
    response.topics[0].error_message = None
    return True


def change_leader_epoch(response: Any) -> None:
    response.topics[0].partitions[0].leader_epoch += 7


@pytest.mark.parametrize(
    "change",
    [
        lose_error_message,
        of_response(ApiKey.METADATA, change_leader_epoch),
    ],
)
def test_texts_of_errors_are_not_compared_nor_are_epochs(trace: Path, change: Change) -> None:
    """The page about replays says so."""
    report, text = changed(trace, change)
    assert report.matches_recording, text
