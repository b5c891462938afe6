"""Transactions of the recording at a target of a release before 4.0 (KIP-890).

Since 4.0, brokers add partitions and groups to transactions by themselves, and give a new epoch at
the end. At an older target, the replay sends what older clients send: AddPartitionsToTxn and
AddOffsetsToTxn, and InitProducerId for a new epoch, with which the recorded sequences begin anew.
"""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.end_txn import EndTxnResponse
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.records.batches import only_batch_or_none
from kafka_shim.trace_format.entries import decode_response
from kafka_shim.traces.identities.id_mapping import IdMapping
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.replay_connection import ReplayConnection
from kafka_shim.traces.replay.target_cluster import TargetCluster

_IMPLICIT_SINCE: dict[int, int] = {
    ApiKey.PRODUCE: 12,
    ApiKey.TXN_OFFSET_COMMIT: 5,
    ApiKey.END_TXN: 5,
}
_VERSIONS_MAX: dict[int, int] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: 3, ApiKey.ADD_OFFSETS_TO_TXN: 3, ApiKey.INIT_PRODUCER_ID: 4,
}  # fmt: skip
"""Those of clients before 4.0."""
_TIMEOUT_MS = 60_000

_Producer = tuple[str, int, int]
"""Transactional id, producer id and epoch, as recorded."""


def needs_explicit_requests(api_key: int, recorded_version: int, version: int) -> bool:
    """Return whether the recorded broker did more than it does in a version of the target."""
    return version < _IMPLICIT_SINCE.get(api_key, 0) <= recorded_version


class OlderTransactions:
    """Sends the requests that the recorded clients did not need."""

    def __init__(self, cluster: TargetCluster, ids: IdMapping) -> None:
        self._cluster = cluster
        self._ids = ids
        self._added: dict[_Producer, set[object]] = {}

    def prepare(self, connection: ReplayConnection, event: Event, message: Any) -> None:
        """Add what a recorded Produce or TxnOffsetCommit is for to its transaction.

        Raise ConnectionLostError if a connection ends.
        """
        name = message.transactional_id
        if not name:
            return
        if hasattr(message, "group_id"):
            producer = name, message.producer_id, message.producer_epoch
            if self._add_part(producer, message.group_id):
                request: Any = AddOffsetsToTxnRequest(*producer, message.group_id)
                self._exchange(connection, event, ApiKey.ADD_OFFSETS_TO_TXN, request)
            return
        for topic in message.topic_data:
            for row in topic.partition_data:
                batch = only_batch_or_none(row.records or b"")
                if batch is None:
                    continue
                producer = name, batch.producer_id, batch.producer_epoch
                if self._add_part(producer, (topic.name, row.index)):
                    topics = [AddPartitionsToTxnTopic(topic.name, [row.index])]
                    request = AddPartitionsToTxnRequest([], *producer, topics)
                    self._exchange(connection, event, ApiKey.ADD_PARTITIONS_TO_TXN, request)

    def renew_epoch(
        self, connection: ReplayConnection, event: Event, message: Any, recorded: Any
    ) -> None:
        """Get the new epoch that the recorded broker gave in its response to an EndTxn.

        Raise ConnectionLostError if a connection ends.
        """
        if message is None or recorded is None or recorded.error_code or recorded.producer_id < 0:
            return
        producer = message.transactional_id, message.producer_id, message.producer_epoch
        self._added.pop(producer, None)
        request = InitProducerIdRequest(producer[0], _TIMEOUT_MS, *producer[1:])
        response = self._exchange(connection, event, ApiKey.INIT_PRODUCER_ID, request)
        if response is not None and not response.error_code:
            actual = EndTxnResponse(
                producer_id=response.producer_id, producer_epoch=response.producer_epoch
            )
            self._ids.learn(event.connection_id, message, recorded, actual)

    def _add_part(self, producer: _Producer, part: object) -> bool:
        added = self._added.setdefault(producer, set())
        is_new = part not in added
        added.add(part)
        return is_new

    def _exchange(
        self, connection: ReplayConnection, event: Event, api: ApiKey, request: Any
    ) -> Any:
        self._ids.put_target_ids(event.connection_id, request)
        highest = self._cluster.topology.versions.get(api, (0, _VERSIONS_MAX[api]))[1]
        header = RequestHeader(api, min(highest, _VERSIONS_MAX[api]), 0, "kafka-shim-replay")
        frame = self._cluster.exchange(connection, event, header, request)
        return decode_response(api, header.api_version, frame)
