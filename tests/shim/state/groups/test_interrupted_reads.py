"""A change of the cluster at any read of a heartbeat's offloaded work is not lost: a few heartbeats
later, members have all partitions of the topics that there are, as if the heartbeat had been alone.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from itertools import count
from typing import Any

import pytest

from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.share.share_group import ShareHeartbeat
from kafka_shim.shim.state.groups.streams.streams_member import StreamsHeartbeat
from kafka_shim.shim.state.groups.streams.streams_topology import StreamsTopology, Subtopology
from kafka_shim.shim.state.groups.time_sliced_heartbeats import TimeSlices
from tests.shim.play import Stage
from tests.shim.state.groups.interrupted_reads import InterruptedRead
from tests.shim.state.groups.test_long_heartbeats import beat

RELEASE = "4.3.1"
NAMES = ["a", "b", "c"]
ROUNDS = 8
"""Heartbeats of each member after the interrupted one; the clock passes all intervals."""
Slices = TimeSlices | None


class Members(ABC):
    """Members of group `g`; each subscribes to all of NAMES, some of which may not exist."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.groups = stage.cluster.groups
        self.requests = stage.cluster.member_requests
        self.epochs: dict[str, int] = {}
        self.assigned: dict[str, Assignment] = {}

    def heartbeat(self, member_id: str, slices: Slices = None) -> None:
        """Send the heartbeat of a member that has everything that it was assigned; it rejoins if it
        is rejected. Members of the group are replaced, never changed.
        """
        group: Any = self.groups.find_without_side_effects("g")
        before = (
            [] if group is None else [(member, copy(member)) for member in group.members.values()]
        )
        epoch = self.epochs.get(member_id, 0)
        try:
            member = self.send(member_id, epoch, slices)
        except RequestRejected:
            self.epochs.pop(member_id, None)
            return
        finally:
            assert all(member == as_before for member, as_before in before)
        self.epochs[member_id] = member.epoch
        self.assigned[member_id] = member.assigned

    @abstractmethod
    def send(self, member_id: str, epoch: int, slices: Slices) -> Any:
        """Send a heartbeat and return the member."""

    def settle(self) -> None:
        for _ in range(ROUNDS):
            for member_id in list(self.epochs) or ["m"]:
                self.heartbeat(member_id)
            self.stage.clock.advance(5_000)

    def counts(self) -> Counter[tuple[bytes, int]]:
        """Return how many members have each partition or task."""
        return Counter(
            (key, at)
            for member_id in self.epochs
            for key, held in self.assigned[member_id].items()
            for at in held
        )

    def expected(self) -> set[tuple[bytes, int]]:
        """Return all partitions of the topics that exist."""
        topics = self.stage.cluster.topics
        return {
            (topic.topic_id, partition.index)
            for topic in topics.existing_among_unordered(set(NAMES))
            for partition in topic.partitions
        }


class ConsumerMembers(Members):
    def send(self, member_id: str, epoch: int, slices: Slices) -> Any:
        owned = self.assigned.get(member_id, {}) if epoch else {}
        heartbeat = beat(member_id, *NAMES, epoch=epoch, owned=owned)
        self.requests.handle_consumer_heartbeat("g", heartbeat, slices)
        group = self.groups.find_group_if_consumer("g")
        assert group is not None
        return group.members[member_id]


class ShareMembers(Members):
    def send(self, member_id: str, epoch: int, slices: Slices) -> Any:
        heartbeat = ShareHeartbeat(
            member_id=member_id,
            member_epoch=epoch,
            rack_id=None,
            topic_names=NAMES,
            client_id="c",
            client_host="/h",
        )
        self.requests.handle_share_heartbeat("g", heartbeat, slices)
        group = self.groups.find_group_if_share("g")
        assert group is not None
        return group.members[member_id]


