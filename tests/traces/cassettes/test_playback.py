"""Recorded requests get their recorded responses; others are reported as what they are."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.traces.cassettes.playback_state import MatchMode
from tests.shim.wire import Wire
from tests.traces.cassettes.kit import (
    HANDSHAKE,
    Playback,
    acl,
    fetch,
    metadata,
    new_topic,
    plain,
    record,
    records,
)

JOIN = JoinGroupRequest("group", 10_000, protocol_type="consumer")
JOIN.protocols.append(JoinGroupRequestProtocol("range", b""))
A, B, C = (b"k1", b"a"), (b"k2", b"b"), (b"k3", b"c")


async def story(wire: Wire, sasl: Wire) -> None:
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))
    await wire.ask(ApiKey.CREATE_ACLS, 3, acl("orders"))
    await wire.ask(ApiKey.FETCH, 12, fetch("orders", 0))
    await wire.ask(ApiKey.PRODUCE, 9, records("orders", A, B))
    await wire.ask(ApiKey.PRODUCE, 9, records("orders", C))
    await wire.ask(ApiKey.FETCH, 12, fetch("orders", 0))
    await sasl.ask(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE)
    await sasl.ask(ApiKey.SASL_AUTHENTICATE, 2, plain("alice", "alice-secret"))
    await sasl.ask(ApiKey.PRODUCE, 9, records("orders", (b"k9", b"denied")))
    await sasl.ask(ApiKey.FETCH, 12, fetch("orders", 0))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(record(tmp_path_factory.mktemp("cassettes") / "trace", story))


def start(trace: Path, **options: Any) -> Playback:
    """Return a playback in which the topic and the ACL were created."""
    played = Playback(trace, **options)
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    played.ask(ApiKey.CREATE_ACLS, 3, acl("orders"))
    return played


def values(response: Any) -> list[bytes | None]:
    (row,) = response.responses[0].partitions
    batches = iterate_batches(row.records or b"")
    return [record.value for batch in batches for record in batch.records()]


def produced(response: Any) -> tuple[int, int]:
    (row,) = response.responses[0].partition_responses
    return row.error_code, row.base_offset


def test_a_recording_is_played_with_the_same_results(trace: Path) -> None:
    played = Playback(trace)
    unknown = played.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    known = played.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code
    assert (unknown, known) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE)
    played.ask(ApiKey.CREATE_ACLS, 3, acl("orders"))
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", A, B))) == (0, 0)
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", C))) == (0, 2)
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0))) == [b"a", b"b", b"c"]
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 3))) == []
    played.ask(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE, "alice")
    login = played.ask(ApiKey.SASL_AUTHENTICATE, 2, plain("alice", "alice-secret"), "alice")
    assert login.error_code == ErrorCode.NONE
    denied = played.ask(ApiKey.PRODUCE, 9, records("orders", (b"k9", b"denied")), "alice")
    assert produced(denied)[0] == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0), "alice")) == [b"a", b"b", b"c"]
    report = played.report
    assert (report["mismatch_count"], report["unsent"], report["changes"]) == (0, [], {})


def test_records_may_be_batched_in_another_way(trace: Path) -> None:
    played = start(trace)
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", A))) == (0, 0)
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0))) == [b"a"]
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 1))) == []
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", B, C))) == (0, 1)
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 1))) == [b"a", b"b", b"c"]
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0))) == [b"a", b"b", b"c"]


def test_records_are_fetched_only_after_they_were_sent(trace: Path) -> None:
    played = start(trace)
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0))) == []
    played.ask(ApiKey.PRODUCE, 9, records("orders", A, B))
    assert values(played.ask(ApiKey.FETCH, 12, fetch("orders", 0))) == [b"a", b"b"]


def test_a_changed_value_is_reported_with_both_values(trace: Path) -> None:
    mismatch = start(trace).mismatch(ApiKey.PRODUCE, 9, records("orders", (b"k1", b"A")))
    assert (mismatch.kind, mismatch.field) == ("content", "value of the record")
    assert (mismatch.recorded, mismatch.sent) == ("'a'", "'A'")
    assert "Produce v9 of User:ANONYMOUS" in mismatch.nearest


def test_a_changed_key_is_reported_with_both_keys(trace: Path) -> None:
    mismatch = start(trace).mismatch(ApiKey.PRODUCE, 9, records("orders", (b"x", b"a")))
    assert (mismatch.field, mismatch.recorded, mismatch.sent) == (
        "key of the record", "'k1'", "'x'",
    )  # fmt: skip


def test_a_changed_topic_is_reported_with_both_names(trace: Path) -> None:
    played = start(trace)
    mismatch = played.mismatch(ApiKey.PRODUCE, 9, records("order", A))
    assert (mismatch.field, mismatch.recorded, mismatch.sent) == (
        "topic_data[].name", "'orders'", "'order'",
    )  # fmt: skip
    mismatch = played.mismatch(ApiKey.METADATA, 12, metadata("order"))
    assert (mismatch.field, mismatch.recorded, mismatch.sent) == (
        "topics[].name", "'orders'", "'order'",
    )  # fmt: skip


def test_a_changed_partition_of_a_key_is_reported_with_both_numbers(trace: Path) -> None:
    played = start(trace)
    mismatch = played.mismatch(ApiKey.PRODUCE, 9, records("orders", A, partition=1))
    assert (mismatch.field, mismatch.recorded, mismatch.sent) == ("partition", "0", "1")


def test_the_records_of_a_rejected_request_can_be_sent_again(trace: Path) -> None:
    played = start(trace)
    rejected = played.mismatch(ApiKey.PRODUCE, 9, records("orders", A, (b"k2", b"B")))
    assert (rejected.kind, rejected.field) == ("content", "value of the record")
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", A, B))) == (0, 0)


def test_a_changed_acl_is_reported_with_the_field(trace: Path) -> None:
    played = Playback(trace)
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    mismatch = played.mismatch(ApiKey.CREATE_ACLS, 3, acl("orders", Operation.WRITE))
    assert (mismatch.kind, mismatch.field) == ("content", "creations[].operation")
    assert (mismatch.recorded, mismatch.sent) == ("READ", "WRITE")


def test_a_changed_order_of_records_is_reported_unless_only_content_matters(
    trace: Path,
) -> None:
    mismatch = start(trace).mismatch(ApiKey.PRODUCE, 9, records("orders", B, A))
    assert mismatch.kind == "order"
    assert (mismatch.recorded, mismatch.sent) == ("key 'k1', value 'a'", "key 'k2', value 'b'")
    played = start(trace, match=MatchMode.CONTENT)  # a client counts from the first offset
    assert produced(played.ask(ApiKey.PRODUCE, 9, records("orders", B, A))) == (0, 0)


def test_a_changed_order_of_changes_is_reported(trace: Path) -> None:
    mismatch = Playback(trace).mismatch(ApiKey.CREATE_ACLS, 3, acl("orders"))
    assert mismatch.kind == "order"
    assert "CreateTopics v7" in mismatch.nearest


def test_a_change_that_is_sent_twice_is_reported(trace: Path) -> None:
    played = start(trace)
    mismatch = played.mismatch(ApiKey.CREATE_ACLS, 3, acl("orders"))
    assert mismatch.kind == "count"
    played.ask(ApiKey.PRODUCE, 9, records("orders", A, B, C))
    assert played.mismatch(ApiKey.PRODUCE, 9, records("orders", A)).kind == "count"


def test_a_produce_request_takes_its_recorded_time(trace: Path) -> None:
    played = start(trace, speed=0.5)
    header = RequestHeader(ApiKey.PRODUCE, 9, 1, "wire")
    response = played.connection("a").respond(header, records("orders", A)).due_response()
    assert response is not None
    recorded = played.state.index.table.first("api_key=? and topic is null", ApiKey.PRODUCE)
    assert recorded is not None
    assert response.delay_s == recorded.latency_us / 1_000_000 * 2 > 0


def test_an_additional_record_is_reported_as_one(trace: Path) -> None:
    mismatch = start(trace).mismatch(ApiKey.PRODUCE, 9, records("orders", A, B, C, (b"k4", b"d")))
    assert mismatch.reason == (
        "record 3 of orders-0 was not recorded, and the nearest one was already sent"
    )


def test_a_record_that_was_left_out_is_reported_with_its_content(trace: Path) -> None:
    played = start(trace)
    left_out = played.mismatch(ApiKey.PRODUCE, 9, records("orders", A, C))
    assert (left_out.kind, left_out.recorded) == ("order", "key 'k2', value 'b'")
    played.ask(ApiKey.PRODUCE, 9, records("orders", A, B))
    assert played.report["unsent"][0].endswith("record of orders-0): key 'k3', value 'c'")


def test_another_client_id_is_played_and_reported(trace: Path) -> None:
    played = Playback(trace, client_id="other-17")
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    assert played.report["changes"] == {"client id: wire -> other": 1}


async def acl_and_member(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_ACLS, 3, acl("orders"))
    joined = await wire.ask(ApiKey.JOIN_GROUP, 0, JOIN)
    again = msgspec.structs.replace(JOIN, member_id=joined.member_id)
    await wire.ask(ApiKey.JOIN_GROUP, 0, again)


def test_a_member_does_not_wait_for_changes_of_other_things_than_its_group(
    tmp_path: Path,
) -> None:
    played = Playback(asyncio.run(record(tmp_path / "trace", acl_and_member)))
    assert played.ask(ApiKey.JOIN_GROUP, 0, JOIN).error_code == ErrorCode.NONE
    assert played.report["early"] == {}


def test_a_member_may_send_more_heartbeats_and_join_again(tmp_path: Path) -> None:
    """How often it does depends on time: the recorded members may have been faster."""
    played = Playback(asyncio.run(record(tmp_path / "trace", acl_and_member)))
    first = played.ask(ApiKey.JOIN_GROUP, 0, JOIN)
    heartbeat = HeartbeatRequest("group", first.generation_id, first.member_id)
    assert played.ask(ApiKey.HEARTBEAT, 4, heartbeat).error_code == ErrorCode.NONE
    again = msgspec.structs.replace(JOIN, member_id=first.member_id)
    for _ in range(2):
        assert played.ask(ApiKey.JOIN_GROUP, 0, again).generation_id == first.generation_id
    assert played.mismatch(ApiKey.JOIN_GROUP, 0, JOIN).kind == "count"
    assert "JoinGroup v0 was sent more often than recorded" in played.report["changes"]


def test_a_topic_without_records_is_empty_also_for_a_client_that_did_not_fetch_it(
    tmp_path: Path,
) -> None:
    played = Playback(asyncio.run(record(tmp_path / "trace", two_topics)))
    assert values(played.ask(ApiKey.FETCH, 12, fetch("payments", 0))) == []
    mismatch = played.mismatch(ApiKey.FETCH, 12, fetch("invoices", 0))
    assert mismatch.reason == "invoices-0: User:ANONYMOUS never fetched this topic"


def test_what_was_recorded_for_another_principal_is_reported_as_that(trace: Path) -> None:
    mismatch = start(trace).mismatch(ApiKey.PRODUCE, 9, records("orders", (b"k9", b"denied")))
    assert "principal" in mismatch.reason
    assert mismatch.recorded == "User:alice"


def test_changes_that_nobody_sent_are_reported_and_fail_a_strict_playback(
    trace: Path,
) -> None:
    played = start(trace)
    assert played.report["unsent_count"] == 4
    assert not played.state.report.failures
    strict = start(trace, match=MatchMode.STRICT)
    assert len(strict.state.finished_report().failures) == 4


def test_a_changed_setting_fails_a_strict_playback_with_the_field(trace: Path) -> None:
    played = Playback(trace, match=MatchMode.STRICT)
    request = new_topic("orders")
    request.timeout_ms += 1
    mismatch = played.mismatch(ApiKey.CREATE_TOPICS, 7, request)
    assert (mismatch.kind, mismatch.field) == ("content", "timeout_ms")
    assert (mismatch.recorded, mismatch.sent) == ("1000", "1001")


def test_a_changed_value_of_a_record_without_a_key_is_reported_in_any_partition(
    tmp_path: Path,
) -> None:
    played = Playback(asyncio.run(record(tmp_path / "trace", record_without_a_key)))
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders", 2))
    mismatch = played.mismatch(ApiKey.PRODUCE, 9, records("orders", (None, b"b"), partition=1))
    assert (mismatch.field, mismatch.recorded) == ("value of the record", "'a'")
    response = played.ask(ApiKey.PRODUCE, 9, records("orders", (None, b"a"), partition=1))
    assert produced(response) == (0, 0)


async def record_without_a_key(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders", 2))
    await wire.ask(ApiKey.PRODUCE, 9, records("orders", (None, b"a")))


def test_another_version_with_the_same_content_is_played_and_reported(trace: Path) -> None:
    played = Playback(trace)
    response = played.ask(ApiKey.CREATE_TOPICS, 6, new_topic("orders"))
    assert response.topics[0].error_code == ErrorCode.NONE
    assert played.report["changes"] == {"CreateTopics: version 7 -> 6": 1}


async def two_topics(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("payments"))
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))


def test_a_read_depends_on_the_changes_of_its_own_topics(tmp_path: Path) -> None:
    played = Playback(asyncio.run(record(tmp_path / "trace", two_topics)), match=MatchMode.CONTENT)
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    found = played.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code
    assert (found, played.report["early"]) == (ErrorCode.NONE, {})


async def all_topics(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    await wire.ask(ApiKey.METADATA, 0, MetadataRequest(topics=[]))


def test_all_topics_are_the_same_request_in_version_0_and_later(tmp_path: Path) -> None:
    played = Playback(asyncio.run(record(tmp_path / "trace", all_topics)))
    played.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    response = played.ask(ApiKey.METADATA, 12, MetadataRequest(topics=None))
    assert [topic.name for topic in response.topics] == ["orders"]
    assert response.controller_id == 1
    assert played.report["changes"] == {"Metadata: version 0 -> 12": 1}
    brokers = played.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[])).brokers
    assert [broker.node_id for broker in brokers] == [1]
    assert played.report["changes"]["Metadata.topics: recorded null, sent missing"] == 1


async def brokers_of_anonymous_and_a_denied_topic_of_alice(wire: Wire, sasl: Wire) -> None:
    await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    await sasl.ask(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE)
    await sasl.ask(ApiKey.SASL_AUTHENTICATE, 2, plain("alice", "alice-secret"))
    await sasl.ask(ApiKey.METADATA, 12, metadata("orders"))


def test_brokers_are_returned_to_a_principal_that_was_recorded_without_asking_for_them(
    tmp_path: Path,
) -> None:
    """librdkafka asks for them only if it connects before the program names a topic."""
    story = brokers_of_anonymous_and_a_denied_topic_of_alice
    played = Playback(asyncio.run(record(tmp_path / "trace", story)))
    played.ask(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE)
    played.ask(ApiKey.SASL_AUTHENTICATE, 2, plain("alice", "alice-secret"))
    response = played.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    assert [broker.node_id for broker in response.brokers] == [1]
    [denied] = played.ask(ApiKey.METADATA, 12, metadata("orders")).topics
    assert denied.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_password_is_checked_if_it_is_known(trace: Path) -> None:
    played = Playback(trace, users={"alice": "alice-secret"})
    played.ask(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE)
    mismatch = played.mismatch(ApiKey.SASL_AUTHENTICATE, 2, plain("alice", "wrong"))
    assert mismatch.kind == "authentication"
    assert "no failed authentication" in mismatch.reason
