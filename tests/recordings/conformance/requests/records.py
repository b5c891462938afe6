"""Random requests about records and offsets of partitions."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
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
from tests.recordings.conformance.draw import Asked, Draw
from tests.recordings.records.batches import GZIP, T0, TRANSACTIONAL, batch, message, wrapper

BATCHES_SINCE = 3
"""The first version of Produce with batches of format 2."""

SESSIONS_SINCE = 7


def partition(draw: Draw) -> int:
    return draw.weighted({0: 60, 1: 32, 7: 6, -1: 2})


def produce(draw: Draw, version: int) -> Asked:
    is_transactional = version >= BATCHES_SINCE and draw.chance(0.2)
    transactional_id = draw.transactional_id() if is_transactional else None
    if version >= BATCHES_SINCE and draw.chance(0.08):
        transactional_id = draw.transactional_id()
        is_transactional = draw.chance(0.5)
    producer = draw.earlier(ApiKey.INIT_PRODUCER_ID) if version >= BATCHES_SINCE else None
    if producer is not None and draw.chance(0.8):
        transactional_id = producer.request.transactional_id
        is_transactional = transactional_id is not None
    elif draw.chance(0.6):
        producer = None
    attributes = TRANSACTIONAL if is_transactional else 0
    if is_transactional and draw.chance(0.05):
        transactional_id = None
    takes = {}
    topics: list[TopicProduceData] = []
    for name in draw.topic_names():
        rows: list[PartitionProduceData] = []
        for index in draw.some([0, 0, 1, partition(draw)], 1, 2):
            path = f"topic_data.{len(topics)}.partition_data.{len(rows)}.records"
            records = _records(draw, version, attributes, has_producer=producer is not None)
            if producer is not None:
                takes[path] = producer.label
            rows.append(PartitionProduceData(index=index, records=records))
        topics.append(
            TopicProduceData(name=name, topic_id=draw.topic_id(name), partition_data=rows)
        )
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=draw.weighted({1: 50, -1: 40, 0: 7, 2: 3}),
        timeout_ms=5000,
        topic_data=topics,
    )
    return Asked(request, takes)


def _records(draw: Draw, version: int, attributes: int, *, has_producer: bool) -> bytes | None:
    if version < BATCHES_SINCE:
        return _messages(draw, version)
    times = [T0 + draw.number(0, 5000)] * 2
    if has_producer or attributes:
        producer = (424_242, 0, draw.weighted({0: 85, 2: 10, 5: 5}))
        if not has_producer and draw.chance(0.3):
            producer = (-1, -1, -1)
        return batch([b"v1", b"v2"], times=times, producer=producer, attributes=attributes)
    kind = draw.weighted({"plain": 70, "keyed": 8, "gzip": 8, "bad": 14})
    if kind == "plain":
        return batch([b"v1", b"v2"], times=times)
    if kind == "keyed":
        return batch([b"v1", None], keys=[b"k", None], times=times)
    if kind == "gzip":
        return batch([b"v1", b"v2"], attributes=GZIP, times=times)
    return _bad_records(draw)


def _bad_records(draw: Draw) -> bytes | None:
    return draw.pick(
        batch([b"v"], damage=True),
        batch([b"v"]) + batch([b"w"]),
        batch([b"v", b"w"], last_delta=0),
        batch([b"v", b"w"], base_offset=100),
        batch([b"v"], producer=(424_242, 0, 0)),
        None,
    )


def _messages(draw: Draw, version: int) -> bytes:
    magic = 0 if version < 2 else 1  # Produce has timestamps since version 2
    time = T0 + draw.number(0, 5000)
    if draw.chance(0.2):
        return wrapper([b"a", b"b"], magic=magic, time=time)
    damage = draw.chance(0.06)
    first = message(b"m", magic=magic, time=time, damage=damage)
    return first + message(b"n", magic=magic, key=b"k", offset=1, time=time)


def fetch(draw: Draw, version: int) -> Asked:
    takes = {}
    request = FetchRequest(
        replica_id=-1,
        replica_state=ReplicaState(),
        max_wait_ms=draw.weighted({0: 80, 10: 20}),
        min_bytes=draw.weighted({0: 50, 1: 50}),
        max_bytes=draw.weighted({1 << 20: 85, 1: 15}),
        isolation_level=draw.pick(0, 0, 1),
        topics=_fetch_topics(draw, version),
    )
    if draw.chance(0.12):
        follower = draw.weighted({1: 40, 7: 40, -2: 20})
        request.replica_id = follower
        request.replica_state = ReplicaState(replica_id=follower)
    if version >= SESSIONS_SINCE and draw.chance(0.35):
        before = draw.earlier(ApiKey.FETCH)
        if before is None:
            request.session_epoch = 0
        else:
            takes["session_id"] = f"{before.label}:session_id"
            request.session_id = 77
            request.session_epoch = draw.weighted({1: 80, 0: 8, 5: 6, -1: 6})
            request.topics = request.topics if draw.chance(0.4) else []
            if draw.chance(0.3):
                name = draw.topic()
                gone = ForgottenTopic(topic=name, topic_id=draw.topic_id(name), partitions=[0, 1])
                request.forgotten_topics_data = [gone]
    return Asked(request, takes)


def _fetch_topics(draw: Draw, version: int) -> list[FetchTopic]:
    return [
        FetchTopic(
            topic=name,
            topic_id=draw.topic_id(name),
            partitions=[
                FetchPartition(
                    partition=index,
                    current_leader_epoch=draw.weighted({-1: 80, 0: 14, 3: 6}),
                    fetch_offset=draw.weighted({0: 80, 1: 10, 50: 6, -1: 4}),
                    partition_max_bytes=draw.weighted({1 << 20: 80, 1: 20}),
                    last_fetched_epoch=draw.weighted({-1: 94, 0: 6}),
                )
                for index in {partition(draw), 0}
            ],
        )
        for name in draw.topic_names()
    ]


def list_offsets(draw: Draw, version: int) -> Asked:
    request = ListOffsetsRequest(
        replica_id=draw.weighted({-1: 85, -2: 5, 1: 5, 9: 5}),
        isolation_level=draw.pick(0, 0, 1),
        timeout_ms=5000,
        topics=[
            ListOffsetsTopic(
                name=name,
                partitions=[
                    ListOffsetsPartition(
                        partition_index=index,
                        current_leader_epoch=draw.weighted({-1: 80, 0: 14, 3: 6}),
                        timestamp=draw.weighted(
                            {-1: 30, -2: 30, T0 + 2000: 12, T0 * 2: 8, -3: 8, -4: 4, -5: 4, -9: 4}
                        ),
                        max_num_offsets=draw.pick(1, 1, 5, 0),
                    )
                    for index in {partition(draw), partition(draw)}
                ],
            )
            for name in draw.topic_names()
        ],
    )
    return Asked(request)


def delete_records(draw: Draw, version: int) -> Asked:
    request = DeleteRecordsRequest(
        timeout_ms=5000,
        topics=[
            DeleteRecordsTopic(
                name=name,
                partitions=[
                    DeleteRecordsPartition(
                        partition_index=index, offset=draw.weighted({0: 50, 1: 20, -1: 20, 99: 10})
                    )
                    for index in {partition(draw), 0}
                ],
            )
            for name in draw.topic_names()
        ],
    )
    return Asked(request)


def offset_for_leader_epoch(draw: Draw, version: int) -> Asked:
    request = OffsetForLeaderEpochRequest(
        replica_id=draw.weighted({-2: 40, -1: 40, 1: 10, 9: 10}),
        topics=[
            OffsetForLeaderTopic(
                topic=name,
                partitions=[
                    OffsetForLeaderPartition(
                        partition=partition(draw),
                        current_leader_epoch=draw.weighted({-1: 70, 0: 20, 3: 10}),
                        leader_epoch=draw.weighted({0: 80, -1: 10, 4: 10}),
                    )
                ],
            )
            for name in draw.topic_names()
        ],
    )
    return Asked(request)


def describe_producers(draw: Draw, version: int) -> Asked:
    topics = [
        TopicRequest(name=name, partition_indexes=draw.some([0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]
    return Asked(DescribeProducersRequest(topics=topics))
