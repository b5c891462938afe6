"""Transaction markers, written to each partition of a transaction at its end (KIP-98)."""

from functools import lru_cache
from typing import Protocol

from kafka_shim.protocol.records.batches import (
    prepend_offset,
    transaction_marker,
)
from kafka_shim.protocol.releases.facts import Facts
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.lazy_partition import GROUPS_TOPIC
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.topics import Partition, Topics
from kafka_shim.shim.state.transactions.transaction import Transaction, TransactionalIdState

COORDINATOR_EPOCH = 0
"""That of the leader of the transactional id's partition, which never changes here."""

_marker = lru_cache(maxsize=64)(transaction_marker)
"""The same for all partitions of a transaction."""


class _MarkerStores(Protocol):
    """What the markers of a transaction are written to."""

    topics: Topics
    clock: Clock
    facts: Facts

    @property
    def groups(self) -> Groups: ...


def write_end_markers(stores: _MarkerStores, transaction: Transaction) -> None:
    """Write the markers of `ended`, whose end is prepared; they have no effect where a newer epoch
    has written.
    """
    owner, commit = (
        (transaction.producer_id, transaction.epoch),
        transaction.state is TransactionalIdState.PREPARE_COMMIT,
    )
    now_ms = stores.clock.now_ms()
    for name, index in transaction.partitions:
        partition = stores.topics.led_partition(name, index)
        if partition is None or _has_newer_producer_epoch(partition, *owner):
            continue
        append_end_marker(
            partition,
            owner,
            commit=commit,
            coordinator_epoch=COORDINATOR_EPOCH,
            now_ms=now_ms,
            facts=stores.facts.records,
        )
        if name == GROUPS_TOPIC:
            stores.groups.settle_pending_offsets(transaction.producer_id, committed=commit)


def append_end_marker(
    partition: Partition,
    producer_id_and_epoch: tuple[int, int],
    *,
    commit: bool,
    coordinator_epoch: int,
    now_ms: int,
    facts: RecordFacts,
) -> None:
    """Append the control batch that ends a transaction of a producer (its id and epoch)."""
    log = partition.log
    offset = log.end_offset
    batch = _marker(
        producer_id_and_epoch, now_ms, commit=commit, coordinator_epoch=coordinator_epoch
    )
    payload = prepend_offset(batch, offset, partition.leader_epoch)
    # readers of committed records are woken by the append, and must find the transaction ended
    log.producers.note_transaction_marker(
        producer_id_and_epoch, coordinator_epoch, offset, now_ms, is_committed=commit
    )
    if facts.marker_replaces_last_producer_batch:
        log.producers.replace_last_batch_by_marker(producer_id_and_epoch[0], offset, now_ms)
    log.append_batch(StoredBatch(offset, offset, now_ms, payload), partition.leader_epoch)


def _has_newer_producer_epoch(partition: Partition, producer_id: int, epoch: int) -> bool:
    known = partition.log.producers.get_producer(producer_id)
    return known is not None and known.epoch > epoch
