"""Dead-letter queues of share groups (KIP-1191, 4.4): topics for records that a group gave up.

A record that is rejected or was delivered too often is written there, with headers for its origin,
and with key and value if the group is configured so. If the queue cannot be used, nothing is
written and no error is returned; a real broker logs it. The brokers' own principal needs WRITE on
the queue, and CREATE on it or the cluster to create it. DEVIATION: if brokers log in to each other,
both are allowed.
"""

from collections.abc import Callable, Mapping

import msgspec

from kafka_shim.authorizer.model import Action
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType
from kafka_shim.protocol.records.batches import (
    HEADER_BYTES,
    Record,
    assign_offsets,
    encode_batch,
    iterate_batches,
)
from kafka_shim.protocol.records.record_codec import Headers, write_records
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.share_partitions.share_state_values import SharePartitionKey
from kafka_shim.shim.state.topics import Partition, Topic, Topics, name_error

QUEUE = "errors.deadletterqueue.topic.name"
COPIES = "errors.deadletterqueue.copy.record.enable"
TAKES = "errors.deadletterqueue.group.enable"
PREFIX = "errors.deadletterqueue.topic.name.prefix"
MAKES = "errors.deadletterqueue.auto.create.topics.enable"
REJECTED = "Offset rejected by client."
WORN_OUT = "Offset delivery count exceeded the threshold."


class ArchivedRecords(msgspec.Struct, frozen=True):
    """Records `first` to `last`, archived after `count` deliveries, and the reason."""

    first_offset: int
    last_offset: int
    delivery_count: int
    reason: str


class DeadLetters:
    """Writes records to the dead-letter queues of all groups."""

    def __init__(
        self,
        topics: Topics,
        configs: Configs,
        clock: Clock,
        make_topic: Callable[[str, Mapping[str, str]], Topic],
        is_allowed: Callable[[Action], bool],
    ) -> None:
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._make_topic = make_topic
        self._is_allowed = is_allowed

    def write_to_queue(self, key: SharePartitionKey, given_up: ArchivedRecords) -> None:
        """Write one record per archived record, if the group has a usable queue."""
        group_id, topic_id, index = key
        settings = self._configs.groups.get(group_id, {})
        source = self._topics.by_id(topic_id)
        queue = self._get_or_create_queue_topic(settings.get(QUEUE, ""))
        if queue is None or source is None:
            return
        if not self._is_allowed(Action(Operation.WRITE, ResourceType.TOPIC, queue.name)):
            return
        originals: dict[int, Record] = {}
        if settings.get(COPIES) == "true":
            originals = _records_by_offset(
                source.partitions[index].log, given_up.first_offset, given_up.last_offset
            )
        partition = queue.partitions[index % len(queue.partitions)]
        bytes_max = int(
            self._configs.effective_topic_value(queue.configs, "max.message.bytes") or 0
        )
        now_ms = self._clock.now_ms()
        rows: list[Record] = []
        batch_bytes = HEADER_BYTES
        for offset in range(given_up.first_offset, given_up.last_offset + 1):
            original = originals.get(offset)
            row = Record(
                len(rows),
                now_ms,
                original.key if original is not None else None,
                original.value if original is not None else None,
                _origin_headers(source.name, index, offset, group_id, given_up),
            )
            if rows and batch_bytes + _single_record_batch_size(row) > bytes_max:
                _append_as_batch(partition, rows)
                row.offset, rows, batch_bytes = 0, [], HEADER_BYTES
            if batch_bytes + _single_record_batch_size(row) > bytes_max:
                return  # too large; the following records are not written either
            rows.append(row)
            batch_bytes += _single_record_batch_size(row)
        _append_as_batch(partition, rows)

    def _get_or_create_queue_topic(self, name: str) -> Topic | None:
        prefix = self._configs.effective_broker_value(PREFIX) or ""
        if not name or name.startswith("__") or not name.startswith(prefix):
            return None
        topic = self._topics.get(name)
        if topic is not None:
            return (
                topic
                if self._configs.effective_topic_value(topic.configs, TAKES) == "true"
                else None
            )
        is_possible = name_error(name) is None and not self._topics.names_colliding_in_metrics(name)
        if not (
            is_possible
            and self._configs.effective_broker_bool(MAKES)
            and self._is_allowed_to_create(name)
        ):
            return None
        return self._make_topic(name, {TAKES: "true", "message.timestamp.type": "CreateTime"})

    def _is_allowed_to_create(self, name: str) -> bool:
        return any(
            self._is_allowed(Action(Operation.CREATE, resource_type, resource_name))
            for resource_type, resource_name in (
                (ResourceType.CLUSTER, CLUSTER_NAME),
                (ResourceType.TOPIC, name),
            )
        )


def _single_record_batch_size(record: Record) -> int:
    """Return the size in bytes of a batch with only this record."""
    return len(write_records([record], 0, record.timestamp))


def _origin_headers(
    topic: str, index: int, offset: int, group_id: str, given_up: ArchivedRecords
) -> Headers:
    values = {
        "topic": topic,
        "partition": str(index),
        "offset": str(offset),
        "group": group_id,
        "delivery.count": str(given_up.delivery_count),
        "message": given_up.reason,
    }
    return tuple((f"__dlq.errors.{name}", text.encode()) for name, text in values.items())


def _records_by_offset(log: PartitionLog, first_offset: int, last_offset: int) -> dict[int, Record]:
    by_offset: dict[int, Record] = {}
    at = max(first_offset, log.start_offset)
    while at <= last_offset and (
        encoded_batches := log.read_batches(at, log.end_offset, 1, whole_first=True)
    ):
        (batch,) = iterate_batches(encoded_batches[0])
        for record in batch.records():
            if first_offset <= record.offset <= last_offset:
                by_offset[record.offset] = record
        at = batch.last_offset + 1
    return by_offset


def _append_as_batch(partition: Partition, records: list[Record]) -> None:
    if not records:
        return
    (batch,) = iterate_batches(encode_batch(records))
    log, epoch = partition.log, partition.leader_epoch
    payload = assign_offsets(batch, log.end_offset, partition_leader_epoch=epoch)
    last_offset = log.end_offset + len(records) - 1
    stored = StoredBatch(log.end_offset, last_offset, records[0].timestamp, payload)
    log.append_batch(stored, epoch)
