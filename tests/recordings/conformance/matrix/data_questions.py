"""Questions for rows about records, transactions and groups."""

import base64
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.conformance.matrix.question import Asker, Asking, Names, Question
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.records.batches import TRANSACTIONAL, batch

ROOT: Final = "anonymous"
PRODUCER: Final = {"producer_id": "pid:producer_id", "producer_epoch": "pid:producer_epoch"}
MEMBER: Final = {"member_id": "join:member_id", "generation_id": "join:generation_id"}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _id(name: str) -> str:
    return _text(topic_id_of(name))


def _records(attributes: int = 0, producer: tuple[int, int, int] = (-1, -1, -1)) -> str:
    return _text(batch([b"v"], attributes=attributes, producer=producer))


def _produce(names: Names, records: str, **more: Any) -> Question:
    rows = [{"index": 0, "records": records}]
    topic = {"name": names.topic, "topic_id": _id(names.topic), "partition_data": rows}
    return Question({"acks": 1, "timeout_ms": 5000, "topic_data": [topic]} | more)


def _produce_transactional(names: Names) -> Question:
    records = _records(TRANSACTIONAL, (424_242, 0, 0))
    return _produce(names, records, transactional_id=names.transactional_id)


def _fetch(names: Names, replica_id: int) -> Question:
    partition = {"partition": 0, "partition_max_bytes": 1 << 20}
    topic = {"topic": names.topic, "topic_id": _id(names.topic), "partitions": [partition]}
    follower = {"replica_id": replica_id, "replica_state": {"replica_id": replica_id}}
    return Question({"max_bytes": 1 << 20, "topics": [topic]} | follower)


def _metadata(names: list[str] | None, *, create: bool = False) -> Question:
    rows = None if names is None else [{"name": name} for name in names]
    return Question(
        {
            "topics": rows,
            "allow_auto_topic_creation": create,
            "include_cluster_authorized_operations": True,
            "include_topic_authorized_operations": True,
        }
    )


def _commit(names: Names) -> Question:
    partition = {"partition_index": 0, "committed_offset": 1}
    topic = {"name": names.topic, "topic_id": _id(names.topic), "partitions": [partition]}
    return Question({"group_id": names.empty_group, "topics": [topic]})


def _offset_fetch(names: Names, *, named: bool) -> Question:
    row = {"name": names.topic, "topic_id": _id(names.topic), "partition_indexes": [0]}
    old = {"name": names.topic, "partition_indexes": [0]}
    groups = [{"group_id": names.group, "topics": [row] if named else None}]
    return Question({"group_id": names.group, "topics": [old] if named else None, "groups": groups})


def _coordinator(kind: int, key: str) -> Question:
    return Question({"key": key, "key_type": kind, "coordinator_keys": [key]})


def _join(names: Names) -> dict[str, Any]:
    return {
        "group_id": names.empty_group,
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 30_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": ""}],
    }


def _joined(names: Names, request: dict[str, Any]) -> Question:
    before = [Asking(ApiKey.JOIN_GROUP, _join(names), {}, "join", ROOT, 3)]
    return Question({"group_id": names.empty_group} | request, before, MEMBER)


def _leave(names: Names) -> Question:
    before = [Asking(ApiKey.JOIN_GROUP, _join(names), {}, "join", ROOT, 3)]
    request = {"group_id": names.empty_group, "members": [{}]}
    takes = {"member_id": MEMBER["member_id"], "members.0.member_id": MEMBER["member_id"]}
    return Question(request, before, takes)


def _begin(names: Names) -> Asking:
    request = {"transactional_id": names.transactional_id, "transaction_timeout_ms": 60_000}
    return Asking(ApiKey.INIT_PRODUCER_ID, request, {}, "pid", ROOT)


def _adding(names: Names) -> Asking:
    request = {
        "v3_and_below_transactional_id": names.transactional_id,
        "v3_and_below_topics": [{"name": names.topic, "partitions": [0]}],
    }
    takes = {f"v3_and_below_{key}": source for key, source in PRODUCER.items()}
    return Asking(ApiKey.ADD_PARTITIONS_TO_TXN, request, takes, "", ROOT, 3)


def _transactional(names: Names, request: dict[str, Any], *, started: bool = False) -> Question:
    before = [_begin(names), *([_adding(names)] if started else [])]
    return Question({"transactional_id": names.transactional_id} | request, before, PRODUCER)


def _add_partitions(names: Names) -> Question:
    added = _adding(names)
    return Question(added.request, [_begin(names)], added.takes)


def _add_partitions_batched(names: Names) -> Question:
    row = {
        "transactional_id": names.transactional_id,
        "verify_only": True,
        "topics": [{"name": names.topic, "partitions": [0]}],
    }
    takes = {f"transactions.0.{key}": source for key, source in PRODUCER.items()}
    return Question({"transactions": [row]}, [_begin(names), _adding(names)], takes)


def _markers(names: Names) -> Question:
    topics = [{"name": names.topic, "partition_indexes": [0]}]
    return Question({"markers": [{"producer_id": 424_242, "topics": topics}]})


