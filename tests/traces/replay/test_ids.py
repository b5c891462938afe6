"""A replay replaces recorded ids by those of the target."""

import pytest
from crc32c import crc32c

from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from kafka_shim.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_shim.protocol.messages.fetch import FetchRequest, FetchResponse
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from kafka_shim.protocol.messages.produce import (
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch, iterate_batches
from kafka_shim.traces.identities.id_mapping import IdMapping
from kafka_shim.traces.replay.compare import message_differences
from tests.support.record_requests import produce_request

OLD_TOPIC, NEW_TOPIC = b"o" * 16, b"n" * 16


def joined(member: str, generation: int) -> JoinGroupResponse:
    return JoinGroupResponse(generation_id=generation, leader=member, member_id=member)


def test_members_and_generations_of_a_group_are_replaced() -> None:
    ids = IdMapping()
    ask = JoinGroupRequest(group_id="g")
    ids.learn("line", ask, joined("old", 1), joined("new", 5))
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="old")
    assert ids.put_target_ids("another line", beat)
    assert (beat.generation_id, beat.member_id) == (5, "new")
    other = HeartbeatRequest(group_id="other", generation_id=1, member_id="x")
    assert not ids.put_target_ids("line", other)


def test_producer_ids_are_replaced_in_requests_and_in_batches() -> None:
    ids = IdMapping()
    responses = [
        InitProducerIdResponse(producer_id=p, producer_epoch=e) for p, e in ((0, 0), (7, 3))
    ]
    ids.learn("line", InitProducerIdRequest(), *responses)
    options = BatchOptions(producer_id=0, producer_epoch=0, base_sequence=0)
    records = encode_batch([Record(0, 0, value=b"x")], options)
    request = produce_request("t", records)
    assert ids.put_target_ids("line", request)
    changed = request.topic_data[0].partition_data[0].records
    assert changed is not None
    (batch,) = iterate_batches(changed)
    assert batch.crc == crc32c(changed[21:])
    assert (batch.producer_id, batch.producer_epoch) == (7, 3)
    again = InitProducerIdRequest(producer_id=0, producer_epoch=0)
    assert ids.put_target_ids("line", again)
    assert (again.producer_id, again.producer_epoch) == (7, 3)
    assert not ids.put_target_ids("line", InitProducerIdRequest(producer_id=-1, producer_epoch=-1))


def test_fetch_session_ids_are_replaced_for_each_connection() -> None:
    ids = IdMapping()
    ids.learn("line", FetchRequest(), FetchResponse(session_id=5), FetchResponse(session_id=9))
    for connection_id, actual in (("line", 9), ("another line", 5)):
        request = FetchRequest(session_id=5)
        assert ids.put_target_ids(connection_id, request) == (actual == 9)
        assert request.session_id == actual
    none = FetchRequest(session_id=0)
    ids.learn("line", FetchRequest(), FetchResponse(session_id=0), FetchResponse(session_id=4))
    assert not ids.put_target_ids("line", none)


def metadata(*topics: tuple[str, bytes]) -> MetadataResponse:
    return MetadataResponse(
        topics=[MetadataResponseTopic(name=name, topic_id=topic_id) for name, topic_id in topics]
    )


def test_topic_ids_are_learned_by_topic_names() -> None:
    ids = IdMapping()
    recorded = metadata(("a", OLD_TOPIC), ("b", b"b" * 16))
    ids.learn("line", None, recorded, metadata(("b", b"c" * 16), ("a", NEW_TOPIC)))
    request = ProduceRequest(topic_data=[TopicProduceData("", topic_id=OLD_TOPIC)])
    assert ids.put_target_ids("line", request)
    assert request.topic_data[0].topic_id == NEW_TOPIC


