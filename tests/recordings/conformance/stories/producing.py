"""Stories of idempotent and transactional producers, and of their consumers."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.telling import Move, Story, Teller
from tests.recordings.records.batches import TRANSACTIONAL, batch

BATCHES_SINCE = 3
UNBATCHED_UNTIL = 3
"""The last version of AddPartitionsToTxn for clients."""


def idempotent_producer(teller: Teller) -> Story:
    """Produce in sequence, a duplicate, with a gap, and after records were deleted."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    made = teller.label()
    init = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    yield Move(ApiKey.INIT_PRODUCER_ID, init, label=made)
    for sequence in draw.pick((0, 2, 2, 6), (0, 0, 2), (5, 0, 2, 4)):
        yield produced(teller, topic, made, sequence)
    yield fetched(topic)
    yield offsets(topic)
    if draw.has(ApiKey.DESCRIBE_PRODUCERS):
        asked = TopicRequest(name=topic, partition_indexes=[0])
        yield Move(ApiKey.DESCRIBE_PRODUCERS, DescribeProducersRequest(topics=[asked]))
    partition = DeleteRecordsPartition(partition_index=0, offset=draw.pick(1, -1, 99))
    topics = [DeleteRecordsTopic(name=topic, partitions=[partition])]
    yield Move(ApiKey.DELETE_RECORDS, DeleteRecordsRequest(topics=topics, timeout_ms=5000))
    yield fetched(topic)
    yield produced(teller, topic, made, 2)


def transactional_producer(teller: Teller) -> Story:
    """Commit or abort two transactions; the second has a new or the same epoch."""
    draw = teller.draw
    name = draw.pick(*draw.transactional_ids, draw.fresh("tx"))
    topic, other = draw.random.sample(draw.topics, 2)
    made = teller.label()
    init = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000)
    yield Move(ApiKey.INIT_PRODUCER_ID, init, label=made)
    yield from transaction(teller, name, made, (topic, other), 0)
    yield fetched(topic)
    if draw.chance(0.6):
        made = teller.label()
        yield Move(ApiKey.INIT_PRODUCER_ID, init, label=made)
        yield from transaction(teller, name, made, (topic, other), 0)
    else:
        yield from transaction(teller, name, made, (topic,), 2)
    yield offsets(topic)
    yield fetched(other)


def transaction(
    teller: Teller, name: str, made: str, topics: tuple[str, ...], sequence: int
) -> Story:
    draw = teller.draw
    producer = {"producer_id": f"{made}:producer_id", "producer_epoch": f"{made}:producer_epoch"}
    for topic in topics:
        if draw.chance(0.9):
            rows = [AddPartitionsToTxnTopic(name=topic, partitions=[0])]
            add = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=name, v3_and_below_topics=rows
            )
            takes = {f"v3_and_below_{key}": source for key, source in producer.items()}
            version = teller.version(ApiKey.ADD_PARTITIONS_TO_TXN, 0, UNBATCHED_UNTIL)
            yield Move(ApiKey.ADD_PARTITIONS_TO_TXN, add, takes, version=version)
        yield produced(teller, topic, made, sequence, name)
    yield offsets(topics[0])
    yield from _looks(teller, name)
    group = draw.pick(*draw.groups)
    if draw.chance(0.6):
        add_offsets = AddOffsetsToTxnRequest(transactional_id=name, group_id=group)
        yield Move(ApiKey.ADD_OFFSETS_TO_TXN, add_offsets, producer)
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=8)
        rows_of = [TxnOffsetCommitRequestTopic(name=topics[0], partitions=[partition])]
        commit = TxnOffsetCommitRequest(transactional_id=name, group_id=group, topics=rows_of)
        yield Move(ApiKey.TXN_OFFSET_COMMIT, commit, producer)
    end = EndTxnRequest(transactional_id=name, committed=draw.chance(0.6))
    version = teller.version(ApiKey.END_TXN, 0, 4)  # since version 5 it returns a new epoch
    yield Move(ApiKey.END_TXN, end, producer, version=version)
    if draw.chance(0.3):
        yield Move(ApiKey.END_TXN, end, producer, version=version)


def _looks(teller: Teller, name: str) -> Story:
    draw = teller.draw
    if draw.has(ApiKey.DESCRIBE_TRANSACTIONS) and draw.chance(0.7):
        describe = DescribeTransactionsRequest(transactional_ids=[name])
        yield Move(ApiKey.DESCRIBE_TRANSACTIONS, describe)
        yield Move(ApiKey.LIST_TRANSACTIONS, ListTransactionsRequest())


def produced(
    teller: Teller, topic: str, made: str, sequence: int, transactional_id: str | None = None
) -> Move:
    records = batch(
        [b"v1", b"v2"],
        producer=(-1, -1, sequence),
        attributes=TRANSACTIONAL if transactional_id else 0,
    )
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=5000,
        topic_data=[
            TopicProduceData(
                name=topic,
                topic_id=topic_id_of(topic),
                partition_data=[PartitionProduceData(index=0, records=records)],
            )
        ],
    )
    version = teller.version(ApiKey.PRODUCE, BATCHES_SINCE)
    takes = {"topic_data.0.partition_data.0.records": made}
    return Move(ApiKey.PRODUCE, request, takes, version=version)


def fetched(topic: str) -> Move:
    partitions = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20)
        for index in (0, 1)
    ]
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=1,
        topics=[FetchTopic(topic=topic, topic_id=topic_id_of(topic), partitions=partitions)],
    )
    return Move(ApiKey.FETCH, request)


def offsets(topic: str) -> Move:
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1, max_num_offsets=1)
    topics = [ListOffsetsTopic(name=topic, partitions=[partition])]
    request = ListOffsetsRequest(replica_id=-1, isolation_level=1, topics=topics)
    return Move(ApiKey.LIST_OFFSETS, request)