def _txn_offset_commit(names: Names) -> Question:
    topic = {"name": names.topic, "partitions": [{"partition_index": 0, "committed_offset": 1}]}
    question = _transactional(names, {"group_id": names.group, "topics": [topic]})
    offsets = {"transactional_id": names.transactional_id, "group_id": names.group}
    added = Asking(ApiKey.ADD_OFFSETS_TO_TXN, offsets, PRODUCER, "", ROOT)
    return question._replace(before=[*question.before, added])


def _list_offsets(names: Names) -> Question:
    partition = {"partition_index": 0, "timestamp": -1, "max_num_offsets": 1}
    return Question(
        {"replica_id": -1, "topics": [{"name": names.topic, "partitions": [partition]}]}
    )


def _offset_delete(names: Names) -> Question:
    topic = {"name": names.topic, "partitions": [{"partition_index": 0}]}
    return Question({"group_id": names.group, "topics": [topic]})


def _looking(names: Names) -> Question:
    request = {"transactional_ids": [names.transactional_id]}
    return Question(request, [_begin(names), _adding(names)])


DATA: Final[dict[str, Asker]] = {
    "Produce.transactional_id": _produce_transactional,
    "Produce.idempotent": lambda names: _produce(names, _records(0, (424_242, 0, 0))),
    "Produce.topic": lambda names: _produce(names, _records()),
    "Fetch.follower": lambda names: _fetch(names, 1),
    "Fetch.topic": lambda names: _fetch(names, -1),
    "ListOffsets.topic": _list_offsets,
    "Metadata.topic": lambda names: _metadata([names.topic]),
    "Metadata.all_topics": lambda names: _metadata(None),
    "Metadata.auto_create": lambda names: _metadata([names.missing_topic], create=True),
    "Metadata.cluster_operations": lambda names: _metadata([]),
    "OffsetCommit.group": _commit,
    "OffsetCommit.topic": _commit,
    "OffsetFetch.group": lambda names: _offset_fetch(names, named=True),
    "OffsetFetch.topic": lambda names: _offset_fetch(names, named=True),
    "OffsetFetch.all_topics": lambda names: _offset_fetch(names, named=False),
    "FindCoordinator.group": lambda names: _coordinator(0, names.group),
    "FindCoordinator.transaction": lambda names: _coordinator(1, names.transactional_id),
    "FindCoordinator.share": lambda names: _coordinator(
        2, f"{names.group}:AAAAAAAAAAAAAAAAAAAAAQ:0"
    ),
    "JoinGroup.group": lambda names: Question(_join(names)),
    "Heartbeat.group": lambda names: _joined(names, {}),
    "LeaveGroup.group": _leave,
    "SyncGroup.group": lambda names: _joined(
        names, {"protocol_type": "consumer", "protocol_name": "range"}
    ),
    "DescribeGroups.group": lambda names: Question(
        {"groups": [names.group], "include_authorized_operations": True}
    ),
    "ListGroups.group": lambda names: Question({}),
    "DeleteGroups.group": lambda names: Question({"groups_names": [names.group]}),
    "OffsetDelete.group": _offset_delete,
    "OffsetDelete.topic": _offset_delete,
    "DeleteRecords.topic": lambda names: Question(
        {"topics": [{"name": names.topic, "partitions": [{"offset": 0}]}], "timeout_ms": 5000}
    ),
    "OffsetForLeaderEpoch.topic": lambda names: Question(
        {"replica_id": -1, "topics": [{"topic": names.topic, "partitions": [{}]}]}
    ),
    "DescribeProducers.topic": lambda names: Question(
        {"topics": [{"name": names.topic, "partition_indexes": [0]}]}
    ),
    "InitProducerId.transactional_id": lambda names: Question(dict(_begin(names).request)),
    "InitProducerId.two_phase_commit": lambda names: Question(
        dict(_begin(names).request) | {"enable2_pc": True}
    ),
    "InitProducerId.idempotent": lambda names: Question(
        {"transactional_id": None, "transaction_timeout_ms": 60_000}
    ),
    "AddPartitionsToTxn.transactional_id": _add_partitions,
    "AddPartitionsToTxn.topic": _add_partitions,
    "AddPartitionsToTxn.cluster": _add_partitions_batched,
    "AddOffsetsToTxn.transactional_id": lambda names: _transactional(
        names, {"group_id": names.group}
    ),
    "AddOffsetsToTxn.group": lambda names: _transactional(names, {"group_id": names.group}),
    "EndTxn.transactional_id": lambda names: _transactional(
        names, {"committed": True}, started=True
    ),
    "WriteTxnMarkers.cluster": _markers,
    "TxnOffsetCommit.transactional_id": _txn_offset_commit,
    "TxnOffsetCommit.group": _txn_offset_commit,
    "TxnOffsetCommit.topic": _txn_offset_commit,
    "DescribeTransactions.transactional_id": _looking,
    "DescribeTransactions.topic": _looking,
    "ListTransactions.transactional_id": lambda names: Question(
        {}, [_begin(names), _adding(names)]
    ),
}
"""Questions by the row's id."""
