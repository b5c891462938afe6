"""All messages in all versions: round trips, and agreement with the slow implementation."""

import linecache
import traceback
from typing import Any

import pytest

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.codecs import (
    bytes_after_request,
    has_version,
    message_reader,
    message_writer,
    read_message,
    read_request,
    read_response,
    request_reader,
    request_versions,
    request_writer,
    response_writer,
    write_message,
    write_request,
    write_response,
)
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.errors import DecodeError, EncodeError, UnsupportedVersionError
from kafka_shim.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from kafka_shim.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from kafka_shim.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
)
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.protocol.interpreted import Interpreted
from tests.protocol.values import ALL_NAMES, Values, versions_of

SEEDS = 4


@pytest.mark.parametrize("name", ALL_NAMES)
def test_a_round_trip_agrees_with_the_reference_codec(name: str) -> None:
    spec = load_message_spec(name)
    for version in versions_of(name):
        read, write, twin = (
            message_reader(name, version),
            message_writer(name, version),
            Interpreted(spec, version),
        )
        for seed in range(SEEDS):
            message = Values((name, version, seed)).message(spec, version)
            data = write(message)
            assert data == twin.write(message), (version, seed)
            assert read(data, 0) == message, (version, seed)
            assert twin.read(data) == message, (version, seed)
            assert read(b"header" + data, 6) == message


@pytest.mark.parametrize("name", ALL_NAMES)
def test_defaults_can_be_encoded_in_every_version(name: str) -> None:
    default = message_classes_by_name(name)[name]()
    for version in versions_of(name):
        assert message_reader(name, version)(message_writer(name, version)(default), 0) == default


def test_create_acls_byte_by_byte() -> None:
    creation = AclCreation(2, "foo", 4, "User:a", "*", 3, 3)
    message = CreateAclsRequest(creations=[creation])
    assert write_request(message, 1).hex(" ") == (
        "00 00 00 01 02 00 03 66 6f 6f 04 00 06 55 73 65 72 3a 61 00 01 2a 03 03"
    )
    assert write_request(message, 2).hex(" ") == (
        "02 02 04 66 6f 6f 04 07 55 73 65 72 3a 61 02 2a 03 03 00 00"
    )


def test_field_that_a_version_lacks_is_the_default_when_read() -> None:
    data = write_request(CreateAclsRequest([AclCreation(2, "foo")]), 0)
    assert read_request(30, 0, data, 0).creations[0].resource_pattern_type == 3


def test_field_that_a_version_lacks_is_refused_when_set() -> None:
    message = CreateAclsRequest([AclCreation(2, "foo", resource_pattern_type=4)])
    with pytest.raises(
        EncodeError, match="`ResourcePatternType` is not the default, but version 0"
    ):
        write_request(message, 0)


def test_ignorable_field_that_a_version_lacks_is_left_out() -> None:
    message = ApiVersionsResponse(api_keys=[ApiVersion(1, 0, 5)], throttle_time_ms=7)
    assert read_response(18, 0, write_response(18, 0, message)).throttle_time_ms == 0


def test_struct_that_a_version_lacks_is_refused_when_set() -> None:
    with pytest.raises(EncodeError, match="ReplicaState"):
        write_request(FetchRequest(replica_state=ReplicaState(replica_id=3)), 12)


def test_known_tags_are_written_only_when_set() -> None:
    silent = FetchRequest()
    assert write_request(silent, 12).endswith(b"\1\0")
    named = FetchRequest(cluster_id="c", unknown_tags=((9, b"x"),))
    assert write_request(named, 12).endswith(b"\1\2\0\2\2c\x09\1x")
    assert read_request(1, 12, write_request(named, 12), 0) == named


def test_tagged_structs_and_arrays() -> None:
    partition = PartitionData(3, current_leader=LeaderIdAndEpoch(1, 7), records=b"r" * 200)
    message = FetchResponse(responses=[FetchableTopicResponse("t", partitions=[partition])])
    assert read_response(1, 12, write_response(1, 12, message)) == message