class StreamsMembers(Members):
    """Members of an application with a subtopology for each of NAMES; topic `c` always exists."""

    topology = StreamsTopology(0, tuple(Subtopology(f"of-{n}", (n,), (), (), ()) for n in NAMES))

    def send(self, member_id: str, epoch: int, slices: Slices) -> Any:
        heartbeat = StreamsHeartbeat(
            member_id=member_id,
            member_epoch=epoch,
            instance_id=None,
            rack_id=None,
            rebalance_timeout_ms=60_000,
            topology=self.topology if epoch == 0 else None,
            configured_topology=None,
            owned=self.assigned.get(member_id, {}) if epoch else {},
            reported_tasks={},
            task_offsets=None,
            task_end_offsets=None,
            process_id=member_id,
            endpoint=("h", 1),
            endpoint_epoch=-1,
            client_tags=None,
            shuts_down_application=False,
            is_version_1=False,
            client_id="c",
            client_host="/h",
        )
        self.requests.handle_streams_heartbeat("g", heartbeat, slices)
        group = self.groups.find_group_if_streams("g")
        assert group is not None
        return group.members[member_id]

    def expected(self) -> set[tuple[bytes, int]]:
        """Return all tasks; there are none while a source topic is missing."""
        topics = self.stage.cluster.topics
        sources = {name: topic for name in NAMES if (topic := topics.get(name)) is not None}
        if len(sources) < len(NAMES):
            return set()
        return {
            (f"of-{name}".encode(), partition.index)
            for name, topic in sources.items()
            for partition in topic.partitions
        }


def creates_a_topic(members: Members) -> None:
    members.stage.topic("b", 4)


def deletes_a_topic(members: Members) -> None:
    members.stage.cluster.topics.delete_topic("a")


def adds_partitions(members: Members) -> None:
    topics = members.stage.cluster.topics
    topic = topics.get("a")
    assert topic is not None
    topics.add_partitions(topic, [[1]] * 3)


def replaces_a_topic(members: Members) -> None:
    deletes_a_topic(members)
    members.stage.topic("a", 5)


def another_member_joins(members: Members) -> None:
    members.heartbeat("another")


def sets_an_interval(members: Members) -> None:
    configs = members.stage.cluster.configs.groups.setdefault("g", {})
    for kind in ("consumer", "share", "streams"):
        configs[f"{kind}.heartbeat.interval.ms"] = "7000"


def time_passes(members: Members) -> None:
    members.stage.clock.advance(4_000)


CHANGES = (
    creates_a_topic,
    deletes_a_topic,
    adds_partitions,
    replaces_a_topic,
    another_member_joins,
    sets_an_interval,
    time_passes,
)


def with_topics(kind: Callable[[Stage], Members], topics: Mapping[str, int]) -> Members:
    stage = Stage(RELEASE)
    for name, partitions in topics.items():
        stage.topic(name, partitions)
    return kind(stage)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [ConsumerMembers, ShareMembers, StreamsMembers])
@pytest.mark.parametrize("joins", [True, False])
def test_a_change_at_any_read_is_not_lost(
    kind: Callable[[Stage], Members], change: Callable[[Members], None], *, joins: bool
) -> None:
    reads = 0
    for at in count(1):
        topics = {"a": 2, "c": 1} if change is creates_a_topic else {"a": 2, "b": 3, "c": 1}
        members = with_topics(kind, topics)
        members.heartbeat("m")
        if not joins:
            members.settle()
            members.stage.topic("other")  # a reason to look at the topics again
        slices = InterruptedRead(members.stage, at, partial(change, members))
        members.heartbeat("late" if joins else "m", slices)
        if not slices.was_interrupted:
            break
        reads = at
        members.settle()
        held = members.counts()
        assert held.keys() == members.expected(), f"read {at}"
        if kind is not ShareMembers:
            assert all(number == 1 for number in held.values()), f"read {at}"
    assert reads > 5


def test_a_topic_that_is_created_between_two_reads_is_assigned() -> None:
    """The topic appears after the changed topics were looked for, before their epoch is noted."""
    members = with_topics(ConsumerMembers, {"a": 2, "c": 1})
    members.heartbeat("m")
    members.settle()
    topics = members.stage.cluster.topics
    changed_since = topics.any_may_have_changed_since

    def create_after(epoch: int, names: Any) -> bool:
        has_changed = changed_since(epoch, names)
        if "b" not in topics:
            creates_a_topic(members)
        return has_changed

    topics.any_may_have_changed_since = create_after  # type: ignore[method-assign]
    members.stage.topic("other")
    members.heartbeat("m", InterruptedRead(members.stage, 0, lambda: None))
    members.settle()
    assert sorted(map(len, members.assigned["m"].values())) == [1, 2, 4]