@pytest.mark.parametrize("is_named_first", [True, False])
def test_topics_without_names_may_come_in_another_order(*, is_named_first: bool) -> None:
    """An assignment has topic ids only; their names are known from Metadata before or after it."""

    def assigned(*topics: tuple[bytes, int]) -> ConsumerGroupHeartbeatResponse:
        rows = [ResponseTopicPartitions(topic_id, [*range(count)]) for topic_id, count in topics]
        return ConsumerGroupHeartbeatResponse(assignment=Assignment(rows))

    other, new_other = b"b" * 16, b"c" * 16
    named = metadata(("a", OLD_TOPIC), ("b", other)), metadata(("a", NEW_TOPIC), ("b", new_other))
    nameless = assigned((OLD_TOPIC, 1), (other, 2)), assigned((new_other, 2), (NEW_TOPIC, 1))
    ids = IdMapping()
    for recorded, actual in (named, nameless) if is_named_first else (nameless, named):
        ids.learn("line", None, recorded, actual)
    request = ProduceRequest(topic_data=[TopicProduceData("", topic_id=OLD_TOPIC)])
    assert ids.put_target_ids("line", request)
    assert request.topic_data[0].topic_id == NEW_TOPIC
    assert message_differences(1, *nameless, ids.corresponding_ids) == []


A, B = "app-aaaaaaaa-1111-1111-1111-111111111111", "app-bbbbbbbb-1111-1111-1111-111111111111"
A2, B2 = "app-cccccccc-1111-1111-1111-111111111111", "app-dddddddd-1111-1111-1111-111111111111"


def listing(own: str, *members: str, leader: str = "") -> JoinGroupResponse:
    rows = [JoinGroupResponseMember(member_id=member, metadata=b"same") for member in members]
    return JoinGroupResponse(generation_id=1, leader=leader or own, member_id=own, members=rows)


def heartbeats(ids: IdMapping) -> list[str]:
    found = []
    for member in (A, B):
        beat = HeartbeatRequest(group_id="g", member_id=member)
        ids.put_target_ids("line", beat)
        found.append(beat.member_id)
    return found


def test_members_that_joined_in_another_order_keep_their_identities() -> None:
    """The response of B came first; the leader A gets the members in the other order."""
    ids, ask = IdMapping(), JoinGroupRequest(group_id="g")
    ids.learn("b", ask, listing(B), listing(B2))
    ids.learn("a", ask, listing(A, A, B), listing(A2, B2, A2))
    assert heartbeats(ids) == [A2, B2]


def test_a_guessed_member_id_is_corrected_by_the_members_own_response() -> None:
    """The leader's list of indistinguishable members comes before their own responses."""
    ids, ask = IdMapping(), JoinGroupRequest(group_id="g")
    other = "app-eeeeeeee-1111-1111-1111-111111111111"
    other2 = "app-ffffffff-1111-1111-1111-111111111111"
    ids.learn("c", ask, listing(other, other, A, B), listing(other2, other2, B2, A2))
    assert heartbeats(ids) == [B2, A2]
    ids.learn("a", ask, listing(A), listing(A2))
    ids.learn("b", ask, listing(B), listing(B2))
    assert heartbeats(ids) == [A2, B2]


def test_another_leader_does_not_swap_members() -> None:
    ids, ask = IdMapping(), JoinGroupRequest(group_id="g")
    ids.learn("a", ask, listing(A, leader=A), listing(A2, leader=B2))
    ids.learn("b", ask, listing(B, leader=A), listing(B2, leader=B2))
    assert heartbeats(ids) == [A2, B2]


def test_members_are_identified_by_their_metadata() -> None:
    ids, ask = IdMapping(), DescribeGroupsRequest(groups=["g"])

    def described(*members: tuple[str, str]) -> DescribeGroupsResponse:
        rows = [DescribedGroupMember(member_id=m, client_id=client) for m, client in members]
        return DescribeGroupsResponse(groups=[DescribedGroup(group_id="g", members=rows)])

    ids.learn("x", ask, described((A, "one"), (B, "two")), described((B2, "two"), (A2, "one")))
    assert heartbeats(ids) == [A2, B2]