def test_unknown_tag_below_and_above_a_known_one_keep_their_places() -> None:
    message = FetchRequest(unknown_tags=((1, b"one"), (200, b"many")), cluster_id="c")
    data = write_request(message, 12)
    assert data.endswith(b"\3\0\2\2c\1\3one\xc8\1\4many")
    assert read_request(1, 12, data, 0) == message


def test_duplicate_tags_cannot_be_written() -> None:
    message = HeartbeatRequest(unknown_tags=((1, b""), (1, b"")))
    with pytest.raises(EncodeError, match="duplicate tag 1"):
        write_request(message, 4)


def test_null_struct() -> None:
    for cursor in (None, RequestCursor("t", 4)):
        message = DescribeTopicPartitionsRequest(cursor=cursor)
        assert read_request(75, 0, write_request(message, 0), 0).cursor == cursor


def test_elements_with_unknown_tags_among_those_without() -> None:
    for count in (1, 3, 8, 9, 40):
        for tagged in range(0, count, 7):
            topics = [MetadataRequestTopic(bytes([i]) * 16, f"t{i}") for i in range(count)]
            topics[tagged].unknown_tags = ((3, b"abc"),)
            message = MetadataRequest(topics)
            assert read_request(3, 12, write_request(message, 12), 0) == message


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"group_id": None}, "HeartbeatRequest v4"),
        ({"generation_id": 1 << 31}, "HeartbeatRequest v4"),
        ({"generation_id": "1"}, "HeartbeatRequest v4"),
        ({"group_id": "\ud800"}, "surrogates not allowed"),
        ({"group_id": 7}, "HeartbeatRequest v4"),
    ],
)
def test_values_that_cannot_be_encoded_are_an_error(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(EncodeError, match=said):
        write_request(HeartbeatRequest(**fields), 4)


@pytest.mark.parametrize("wrong", [b"", bytes(15), bytes(17)])
def test_uuids_have_16_bytes(wrong: bytes) -> None:
    for message, version in (
        (MetadataRequest([MetadataRequestTopic(wrong, None)]), 12),
        (BrokerHeartbeatRequest(offline_log_dirs=[bytes(16), wrong]), 1),
    ):
        with pytest.raises(EncodeError, match="has a uuid that is not of 16 bytes"):
            write_request(message, version)


def test_data_messages_by_class_and_by_name() -> None:
    message = ConsumerProtocolSubscription(["a", "b"], user_data=None, rack_id="r")
    data = write_message(message, 3)
    assert read_message(ConsumerProtocolSubscription, 3, data) == message
    assert read_message("ConsumerProtocolSubscription", 3, b"\0\3" + data, 2) == message
    assert (
        read_message("ConsumerProtocolSubscription", 2, write_message(message, 2)).rack_id is None
    )


def test_bytes_after_a_message_are_ignored_and_can_be_counted() -> None:
    data = write_request(HeartbeatRequest("g"), 4)
    assert read_request(12, 4, data + b"more", 0).group_id == "g"
    assert bytes_after_request(12, 4, data + b"more", 0) == 4
    assert bytes_after_request(12, 4, data, 0) == 0


def test_unknown_versions_and_keys() -> None:
    assert has_version(30, 3)
    assert not has_version(30, 4)
    assert not has_version(999, 0)
    assert request_versions(30) == (0, 3)
    for key, version in ((30, 4), (30, -1), (999, 0)):
        with pytest.raises(UnsupportedVersionError):
            request_reader(key, version)
        with pytest.raises(UnsupportedVersionError):
            response_writer(key, version)


def test_codecs_are_compiled_once() -> None:
    assert request_reader(30, 3) is request_reader(30, 3)
    assert request_writer(30, 3) is request_writer(30, 3)
    assert response_writer(30, 3) is response_writer(30, 3)


def test_tracebacks_show_generated_lines() -> None:
    with pytest.raises(DecodeError) as raised:
        read_request(12, 4, b"\x05ab", 0)
    shown = "".join(traceback.format_exception(raised.value))
    assert 'File "<reader of HeartbeatRequest v4>"' in shown
    assert "READ_iB(buf, pos)" in shown or "raise damaged(" in shown
    assert linecache.getline("<reader of HeartbeatRequest v4>", 1) == "def read(buf, pos):\n"
