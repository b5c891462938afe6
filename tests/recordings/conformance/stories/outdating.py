"""Stories of clients with outdated state: generations, epochs of members and leaders, topics."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    RequestTaskIds,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.stories.administering import deleted, made
from tests.recordings.conformance.stories.consuming import Member, described
from tests.recordings.conformance.stories.rebalancing import Modern, group_described
from tests.recordings.conformance.stories.sharing import heartbeat, produced
from tests.recordings.conformance.telling import Move, Story, Teller

EPOCHS = (0, 1, 2, 3, 9, -1)
LEADER_EPOCHS = (-1, 0, 0, 1)
KNOWS_EPOCHS_SINCE = {ApiKey.FETCH: 9, ApiKey.LIST_OFFSETS: 4, ApiKey.OFFSET_FOR_LEADER_EPOCH: 2}


def older_generations(teller: Teller) -> Story:
    """A classic member sends a wrong generation or another member's id."""
    draw = teller.draw
    group, topic = draw.fresh("g-j"), draw.pick(*draw.topics)
    member = Member(teller, group, teller.user)
    yield from member.join()
    yield member.sync(member.joined)
    if draw.chance(0.5):
        yield from member.join()
    for _ in range(draw.number(3, 5)):
        move = draw.pick(member.heartbeat(), member.sync(member.joined), member.commit(topic, 4))
        name = "generation_id"
        if move.api is ApiKey.OFFSET_COMMIT:
            name = "generation_id_or_member_epoch"
        field, value = draw.pick((name, draw.pick(*EPOCHS)), ("member_id", draw.pick("", "nobody")))
        yield _with(move, field, value) if draw.chance(0.7) else move
    yield described(group)
    yield member.leave()


def older_epochs(teller: Teller) -> Story:
    """Consumers send heartbeats and commits with wrong epochs; one revokes a partition."""
    draw = teller.draw
    group, topic = draw.fresh("g-c"), draw.pick(*draw.topics)
    first = Modern(teller, group, teller.user)
    second = Modern(teller, group, f"{teller.user}/{teller.number}")
    yield first.join(subscribed_topic_names=[topic])
    yield first.alive(topic)
    yield second.join(subscribed_topic_names=[topic])
    if draw.chance(0.6):
        yield first.alive()
        yield second.leave()
        yield first.alive(*draw.pick((), (topic,)))
        yield group_described(group)
    for _ in range(draw.number(2, 4)):
        who = draw.pick(first, first, second)
        epoch = draw.pick(*EPOCHS)
        if draw.chance(0.5):
            yield _with(who.commit(topic), "generation_id_or_member_epoch", epoch)
        else:
            yield _with(who.alive(*draw.pick((), (topic,))), "member_epoch", epoch)
    yield group_described(group)


def moving_topics(teller: Teller) -> Story:
    """Topics of a streams application are created, grow and are deleted while it runs."""
    draw = teller.draw
    group, source, log = draw.fresh("g-t"), draw.fresh("source"), draw.fresh("changelog")
    application = _Application(teller, group)
    if draw.chance(0.7):
        yield made(teller, source)
    yield application.join(draw.some([source, draw.topics[0]], 1, 2), log)
    for change in draw.some(["source", "log", "gone", "made", "nothing"], 2, 4):
        yield application.beat(*draw.pick((), ("0",), ("0",)))
        yield application.described()
        if change in ("source", "log"):
            yield _grown(source if change == "source" else log, draw.pick(3, 4))
        elif change == "gone":
            yield deleted(source)
        elif change == "made":
            yield made(teller, source)
        yield application.described()
    yield application.beat()
    yield application.beat("0")
    yield application.described()
    yield application.leave()
    yield application.described()


class _Application:
    """Makes the moves of a streams group member; heartbeats have the epoch of the last response."""

    def __init__(self, teller: Teller, group: str) -> None:
        self._teller = teller
        self._group = group
        self._member = teller.draw.fresh("member")
        self._last = ""

    def join(self, sources: list[str], log: str) -> Move:
        part = Subtopology(subtopology_id="0", source_topics=list(dict.fromkeys(sources)))
        part.state_changelog_topics = [TopicInfo(name=log, replication_factor=1)]
        return self._labelled(
            heartbeat(self._group, self._member, topology=Topology(subtopologies=[part]))
        )

    def beat(self, *owned: str) -> Move:
        """Send a heartbeat; the member runs the first two tasks of the subtopologies in `owned`."""
        takes = {"member_epoch": f"{self._last}:member_epoch"}
        move = heartbeat(self._group, self._member, takes)
        request: StreamsGroupHeartbeatRequest = move.request
        if owned:
            request.active_tasks = [RequestTaskIds(subtopology, [0, 1]) for subtopology in owned]
            request.standby_tasks, request.warmup_tasks = [], []
        return self._labelled(move)

    def leave(self) -> Move:
        return heartbeat(self._group, self._member, member_epoch=-1)

    def described(self) -> Move:
        request = StreamsGroupDescribeRequest(group_ids=[self._group])
        return Move(ApiKey.STREAMS_GROUP_DESCRIBE, request)

    def _labelled(self, move: Move) -> Move:
        self._last = self._teller.label()
        return move._replace(label=self._last)


def _grown(topic: str, count: int) -> Move:
    row = CreatePartitionsTopic(name=topic, count=count, assignments=None)
    return Move(ApiKey.CREATE_PARTITIONS, CreatePartitionsRequest(topics=[row], timeout_ms=5000))


def leader_epochs(teller: Teller) -> Story:
    """Consumers send older and newer leader epochs than the current one (KIP-320)."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    yield produced(topic)
    for _ in range(draw.number(3, 5)):
        api = draw.pick(*(api for api in KNOWS_EPOCHS_SINCE if draw.has(api)))
        version = teller.version(api, KNOWS_EPOCHS_SINCE[api])
        yield Move(api, _with_epochs(teller, api, topic), version=version)


def _with_epochs(teller: Teller, api: ApiKey, topic: str) -> object:
    draw = teller.draw
    known, asked = draw.pick(*LEADER_EPOCHS), draw.pick(*LEADER_EPOCHS)
    if api is ApiKey.FETCH:
        row = FetchPartition(
            partition=0,
            current_leader_epoch=known,
            last_fetched_epoch=asked,
            fetch_offset=draw.pick(0, 1, 2, 9),
            partition_max_bytes=1 << 20,
        )
        topics = [FetchTopic(topic=topic, topic_id=topic_id_of(topic), partitions=[row])]
        return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=topics)
    if api is ApiKey.LIST_OFFSETS:
        wanted = ListOffsetsPartition(current_leader_epoch=known, timestamp=draw.pick(-1, -2, 0))
        named = [ListOffsetsTopic(name=topic, partitions=[wanted])]
        return ListOffsetsRequest(replica_id=-1, topics=named)
    place = OffsetForLeaderPartition(current_leader_epoch=known, leader_epoch=asked)
    places = [OffsetForLeaderTopic(topic=topic, partitions=[place])]
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=places)


def _with(move: Move, field: str, value: object) -> Move:
    """Set a field of a move's request to a value instead of taking it from a response."""
    setattr(move.request, field, value)
    takes = {name: source for name, source in move.takes.items() if name != field}
    return move._replace(takes=takes)
