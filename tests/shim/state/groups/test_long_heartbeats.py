"""Heartbeats that are computed on a copy of their group while others are served."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.time_slices import RequestAbandonedError
from kafka_shim.shim.state.groups.classic.classic_member import JoinResponse
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerHeartbeat
from kafka_shim.shim.state.groups.member_requests import MemberRequests
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareHeartbeat
from kafka_shim.shim.state.groups.time_sliced_heartbeats import TRIES
from tests.recordings.comparing import differing
from tests.recordings.groups.recording import KIND
from tests.shim.play import Stage
from tests.shim.state.groups.joining import join_request

Item = TypeVar("Item")
RELEASE = "4.3.1"
RECORDED = (
    "consumer",
    "epoch",
    "migration",
    "policy",
    "share",
    "sharing",
    "static",
    "streams",
)


class Interrupted:
    """Turns that call `meanwhile` after each piece of work beside the loop."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.meanwhile = meanwhile
        self.count = 0

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item:
        result = work(*arguments)
        self.count += 1
        self.meanwhile()
        return result

    def time_sliced(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            yield item
            self.meanwhile()


def requests_of(names: Iterable[str]) -> MemberRequests:
    stage = Stage(RELEASE)
    for name in names:
        stage.topic(name, 2)
    return stage.cluster.member_requests


def beat(member_id: str, *names: str, epoch: int = 0, **more: Any) -> ConsumerHeartbeat:
    told: dict[str, Any] = {
        "instance_id": None,
        "rack_id": None,
        "rebalance_timeout_ms": 60_000 if epoch == 0 else -1,
        "topic_names": list(names) or None,
        "topic_regex": None,
        "server_assignor": None,
        "owned": {} if epoch == 0 else None,
        "client_id": "c",
        "client_host": "/h",
        "visible_topic_names": list,
    }
    return ConsumerHeartbeat(member_id=member_id, member_epoch=epoch, **told | more)


def has(requests: MemberRequests) -> dict[str, tuple[int, int]]:
    """Return each member's epoch and the number of topics assigned to it."""
    group = requests.groups.find_group_if_consumer("g")
    members = {} if group is None else group.members
    return {name: (member.epoch, len(member.assigned)) for name, member in members.items()}


@pytest.mark.parametrize(
    "name",
    [name for name in KIND.recordings.names(RELEASE) if name.split("-")[0] in RECORDED],
)
def test_responses_in_turns_are_those_of_the_real_broker(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices = Interrupted()
    for way in (
        MemberRequests.handle_consumer_heartbeat,
        MemberRequests.handle_share_heartbeat,
        MemberRequests.handle_streams_heartbeat,
        MemberRequests.handle_join,
    ):
        monkeypatch.setattr(MemberRequests, way.__name__, _in_turns(way, slices))
    assert not differing(KIND, RELEASE, name)


def _in_turns(way: Callable[..., Any], slices: Interrupted) -> Callable[..., Any]:
    return lambda requests, *arguments: way(requests, *arguments[:-1], slices)


def test_others_see_the_old_group_until_the_heartbeat_is_complete() -> None:
    requests = requests_of(["a", "b"])
    requests.handle_consumer_heartbeat("g", beat("first", "a", "b"))
    seen: list[dict[str, tuple[int, int]]] = []
    before = has(requests)
    slices = Interrupted(lambda: seen.append(has(requests)))
    requests.handle_consumer_heartbeat("g", beat("second", "a", "b"), slices)
    assert seen
    assert all(state == before for state in seen)
    assert has(requests).keys() == {"first", "second"}


def test_a_member_that_joins_meanwhile_is_not_lost() -> None:
    requests = requests_of(["a", "b"])
    requests.handle_consumer_heartbeat("g", beat("first", "a", "b"))

    def joins() -> None:
        if "third" not in has(requests):
            requests.handle_consumer_heartbeat("g", beat("third", "a", "b"))

    slices = Interrupted(joins)

    response = requests.handle_consumer_heartbeat("g", beat("second", "a", "b"), slices)
    alike = requests_of(["a", "b"])
    for member_id in ("first", "third"):
        alike.handle_consumer_heartbeat("g", beat(member_id, "a", "b"))
    assert response == alike.handle_consumer_heartbeat("g", beat("second", "a", "b"))
    assert list(has(requests).items()) == list(has(alike).items())


def test_a_classic_member_joins_a_consumer_group_while_others_are_served() -> None:
    requests = requests_of(["a", "b"])
    requests.handle_consumer_heartbeat("g", beat("first", "a", "b"))
    seen: list[int] = []
    joined: list[JoinResponse] = []
    metadata = b"\0\0" + codecs.write_message(ConsumerProtocolSubscription(topics=["a", "b"]), 0)
    joining = join_request(protocols=(("range", metadata),))
    requests.handle_join(
        "g", joining, joined.append, Interrupted(lambda: seen.append(len(has(requests))))
    )
    assert joined[0].error is ErrorCode.NONE
    assert seen == [1]
    assert len(has(requests)) == 2


def test_two_members_that_create_the_group_create_one() -> None:
    requests = requests_of(["a"])

    def joins() -> None:
        if not has(requests):
            requests.handle_consumer_heartbeat("g", beat("other", "a"))

    slices = Interrupted(joins)

    with pytest.raises(RequestRejected) as refused:
        requests.handle_consumer_heartbeat("g", beat("m", "a"), slices)
    assert refused.value.error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert has(requests).keys() == {"other"}
    requests.handle_consumer_heartbeat("g", beat("m", "a"), slices)
    assert has(requests).keys() == {"other", "m"}


def test_a_heartbeat_of_a_group_that_keeps_changing_is_rejected() -> None:
    requests = requests_of(["a"])
    requests.handle_consumer_heartbeat("g", beat("m0", "a"))
    slices = Interrupted(
        lambda: requests.handle_consumer_heartbeat("g", beat(f"m{slices.count}", "a"))
    )
    with pytest.raises(RequestRejected) as refused:
        requests.handle_consumer_heartbeat("g", beat("late", "a"), slices)
    assert refused.value.error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert has(requests).keys() == {f"m{number}" for number in range(TRIES + 1)}


def test_a_client_that_disconnects_leaves_the_group_unchanged() -> None:
    requests = requests_of(["a"])
    requests.handle_consumer_heartbeat("g", beat("m", "a"))
    before = has(requests)

    def hang_up() -> None:
        raise RequestAbandonedError

    with pytest.raises(RequestAbandonedError):
        requests.handle_consumer_heartbeat("g", beat("gone", "a"), Interrupted(hang_up))
    assert has(requests) == before
    requests.handle_consumer_heartbeat("g", beat("next", "a"), Interrupted())
    assert has(requests).keys() == {"m", "next"}


def test_a_second_long_heartbeat_of_a_group_waits_for_the_first() -> None:
    long_heartbeats = requests_of([]).time_sliced_heartbeats
    waiting: list[object] = []

    class Waiting(Interrupted):
        def offload(self, work: Callable[..., Item], *arguments: Any) -> Item:
            waiting.append(work)
            raise RequestAbandonedError

    with long_heartbeats.serialize_by_group("g", Interrupted()):
        with long_heartbeats.serialize_by_group("another", Waiting()):
            assert not waiting
        with (
            pytest.raises(RequestAbandonedError),
            long_heartbeats.serialize_by_group("g", Waiting()),
        ):
            pass
    assert len(waiting) == 1
    with long_heartbeats.serialize_by_group("g", Waiting()):
        assert len(waiting) == 1


def test_a_static_member_that_rejoins_has_one_timer() -> None:
    stage = Stage(RELEASE)
    stage.topic("a", 2)
    requests = stage.cluster.member_requests
    slices = Interrupted()
    requests.handle_consumer_heartbeat("g", beat("old", "a", instance_id="i"), slices)
    requests.handle_consumer_heartbeat("g", beat("old", epoch=-2, instance_id="i"), slices)
    requests.handle_consumer_heartbeat("g", beat("new", "a", instance_id="i"), slices)
    stage.clock.advance(40_000)
    epoch = has(requests)["new"][0]
    requests.handle_consumer_heartbeat("g", beat("new", epoch=epoch, instance_id="i"), slices)
    stage.clock.advance(40_000)
    assert has(requests).keys() == {"new"}
    stage.clock.advance(10_000)
    assert has(requests) == {}


def test_a_regular_expression_matches_the_topics_at_its_start() -> None:
    """A topic that is created while names are matched is seen by the next heartbeat."""
    stage = Stage(RELEASE)
    stage.topic("a", 1)
    requests = stage.cluster.member_requests

    def visible(names: list[str]) -> list[str]:
        if "b" not in stage.cluster.topics:
            stage.topic("b", 1)
        return names

    joining = beat("m", topic_regex=".", visible_topic_names=visible)
    requests.handle_consumer_heartbeat("g", joining, Interrupted())
    requests.handle_consumer_heartbeat(
        "g", beat("m", epoch=1, visible_topic_names=visible), Interrupted()
    )
    assert has(requests) == {"m": (2, 1)}
    stage.clock.advance(11_000)
    for epoch in (2, 2):
        requests.handle_consumer_heartbeat(
            "g", beat("m", epoch=epoch, visible_topic_names=visible), Interrupted()
        )
    assert has(requests) == {"m": (3, 2)}


def test_share_partitions_are_initialized_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places: list[tuple[bytes, int]] = []
    initialize_partition = ShareGroup.initialize_share_state_at

    def count(group: ShareGroup, topic_id: bytes, partition: int, offset: int) -> ErrorCode:
        places.append((topic_id, partition))
        return initialize_partition(group, topic_id, partition, offset)

    monkeypatch.setattr(ShareGroup, "initialize_share_state_at", count)
    names = [f"t{number}" for number in range(10)]
    requests = requests_of(names)

    def look() -> None:
        group = requests.groups.find_group_if_share("g")
        if group is not None and group.members.keys() == {"m"} and places:
            requests.handle_share_heartbeat("g", sharing("other", names))

    requests.handle_share_heartbeat("g", sharing("m", names), Interrupted(look))
    group = requests.groups.find_group_if_share("g")
    assert group is not None
    assert sum(map(len, group.initialized_partitions.values())) == 20
    assert len(places) == 21


def sharing(member_id: str, names: list[str], epoch: int = 0) -> ShareHeartbeat:
    return ShareHeartbeat(
        member_id=member_id,
        member_epoch=epoch,
        rack_id=None,
        topic_names=names,
        client_id="c",
        client_host="/h",
    )


def test_a_group_of_the_right_type_is_created() -> None:
    requests = requests_of(["a"])
    requests.handle_consumer_heartbeat("g", beat("m", "a"), Interrupted())
    assert isinstance(requests.groups.find_and_touch_after_topic_deletions("g"), ConsumerGroup)
