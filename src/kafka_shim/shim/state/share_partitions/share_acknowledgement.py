"""Acknowledgements of a share group's member: all of a request are applied, or none."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages import (
    share_acknowledge as share_acknowledge_messages,
    share_fetch as share_fetch_messages,
)
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlightBatch,
    InFlightBatches,
    InFlightState,
    RecordState,
    SameStateRecords,
)
from kafka_shim.shim.state.share_partitions.share_state_values import DeliveryBatch

Acknowledgement = (
    share_fetch_messages.AcknowledgementBatch | share_acknowledge_messages.AcknowledgementBatch
)

REJECT = 3
RENEW = 4
STATES = {
    0: RecordState.ARCHIVED,  # a gap: there is no such record for consumers
    1: RecordState.ACKNOWLEDGED,
    2: RecordState.AVAILABLE,
    REJECT: RecordState.ARCHIVED,
}
"""The state of a record after each acknowledge type."""


class AcknowledgeablePartition(Protocol):
    """The part of a share partition that acknowledgements need."""

    batches: InFlightBatches
    start_offset: int

    @property
    def allows_lock_renewal(self) -> bool: ...
    def renew_lock(self, in_flight_state: InFlightState) -> None: ...
    def end_lock(
        self, records: SameStateRecords, new_state: RecordState, *, is_rejected: bool = False
    ) -> DeliveryBatch: ...


class UndoableAcknowledgements:
    """One member's acknowledgements in a request; `changed_batches` are for the share
    coordinator.
    """

    def __init__(self, partition: AcknowledgeablePartition, member_id: str) -> None:
        self._partition = partition
        self._member_id = member_id
        self._states_before: list[tuple[InFlightState, InFlightState]] = []
        self.changed_batches: list[DeliveryBatch] = []

    def apply(self, acknowledgements: Iterable[Acknowledgement]) -> ErrorCode:
        """Apply acknowledgements, and return the first error, after which the caller must call
        `undo_applied`.
        """
        for acknowledgement in acknowledgements:
            if acknowledgement.last_offset < self._partition.start_offset:
                continue  # already final
            error = self._apply(acknowledgement)
            if error is not NO_ERROR:
                return error
        return NO_ERROR

    def undo_applied(self) -> None:
        for held, before in self._states_before:
            held.state, held.member_id = before.state, before.member_id

    def _apply(self, acknowledgement: Acknowledgement) -> ErrorCode:
        batches, start = self._partition.batches, self._partition.start_offset
        first, last = acknowledgement.first_offset, acknowledgement.last_offset
        begin = batches.last_batch_starting_by(first)
        if begin is None and first < start:
            begin = batches.last_batch_starting_by(start)
        if begin is None:
            return ErrorCode.INVALID_RECORD_STATE
        acknowledged_batches = batches.batches_starting_between(begin.first_offset, last)
        if (
            not first <= acknowledged_batches[-1].last_offset
            or last > acknowledged_batches[-1].last_offset
        ):
            return ErrorCode.INVALID_REQUEST
        for batch in acknowledged_batches:
            if batch.last_offset >= start:
                error = self._apply_to_batch(batch, acknowledgement)
                if error is not NO_ERROR:
                    return error
        return NO_ERROR

    def _apply_to_batch(self, batch: InFlightBatch, acknowledgement: Acknowledgement) -> ErrorCode:
        """Acknowledge records of one batch; split it unless all get the same state."""
        start = self._partition.start_offset
        first, last = acknowledgement.first_offset, acknowledgement.last_offset
        if batch.common_state is not None and not batch.common_state.is_acquired_by(
            self._member_id
        ):
            return ErrorCode.INVALID_RECORD_STATE
        is_mixed = len(acknowledgement.acknowledge_types) > 1
        if is_mixed or batch.first_offset < start or not batch.is_within_offsets(first, last):
            batch.split_into_records()
        for records in batch.acknowledgeable_ranges(max(first, start), last):
            acknowledge_type = _acknowledge_type(acknowledgement, records)
            is_refused = acknowledge_type == RENEW and not self._partition.allows_lock_renewal
            if is_refused or not records.in_flight_state.is_acquired_by(self._member_id):
                return ErrorCode.INVALID_RECORD_STATE
            if acknowledge_type == RENEW:
                self._partition.renew_lock(records.in_flight_state)
                continue
            self._states_before.append(
                (records.in_flight_state, msgspec.structs.replace(records.in_flight_state))
            )
            is_rejected = acknowledge_type == REJECT
            self.changed_batches.append(
                self._partition.end_lock(records, STATES[acknowledge_type], is_rejected=is_rejected)
            )
        return NO_ERROR


def _acknowledge_type(acknowledgement: Acknowledgement, records: SameStateRecords) -> int:
    types = acknowledgement.acknowledge_types
    return (
        types[records.first_offset - acknowledgement.first_offset] if len(types) > 1 else types[0]
    )
