"""Random requests of transactional and idempotent producers."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.recordings.conformance.draw import Asked, Draw, Made

FAKE_ID = 424_242
BATCHED_SINCE = 4
"""The first version of AddPartitionsToTxn with several transactions."""


def init_producer_id(draw: Draw, version: int) -> Asked:
    request = InitProducerIdRequest(
        transactional_id=None if draw.chance(0.4) else draw.transactional_id(),
        transaction_timeout_ms=draw.weighted({60_000: 94, 0: 3, 100_000_000: 3}),
        producer_id=-1,
        producer_epoch=-1,
    )
    if draw.chance(0.08):
        request.producer_id, request.producer_epoch = draw.pick((FAKE_ID, 0), (FAKE_ID, -1))
        return Asked(request)
    before = draw.earlier(ApiKey.INIT_PRODUCER_ID, share=0.2)
    if before is not None and before.request.transactional_id:
        request.transactional_id = before.request.transactional_id
        return Asked(request, _producer(before))
    return Asked(request)


def _producer(made: Made | None, prefix: str = "", fields: str = "") -> dict[str, str]:
    if made is None:
        return {}
    return {
        f"{prefix}{fields}producer_id": f"{made.label}:producer_id",
        f"{prefix}{fields}producer_epoch": f"{made.label}:producer_epoch",
    }


def _transaction(draw: Draw) -> tuple[str, Made | None]:
    """Return a transactional id, and the step that initialised its producer, if any."""
    made = draw.earlier(ApiKey.INIT_PRODUCER_ID, share=0.85)
    if made is None or made.request.transactional_id is None:
        return draw.transactional_id(), None
    return made.request.transactional_id, made


def _topics(draw: Draw) -> list[AddPartitionsToTxnTopic]:
    return [
        AddPartitionsToTxnTopic(name=name, partitions=draw.some([0, 0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]


def add_partitions_to_txn(draw: Draw, version: int) -> Asked:
    name, made = _transaction(draw)
    if version < BATCHED_SINCE:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=FAKE_ID,
            v3_and_below_producer_epoch=0,
            v3_and_below_topics=_topics(draw),
        )
        return Asked(request, _producer(made, fields="v3_and_below_"))
    transactions = [
        AddPartitionsToTxnTransaction(
            transactional_id=transactional_id,
            producer_id=FAKE_ID,
            producer_epoch=0,
            verify_only=draw.chance(0.4),
            topics=_topics(draw),
        )
        for transactional_id in [name, draw.transactional_id()][: draw.number(1, 2)]
    ]
    return Asked(
        AddPartitionsToTxnRequest(transactions=transactions), _producer(made, "transactions.0.")
    )


def add_offsets_to_txn(draw: Draw, version: int) -> Asked:
    name, made = _transaction(draw)
    request = AddOffsetsToTxnRequest(
        transactional_id=name, producer_id=FAKE_ID, producer_epoch=0, group_id=draw.group()
    )
    return Asked(request, _producer(made))


def end_txn(draw: Draw, version: int) -> Asked:
    name, made = _transaction(draw)
    request = EndTxnRequest(
        transactional_id=name, producer_id=FAKE_ID, producer_epoch=0, committed=draw.chance(0.6)
    )
    return Asked(request, _producer(made))


def txn_offset_commit(draw: Draw, version: int) -> Asked:
    name, made = _transaction(draw)
    topics = [
        TxnOffsetCommitRequestTopic(
            name=topic,
            topic_id=draw.topic_id(topic),
            partitions=[
                TxnOffsetCommitRequestPartition(
                    partition_index=draw.weighted({0: 80, 1: 12, 7: 8}),
                    committed_offset=draw.number(0, 4),
                    committed_metadata=draw.pick(None, "t"),
                )
            ],
        )
        for topic in draw.topic_names()
    ]
    request = TxnOffsetCommitRequest(
        transactional_id=name,
        group_id=draw.group(),
        producer_id=FAKE_ID,
        producer_epoch=0,
        generation_id_or_member_epoch=draw.weighted({-1: 90, 3: 10}),
        member_id=draw.weighted({"": 90, "nobody": 10}),
        topics=topics,
    )
    return Asked(request, _producer(made))


def write_txn_markers(draw: Draw, version: int) -> Asked:
    markers = [
        WritableTxnMarker(
            producer_id=FAKE_ID + draw.number(0, 1),
            producer_epoch=0,
            transaction_result=draw.chance(0.5),
            topics=[
                WritableTxnMarkerTopic(name=name, partition_indexes=draw.some([0, 1, 7], 1, 2))
                for name in draw.some([*draw.topics, *draw.ghosts], 1, 2)
            ],
            coordinator_epoch=0,
        )
        for _ in range(draw.number(0, 2))
    ]
    return Asked(WriteTxnMarkersRequest(markers=markers))


def describe_transactions(draw: Draw, version: int) -> Asked:
    names = [*draw.transactional_ids, f"{draw.prefix}-tx-none", draw.transactional_id()]
    return Asked(DescribeTransactionsRequest(transactional_ids=draw.some(names, 1, 3)))


def list_transactions(draw: Draw, version: int) -> Asked:
    request = ListTransactionsRequest(
        state_filters=draw.pick([], [], ["Ongoing"], ["Empty", "nonsense"]),
        producer_id_filters=draw.pick([], [], [FAKE_ID]),
        duration_filter=draw.pick(-1, -1, 0, 1_000_000),
        transactional_id_pattern=draw.pick(None, None, "", f"{draw.prefix}-tx", ".*tx2", "("),
    )
    return Asked(request)
