"""Topics with their records, and transactions."""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

import msgspec

from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.logs.partition_producers import AbortedTransaction
from kafka_shim.shim.state.topics import NOBODY, Topic, Topics
from kafka_shim.shim.state.transactions.transaction import Transaction, TransactionalIdState
from kafka_shim.shim.storage.persisted_log import (
    ABORTED,
    PRODUCER,
    LogRow,
    PersistedLog,
    ProducerRow,
    StoredLogRows,
)
from kafka_shim.shim.storage.settings_rows import (
    PRODUCER_ID_BLOCK,
    PRODUCER_IDS,
    Kept,
    as_json_text,
)


class PartitionRow(msgspec.Struct, omit_defaults=True):
    """A partition; `log` is the number of its log."""

    log: int
    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int
    eligible: list[int] = []
    last_known: list[int] = []


class TopicRow(msgspec.Struct):
    """A topic with its own settings."""

    topic_id: bytes
    configs: dict[str, str]
    partitions: list[PartitionRow]


class TransactionRow(msgspec.Struct):
    """A transactional id; times are milliseconds."""

    producer_id: int
    epoch: int
    last_producer_id: int
    last_epoch: int
    timeout_ms: int
    state: str
    partitions: list[tuple[str, int]]
    started_ms: int
    updated_ms: int


def topic_row_json(topic: Topic | None) -> str | None:
    """Return the row of a topic; None if it does not exist."""
    if topic is None:
        return None
    partitions = [
        PartitionRow(
            partition.log.number,
            partition.replicas,
            partition.isr,
            partition.leader_id,
            partition.leader_epoch,
            partition.eligible,
            partition.last_known,
        )
        for partition in topic.partitions
        if isinstance(partition.log, PersistedLog)
    ]
    configs = {**topic.configs, **dict.fromkeys(topic.unreadable, "")}
    return as_json_text(TopicRow(topic.topic_id, configs, partitions))


def restore_topics(
    cluster: Cluster,
    rows: Mapping[str, Kept],
    batches: Iterable[tuple[int, int, int, bytes]],
) -> None:
    """Restore topics in the order of their creation, with their logs."""
    found = {
        name: msgspec.json.decode(value, type=TopicRow)
        for name, value in rows.get("topic", {}).items()
    }
    logs: dict[int, PersistedLog] = {}
    for name, row in sorted(found.items(), key=lambda item: item[1].partitions[0].log):
        _restore_topic(cluster, name, row, logs)
    log_rows = _decode_log_rows(rows)
    held = _group_batches_by_log(batches)
    filled = set[int]()
    for number, of_log in held:
        if number in logs:
            logs[number].restore(log_rows.get(number, StoredLogRows()), of_log)
            filled.add(number)
    for number in logs.keys() - filled:
        logs[number].restore(log_rows.get(number, StoredLogRows()), [])


def advance_leader_epochs(topics: Topics) -> None:
    """Start a new leader epoch in every partition, since its broker was restarted.

    The epoch grows by two, as in 4.3.1 after each restart (in 3.9.1, a kill does not change it).
    """
    for topic in topics:
        for partition in topic.partitions:
            leader_id = partition.leader_id
            if leader_id != NOBODY:
                topics.elect_leader(partition, NOBODY)
                topics.elect_leader(partition, leader_id)


def _restore_topic(
    cluster: Cluster, name: str, row: TopicRow, logs: dict[int, PersistedLog]
) -> None:
    replicas = [partition.replicas for partition in row.partitions]
    topic = cluster.topics.create_topic(name, replicas, row.configs, topic_id=row.topic_id)
    for partition, kept in zip(topic.partitions, row.partitions, strict=True):
        partition.isr = kept.isr
        partition.eligible, partition.last_known = kept.eligible, kept.last_known
        partition.leader_id, partition.leader_epoch = kept.leader, kept.leader_epoch
        assert isinstance(partition.log, PersistedLog)
        partition.log.number = kept.log
        logs[kept.log] = partition.log


def _decode_log_rows(rows: Mapping[str, Kept]) -> dict[int, StoredLogRows]:
    log_rows: dict[int, StoredLogRows] = {}
    for key, value in rows.get("log", {}).items():
        row = msgspec.json.decode(value, type=LogRow)
        log_rows.setdefault(int(key), StoredLogRows()).log = row
    for key, value in rows.get(PRODUCER, {}).items():
        number, producer_id = map(int, key.split("/"))
        producer = msgspec.json.decode(value, type=ProducerRow)
        log_rows.setdefault(number, StoredLogRows()).producers[producer_id] = producer
    for key, value in rows.get(ABORTED, {}).items():
        transaction = msgspec.json.decode(value, type=AbortedTransaction)
        log_rows.setdefault(int(key.split("/")[0]), StoredLogRows()).aborted.append(transaction)
    for log in log_rows.values():
        log.aborted.sort(key=attrgetter("last_offset"))
    return log_rows


def _group_batches_by_log(
    batches: Iterable[tuple[int, int, int, bytes]],
) -> Iterator[tuple[int, list[tuple[int, bool, bytes]]]]:
    number, found = -1, list[tuple[int, bool, bytes]]()
    for log, offset, is_clean, payload in batches:
        if log != number:
            if found:
                yield number, found
            number, found = log, []
        found.append((offset, bool(is_clean), payload))
    if found:
        yield number, found


def transaction_row_json(cluster: Cluster, transactional_id: str) -> str | None:
    """Return the row of a transactional id; None if it has no state."""
    found = cluster.transactions.get_for_reading(transactional_id)
    if found is None:
        return None
    return as_json_text(
        TransactionRow(
            found.producer_id,
            found.epoch,
            found.last_producer_id,
            found.last_epoch,
            found.timeout_ms,
            found.state.value,
            list(found.partitions),
            found.started_ms,
            found.updated_ms,
        )
    )


def restore_transactions(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    """Restore transactional ids; the next producer ids are from another block."""
    for transactional_id, value in rows.get("transaction", {}).items():
        row = msgspec.json.decode(value, type=TransactionRow)
        found = Transaction(transactional_id, row.producer_id, row.updated_ms)
        found.epoch, found.last_epoch = row.epoch, row.last_epoch
        found.last_producer_id, found.timeout_ms = row.last_producer_id, row.timeout_ms
        found.state, found.started_ms = TransactionalIdState(row.state), row.started_ms
        found.partitions = dict.fromkeys(row.partitions)
        cluster.transactions.restore_transaction(found)
    used = int(rows.get("meta", {}).get(PRODUCER_IDS, "0"))
    blocks = -(-used // PRODUCER_ID_BLOCK)
    cluster.transactions.next_producer_id = blocks * PRODUCER_ID_BLOCK
