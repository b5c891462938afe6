"""Values that requests take from earlier responses."""

import struct

from crc32c import crc32c

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.conformance.vectors.generated_values import (
    fill_generated_values,
    replace_producer,
)
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdResponse
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.records.batches import batch, message
from tests.support.record_requests import produce_request

MADE = InitProducerIdResponse(producer_id=17, producer_epoch=3)


def test_fields_are_filled_from_labelled_responses() -> None:
    request = EndTxnRequest(transactional_id="tx", producer_id=424_242)
    takes = {"producer_id": "5:producer_id", "producer_epoch": "5:producer_epoch"}
    fill_generated_values(request, takes, {"5": MADE}, {})
    assert (request.producer_id, request.producer_epoch) == (17, 3)


def test_without_the_response_the_request_keeps_its_value() -> None:
    request = EndTxnRequest(transactional_id="tx", producer_id=424_242)
    fill_generated_values(request, {"producer_id": "5:producer_id"}, {}, {})
    assert request.producer_id == 424_242


def test_fields_that_the_request_lacks_are_ignored() -> None:
    request = LeaveGroupRequest(group_id="g", members=[])
    fill_generated_values(request, {"members.0.member_id": "5:producer_id"}, {"5": MADE}, {})
    assert request.members == []


def test_topic_ids_are_replaced_by_the_clusters() -> None:
    real = b"\x09" * 16
    known = MetadataRequestTopic(topic_id=topic_id_of("orders"), name=None)
    unknown = MetadataRequestTopic(topic_id=b"\x22" * 16, name=None)
    request = MetadataRequest(topics=[known, unknown])
    fill_generated_values(request, {}, {}, {topic_id_of("orders"): real})
    assert [known.topic_id, unknown.topic_id] == [real, b"\x22" * 16]


def test_records_get_the_producer_and_a_new_checksum() -> None:
    records = batch([b"v"], producer=(-1, -1, 4))
    request = produce_request("t", records)
    (row,) = request.topic_data[0].partition_data
    fill_generated_values(request, {"topic_data.0.partition_data.0.records": "5"}, {"5": MADE}, {})
    assert row.records is not None
    assert struct.unpack_from(">qhi", row.records, 43) == (17, 3, 4)
    assert struct.unpack_from(">I", row.records, 17)[0] == crc32c(row.records[21:])
    damaged = replace_producer(batch([b"v"], damage=True), 17, 3)
    assert damaged is not None
    assert struct.unpack_from(">I", damaged, 17)[0] != crc32c(damaged[21:])
    assert replace_producer(None, 17, 3) is None
    assert replace_producer(message(b"old"), 17, 3) == message(b"old")


def test_fields_that_the_version_lacks_are_removed() -> None:
    members = [MemberIdentity(member_id="m", group_instance_id="i", reason="r")]
    old = reset_unsupported_fields(
        LeaveGroupRequest(group_id="g", member_id="m", members=members), 2
    )
    assert (old.member_id, old.members) == ("m", [])
    members = [MemberIdentity(member_id="m", group_instance_id="i", reason="r")]
    new = reset_unsupported_fields(
        LeaveGroupRequest(group_id="g", member_id="m", members=members), 4
    )
    assert new.member_id == ""
    assert (new.members[0].group_instance_id, new.members[0].reason) == ("i", None)
