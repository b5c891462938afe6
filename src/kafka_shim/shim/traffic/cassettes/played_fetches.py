"""Responses to Fetch, without sessions: clients then name all partitions each time.

A client gets the recorded batches, once the records in them were sent.
"""

from typing import Any

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.shim.traffic.cassettes.index_tables import FetchedPartition
from kafka_shim.shim.traffic.cassettes.matching import Principal
from kafka_shim.shim.traffic.cassettes.mismatches import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.record_content import complete_batch_ranges
from kafka_shim.shim.traffic.cassettes.touched_state import TRANSACTIONS
from kafka_shim.shim.traffic.identities.message_fields import topic_partitions

_LASTING_ERRORS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.OFFSET_OUT_OF_RANGE,
    }
)
"""Errors that a client gets until something is changed; others were gone by themselves."""


def fetch_response(
    state: PlaybackState, request: Any, principal: Principal, *, is_last: bool
) -> FetchResponse | None:
    """Return the response; None if there are no records so far, unless `is_last`.

    Raise MismatchError for a topic that the principal never fetched.
    """
    response = FetchResponse()
    has_content = is_last
    for topic in request.topics:
        topic_row = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
        response.responses.append(topic_row)
        for name, row in topic_partitions([topic], state.index.topic_names, "partitions"):
            fetched = _FetchedOffset(state, name, row.partition, row.fetch_offset, principal)
            data = fetched.records_error_or_empty_row()
            has_content |= bool(data.records or data.error_code)
            topic_row.partitions.append(data)
    return response if has_content else None


class _FetchedOffset:
    """The offset of a partition from which a client fetches."""

    def __init__(
        self, state: PlaybackState, topic: str, partition: int, offset: int, principal: Principal
    ) -> None:
        self._state = state
        self._index = state.index
        self._place = topic, partition
        self._offset = offset
        self._principal = principal

    def records_error_or_empty_row(self) -> PartitionData:
        """Return what the recording has now. Raise MismatchError if the topic was not fetched."""
        error = self._error_applying_now()
        for row in self._index.fetched_reaching_offset(*self._place, self._offset):
            if self._is_by_other_principal(row) or self._is_superseded(row, error):
                continue
            data = self._available_records(row)
            if data is not None:
                return data
        if error is not None:
            self._state.set_played(error.request_id)
            return self._recorded_row(error)
        return self._empty_row()

    def _is_by_other_principal(self, row: FetchedPartition) -> bool:
        return self._principal not in (None, row.principal)

    def _error_applying_now(self) -> FetchedPartition | None:
        """Return the recorded error that applies now: a lasting one, or one not sent so far."""
        latest: FetchedPartition | None = None
        for row in self._index.fetched_errors(*self._place):
            is_other_offset = (
                row.error == ErrorCode.OFFSET_OUT_OF_RANGE and row.fetch_offset != self._offset
            )
            if (
                is_other_offset
                or self._is_by_other_principal(row)
                or not self._state.has_received_preceding_changes(row.state)
            ):
                continue
            if not self._state.is_played(row.request_id):
                return row
            if self._state.is_current(row.state):
                latest = row
        return latest if latest is not None and latest.error in _LASTING_ERRORS else None

    def _is_superseded(self, row: FetchedPartition, error: FetchedPartition | None) -> bool:
        """Return whether the error was recorded before the records and not sent so far, or after
        a change that came after them.
        """
        if error is None:
            return False
        before, now = sum(row.state.values()), sum(error.state.values())
        if before != now:
            return before < now
        return error.id < row.id and not self._state.is_played(error.request_id)

    def _available_records(self, row: FetchedPartition) -> PartitionData | None:
        """Return the batches from the offset on whose records were sent; None without any."""
        if row.transactions and not (
            self._state.has_received_preceding_changes(row.state | {TRANSACTIONS: row.transactions})
        ):
            return None
        recorded = self._recorded_row(row)
        blob = recorded.records or b""
        end_offset, chunks = -1, []
        for batch in complete_batch_ranges(blob):
            if batch.last_offset < self._offset:
                continue
            offsets = batch.first_offset, batch.last_offset
            produced = self._index.record_ids_at_offsets(*self._place, *offsets)
            if not all(map(self._state.is_played, produced)):
                break
            chunks.append(blob[batch.start : batch.end])
            end_offset = batch.last_offset + 1
        if not chunks:
            return None
        is_complete = end_offset > row.last_offset
        high_watermark = recorded.high_watermark if is_complete else end_offset
        return msgspec.structs.replace(
            recorded,
            records=b"".join(chunks),
            high_watermark=high_watermark,
            last_stable_offset=min(recorded.last_stable_offset, high_watermark),
        )

    def _empty_row(self) -> PartitionData:
        """Return a row without records, at the end of what is there so far."""
        last = self._index.last_fetched_without_error(*self._place, self._principal)
        topic, partition = self._place
        if last is None and not self._index.has_fetched(topic, self._principal):
            reason = f"{topic}-{partition}: {self._principal} never fetched this topic"
            raise MismatchError("content", reason)
        template = PartitionData(log_start_offset=0) if last is None else self._recorded_row(last)
        return msgspec.structs.replace(
            template,
            partition_index=partition,
            records=b"",
            high_watermark=self._offset,
            last_stable_offset=self._offset,
            aborted_transactions=[],
        )

    def _recorded_row(self, row: FetchedPartition) -> PartitionData:
        data = self._index.fetched_partition(row)
        assert isinstance(data, PartitionData)
        return data
