"""Stories of consumers: fetch sessions, timestamps, deleted records, older formats."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
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
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.recordings.conformance.requests.records import BATCHES_SINCE, SESSIONS_SINCE
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.telling import Move, Story, Teller
from tests.recordings.records.batches import GZIP, T0, batch, message, wrapper

TIMES = (-1, -2, -3, T0, T0 + 1500, T0 + 9_999)


def fetch_session(teller: Teller) -> Story:
    """Open a fetch session, continue it, add and forget topics, lose and close it (KIP-227)."""
    draw = teller.draw
    topic, other = draw.random.sample(draw.topics, 2)
    opened = teller.label()
    yield _written(teller, topic, 0)
    yield _fetch(teller, [topic], 0, label=opened)
    yield _fetch(teller, [], 1, opened)
    yield _written(teller, topic, 1)
    yield _fetch(teller, [], 2, opened)
    yield _fetch(teller, [other], 3, opened)
    yield _written(teller, other, 0)
    yield _fetch(teller, [], draw.pick(4, 4, 9), opened)
    gone = [ForgottenTopic(topic=topic, topic_id=topic_id_of(topic), partitions=[0])]
    yield _fetch(teller, [], 5, opened, forgotten_topics_data=gone)
    yield _written(teller, topic, 0)
    yield _fetch(teller, [], 6, opened)
    yield _fetch(teller, [topic], draw.pick(-1, 0), opened)
    yield _fetch(teller, [], 7, opened)


def _fetch(
    teller: Teller,
    topics: list[str],
    epoch: int,
    session: str = "",
    label: str = "",
    **more: object,
) -> Move:
    partitions = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20)
        for index in (0, 1)
    ]
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=epoch,
        topics=[
            FetchTopic(topic=name, topic_id=topic_id_of(name), partitions=partitions)
            for name in topics
        ],
    )
    for name, value in more.items():
        setattr(request, name, value)
    takes = {"session_id": f"{session}:session_id"} if session else {}
    version = teller.version(ApiKey.FETCH, SESSIONS_SINCE)
    return Move(ApiKey.FETCH, request, takes, label, version)


def log_life(teller: Teller) -> Story:
    """Produce in every version, list offsets by time, delete records, fetch in every version."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    for number in range(draw.number(2, 4)):
        yield _written(teller, topic, number, keyed=True)
    yield _looked_up(teller, topic)
    yield _read(teller, topic, draw.pick(0, 1, 2))
    partition = DeleteRecordsPartition(partition_index=0, offset=draw.pick(1, 2, 3, -1))
    cut = [DeleteRecordsTopic(name=topic, partitions=[partition])]
    if draw.has(ApiKey.DELETE_RECORDS):
        yield Move(ApiKey.DELETE_RECORDS, DeleteRecordsRequest(topics=cut, timeout_ms=5000))
    yield _read(teller, topic, draw.pick(0, 2, 3, 99))
    yield _looked_up(teller, topic)
    yield _written(teller, topic, 5)
    yield _read(teller, topic, draw.pick(2, 3, 4))
    if draw.has(ApiKey.OFFSET_FOR_LEADER_EPOCH):
        row = OffsetForLeaderPartition(
            partition=0, leader_epoch=draw.pick(0, 0, 1), current_leader_epoch=draw.pick(-1, 0, 2)
        )
        asked = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[row])]
        )
        yield Move(ApiKey.OFFSET_FOR_LEADER_EPOCH, asked)


def _written(teller: Teller, topic: str, number: int, *, keyed: bool = False) -> Move:
    """Produce two records, a second apart; `number` sets their time."""
    draw = teller.draw
    version = teller.version(ApiKey.PRODUCE)
    time = T0 + 1000 * number
    if version < BATCHES_SINCE:
        magic = 0 if version < 2 else 1
        plain = message(b"v1", magic=magic, time=time) + message(
            b"v2", magic=magic, offset=1, time=time
        )
        records = draw.pick(plain, wrapper([b"v1", b"v2"], magic=magic, time=time))
    else:
        keys = [b"k1", b"k2"] if keyed else [None, None]
        times = draw.pick([time, time + 1000], [time + 1000, time])
        records = batch([b"v1", b"v2"], keys=keys, times=times, attributes=draw.pick(0, 0, GZIP))
    row = PartitionProduceData(index=0, records=records)
    data = TopicProduceData(name=topic, topic_id=topic_id_of(topic), partition_data=[row])
    request = ProduceRequest(acks=draw.pick(-1, 1), timeout_ms=5000, topic_data=[data])
    return Move(ApiKey.PRODUCE, request, version=version)


def _read(teller: Teller, topic: str, offset: int) -> Move:
    partition = FetchPartition(
        partition=0,
        fetch_offset=offset,
        partition_max_bytes=teller.draw.pick(1 << 20, 1 << 20, 1),
    )
    topics = [FetchTopic(topic=topic, topic_id=topic_id_of(topic), partitions=[partition])]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=topics)
    return Move(ApiKey.FETCH, request)


def _looked_up(teller: Teller, topic: str) -> Move:
    partitions = [
        ListOffsetsPartition(partition_index=index, timestamp=time, max_num_offsets=3)
        for index, time in enumerate(teller.draw.random.sample(TIMES, 2))
    ]
    topics = [ListOffsetsTopic(name=topic, partitions=partitions)]
    request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics)
    return Move(ApiKey.LIST_OFFSETS, request)
