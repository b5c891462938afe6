"""Acknowledgements of a share group's member: all of a request are applied, or none."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages import share_acknowledge_request, share_fetch_request
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlight,
    InFlightBatch,
    InFlightBatches,
    Piece,
    RecordState,
)
from kafka_shim.shim.state.share_partitions.share_values import Deliveries

Acknowledgement = (
    share_fetch_request.AcknowledgementBatch | share_acknowledge_request.AcknowledgementBatch
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


class Acknowledged(Protocol):
    """The part of a share partition that acknowledgements need."""

    batches: InFlightBatches
    start_offset: int

    @property
    def renews(self) -> bool: ...
    def renew(self, held: InFlight) -> None: ...
    def leave(
        self, piece: Piece, state: RecordState, *, is_rejected: bool = False
    ) -> Deliveries: ...


class Acknowledging:
    """One member's acknowledgements in a request; `told` is for the share coordinator."""

    def __init__(self, partition: Acknowledged, member_id: str) -> None:
        self._partition = partition
        self._member_id = member_id
        self._before: list[tuple[InFlight, InFlight]] = []
        self.told: list[Deliveries] = []

    def take(self, given: Iterable[Acknowledgement]) -> ErrorCode:
        """Apply acknowledgements; return the first error, after which the caller must `undo`."""
        for acknowledgement in given:
            if acknowledgement.last_offset < self._partition.start_offset:
                continue  # already final
            error = self._take(acknowledgement)
            if error is not ErrorCode.NONE:
                return error
        return ErrorCode.NONE

    def undo(self) -> None:
        for held, before in self._before:
            held.state, held.member_id = before.state, before.member_id

    def _take(self, given: Acknowledgement) -> ErrorCode:
        batches, start = self._partition.batches, self._partition.start_offset
        first, last = given.first_offset, given.last_offset
        begin = batches.at_or_before(first)
        if begin is None and first < start:
            begin = batches.at_or_before(start)
        if begin is None:
            return ErrorCode.INVALID_RECORD_STATE
        meant = batches.beginning_in(begin.first, last)
        if not first <= meant[-1].last or last > meant[-1].last:
            return ErrorCode.INVALID_REQUEST
        for batch in meant:
            if batch.last >= start:
                error = self._take_of(batch, given)
                if error is not ErrorCode.NONE:
                    return error
        return ErrorCode.NONE

    def _take_of(self, batch: InFlightBatch, given: Acknowledgement) -> ErrorCode:
        """Acknowledge records of one batch; split it unless all get the same state."""
        start = self._partition.start_offset
        first, last = given.first_offset, given.last_offset
        if batch.whole is not None and not batch.whole.is_held_by(self._member_id):
            return ErrorCode.INVALID_RECORD_STATE
        is_mixed = len(given.acknowledge_types) > 1
        if is_mixed or batch.first < start or not batch.is_within(first, last):
            batch.split()
        for piece in batch.pieces(max(first, start), last):
            kind = _kind(given, piece)
            is_refused = kind == RENEW and not self._partition.renews
            if is_refused or not piece.held.is_held_by(self._member_id):
                return ErrorCode.INVALID_RECORD_STATE
            if kind == RENEW:
                self._partition.renew(piece.held)
                continue
            self._before.append((piece.held, msgspec.structs.replace(piece.held)))
            is_rejected = kind == REJECT
            self.told.append(self._partition.leave(piece, STATES[kind], is_rejected=is_rejected))
        return ErrorCode.NONE


def _kind(given: Acknowledgement, piece: Piece) -> int:
    types = given.acknowledge_types
    return types[piece.first - given.first_offset] if len(types) > 1 else types[0]
