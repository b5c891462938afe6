"""Responses to Produce and Fetch, record by record: clients batch records by time.

A record that a client sends is found by key, value and headers, and gets its recorded offset. A
Fetch gets the recorded batches, once the records in them were sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.shim.traffic.cassettes.partition_index import (
    FetchedPartition,
    ProducedRecord,
    complete_batch_ranges,
)
from kafka_shim.shim.traffic.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.shim.traffic.cassettes.request_content import (
    ADMIN,
    RecordContent,
    digest_of_record,
    records_in_complete_batches,
    state_name_of_topic_records,
    topic_partitions,
)
from kafka_shim.shim.traffic.cassettes.request_differences import FieldDifference, value_text
from kafka_shim.shim.traffic.cassettes.trace_index import Interaction

NEAREST_RECORDS_MAX = 1_000
Principal = str | None
"""None if the client is unknown, and may be any of the recorded ones."""


class PartitionMismatchError(Exception):
    """A record or partition that the recording does not have; `nearest` is the nearest one."""

    def __init__(
        self,
        kind: str,
        reason: str,
        *,
        nearest: Interaction | None = None,
        difference: FieldDifference | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.nearest = nearest
        self.difference = difference


class SentRecord(NamedTuple):
    """A record of a client's request, and where it is there."""

    topic: str
    partition: int
    number: int
    content: RecordContent

    @property
    def name(self) -> str:
        return f"record {self.number} of {self.topic}-{self.partition}"


class PlayedProducer:
    """Responds to Produce requests."""

    def __init__(self, state: PlaybackState) -> None:
        self._state = state
        self._index = state.index
        self._records = state.index.partitions

    def respond(self, request: Any, principal: Principal) -> ProduceResponse:
        """Return the response. Raise PartitionMismatchError if a record was not recorded."""
        topics: list[TopicProduceResponse] = []
        matches: list[ProducedRecord] = []
        for topic in request.topic_data:
            row = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
            topics.append(row)
            for name, _, partition in topic_partitions(
                [topic], self._index.topic_names, "partition_data"
            ):
                records = self._match_records(name, partition, principal, matches)
                row.partition_responses.append(self.partition_response(partition, records))
        self.mark_records_played(matches)
        return ProduceResponse(responses=topics)

    @property
    def topic_names(self) -> Mapping[bytes, str]:
        """The names of topic ids."""
        return self._index.topic_names

    def mark_records_played(self, matches: Sequence[ProducedRecord]) -> None:
        """Note that these records were sent."""
        for match in matches:
            changes = {state_name_of_topic_records(match.topic): 1}
            self._state.mark_record_played(match.id)
            content = match.topic.encode() + match.content
            self._state.skip_played(content, [match.id], is_record=True)
            self._state.mark_played_and_count_changes(match.interaction, changes)

    def sent_records(self, topic: str, partition: Any) -> Iterator[SentRecord]:
        """Yield the records of a partition, masked. Raise ProtocolError if they cannot be read."""
        blob = self._state.options.masks.masked_batches(topic, partition.records)
        for number, content in enumerate(records_in_complete_batches(blob)):
            yield SentRecord(topic, partition.index, number, content)

    def _match_records(
        self, topic: str, partition: Any, principal: Principal, matches: list[ProducedRecord]
    ) -> list[ProducedRecord]:
        """Return the recorded counterparts of a partition's records, and add them to `matches`."""
        try:
            records = [*self.sent_records(topic, partition)]
        except ProtocolError as error:
            raise PartitionMismatchError("content", f"unreadable records: {error}") from error
        found = []
        taken = {match.id for match in matches}
        for sent in records:
            match = self.first_unplayed_record_or_raise_mismatch(sent, principal, taken)
            if self._state.options.match is not MatchMode.CONTENT:
                self._check_order(sent, match, taken)
            taken.add(match.id)
            found.append(match)
        matches += found
        return found

    def first_unplayed_record_or_raise_mismatch(
        self, sent: SentRecord, principal: Principal, taken: set[int]
    ) -> ProducedRecord:
        """Return the first recorded counterpart, in the same partition if there is one.

        Raise PartitionMismatchError if there is none that was not sent before.
        """
        elsewhere = None
        digest = digest_of_record(sent.content)
        first_id = self._state.first_unplayed(sent.topic.encode() + digest)
        was_sent_before = first_id > 0
        for record in self._records.produced_with_content(sent.topic, digest, first_id):
            if record.id in taken or self._state.is_record_played(record.id):
                was_sent_before = True
            elif principal in (None, self._index.interaction(record.interaction).principal):
                if record.partition == sent.partition:
                    return record
                elsewhere = elsewhere or record
        if elsewhere is not None and not elsewhere.has_key:
            return elsewhere  # a producer chooses the partition of a record without a key
        raise self._mismatch_of_sent_record(sent, elsewhere, was_sent_before=was_sent_before)

    def _check_order(self, sent: SentRecord, match: ProducedRecord, taken: set[int]) -> None:
        """Raise PartitionMismatchError if the record before it was not sent before."""
        earlier = next(self._records.earlier_produced_on_connection_and_partition(match), None)
        if earlier is None or earlier.id in taken or self._state.is_record_played(earlier.id):
            return
        raise PartitionMismatchError(
            "order",
            f"{sent.name} was recorded after another record of its partition, which was not sent"
            " so far",
            nearest=self._index.interaction(earlier.interaction),
            difference=FieldDifference(
                f"record of {sent.topic}-{match.partition}",
                self._recorded_text(earlier),
                _record_text(sent.content),
            ),
        )

    def _mismatch_of_sent_record(
        self, sent: SentRecord, elsewhere: ProducedRecord | None, *, was_sent_before: bool
    ) -> PartitionMismatchError:
        if elsewhere is not None:
            return PartitionMismatchError(
                "content",
                f"{sent.name} was recorded in another partition",
                nearest=self._index.interaction(elsewhere.interaction),
                difference=FieldDifference(
                    f"partition of key {value_text(sent.content.key)}",
                    str(elsewhere.partition),
                    str(sent.partition),
                ),
            )
        if was_sent_before:
            reason = f"{sent.name} was sent more often than recorded"
            return PartitionMismatchError("count", reason)
        nearest = self._nearest_record(sent)
        if nearest is None:
            topics = ", ".join(self._records.produced_topics()) or "none"
            return PartitionMismatchError(
                "content",
                f"{sent.name}: no record of this topic was recorded",
                difference=FieldDifference("topic_data[].name", topics, sent.topic),
            )
        interaction = self._index.interaction(nearest.interaction)
        recorded = self._recorded_content(nearest)
        parts = [
            name
            for name in ("key", "value", "headers")
            if getattr(recorded, name) != getattr(sent.content, name)
        ]
        if not parts:
            return PartitionMismatchError(
                "content",
                f"{sent.name} was recorded by another principal",
                nearest=interaction,
                difference=FieldDifference("principal", interaction.principal, "another"),
            )
        values = (value_text(getattr(each, parts[0])) for each in (recorded, sent.content))
        return PartitionMismatchError(
            "content",
            f"{sent.name} was not recorded",
            nearest=interaction,
            difference=FieldDifference(f"{parts[0]} of the record", *values),
        )

    def _nearest_record(self, sent: SentRecord) -> ProducedRecord | None:
        """Return the record of the topic that was not sent yet and differs in the fewest parts."""
        best: tuple[int, ProducedRecord] | None = None
        for record in self._records.produced_in_topic(sent.topic, NEAREST_RECORDS_MAX):
            content = self._recorded_content(record)
            distance = sum(old != new for old, new in zip(content, sent.content, strict=True))
            distance += 4 * self._state.is_record_played(record.id)
            distance += record.partition != sent.partition
            if best is None or distance < best[0]:
                best = distance, record
        return None if best is None else best[1]

    def _recorded_content(self, record: ProducedRecord) -> RecordContent:
        request = self._index.request(self._index.interaction(record.interaction))
        rows = topic_partitions(request.topic_data, self._index.topic_names, "partition_data")
        for topic, _, partition in rows:
            if topic == record.topic and partition.index == record.partition:
                return records_in_complete_batches(partition.records)[record.at_in_request]
        raise AssertionError("the index names a record that is not in the trace")

    def _recorded_text(self, record: ProducedRecord) -> str:
        return _record_text(self._recorded_content(record))

    def partition_response(
        self, partition: Any, records: list[ProducedRecord]
    ) -> PartitionProduceResponse:
        """Return the recorded row of the first record, with its offset."""
        response = None
        if records:
            response = self._index.response(self._index.interaction(records[0].interaction))
        if response is None:
            return PartitionProduceResponse(index=partition.index, base_offset=-1)
        rows = topic_partitions(response.responses, self._index.topic_names, "partition_responses")
        recorded: PartitionProduceResponse = next(
            row
            for topic, _, row in rows
            if topic == records[0].topic and row.index == records[0].partition
        )
        return msgspec.structs.replace(
            recorded, index=partition.index, base_offset=records[0].offset
        )


def _record_text(record: RecordContent) -> str:
    return f"key {value_text(record.key)}, value {value_text(record.value)}"


class PlayedConsumer:
    """Responds to Fetch requests, without sessions: clients then name all partitions each time."""

    def __init__(self, state: PlaybackState) -> None:
        self._state = state
        self._index = state.index
        self._records = state.index.partitions

    def respond(self, request: Any, principal: Principal, *, is_last: bool) -> FetchResponse | None:
        """Return the response; None if there are no records so far, unless `is_last`.

        Raise PartitionMismatchError for a topic that the principal never fetched.
        """
        topics: list[FetchableTopicResponse] = []
        has_content = False
        for topic in request.topics:
            row = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
            topics.append(row)
            for name, _, partition in topic_partitions(
                [topic], self._index.topic_names, "partitions"
            ):
                data = self._available_records_error_or_empty_row(name, partition, principal)
                has_content |= bool(data.records or data.error_code)
                row.partitions.append(data)
        if not has_content and not is_last:
            return None
        return FetchResponse(responses=topics)

    def _available_records_error_or_empty_row(
        self, topic: str, partition: Any, principal: Principal
    ) -> PartitionData:
        number, offset = partition.partition, partition.fetch_offset
        error = self._error_row_applying_now(topic, number, offset, principal)
        for row in self._records.first_fetched_reaching_offset(topic, number, offset):
            if (
                principal not in (None, row.principal)
                or row.error
                or self._is_superseded_by_error(row, error)
            ):
                continue
            data = self._available_records(row, number, offset)
            if data is not None:
                return data
        if error is not None:
            self._state.mark_played_and_count_changes(error.interaction, {})
            return self._recorded_row(error)
        return self._empty_row_or_raise_if_never_fetched(topic, number, offset, principal)

    def _error_row_applying_now(
        self, topic: str, partition: int, offset: int, principal: Principal
    ) -> FetchedPartition | None:
        """Return the recorded error that applies now: a denial, or one that was not sent so far."""
        latest: FetchedPartition | None = None
        for row in self._records.fetched_errors(topic, partition):
            if principal not in (
                None,
                row.principal,
            ) or not self._state.has_received_preceding_changes(self._admin_changes_before(row)):
                continue
            if row.error == ErrorCode.OFFSET_OUT_OF_RANGE and row.fetch_offset != offset:
                continue
            if not self._state.is_played(row.interaction):
                return row
            if self._state.is_current(self._admin_changes_before(row)):
                latest = row
        if latest is None or latest.error not in _LASTING_ERRORS:
            return None
        return latest

    def _is_superseded_by_error(
        self, row: FetchedPartition, error: FetchedPartition | None
    ) -> bool:
        """Return whether the error was recorded before the records and not sent so far, or after
        a change that came after them.
        """
        if error is None:
            return False
        before, now = (
            self._admin_changes_before(row)[ADMIN],
            self._admin_changes_before(error)[ADMIN],
        )
        if before != now:
            return before < now
        return error.id < row.id and not self._state.is_played(error.interaction)

    def _admin_changes_before(self, row: FetchedPartition) -> dict[str, int]:
        return {ADMIN: self._index.interaction(row.interaction).state.get(ADMIN, 0)}

    def _available_records(
        self, row: FetchedPartition, partition: int, offset: int
    ) -> PartitionData | None:
        """Return the batches from an offset on whose records were sent; None without any."""
        if row.is_transactional and not self._state.has_received_preceding_changes(
            self._index.interaction(row.interaction).state
        ):
            return None
        recorded = self._recorded_row(row)
        blob = recorded.records or b""
        end_offset, chunks = -1, []
        for batch in complete_batch_ranges(blob):
            if batch.last_offset < offset:
                continue
            produced = self._records.produced_record_ids_at_offsets(
                row.topic, partition, batch.first_offset, batch.last_offset
            )
            if not all(self._state.is_record_played(number) for number in produced):
                break
            chunks.append(blob[batch.start : batch.end])
            end_offset = batch.last_offset + 1
        if not chunks:
            return None
        is_complete = end_offset > row.last_offset
        high_watermark = recorded.high_watermark if is_complete else end_offset
        last_stable = recorded.last_stable_offset
        return msgspec.structs.replace(
            recorded,
            records=b"".join(chunks),
            high_watermark=high_watermark,
            last_stable_offset=min(last_stable, high_watermark),
        )

    def _empty_row_or_raise_if_never_fetched(
        self, topic: str, partition: int, offset: int, principal: Principal
    ) -> PartitionData:
        """Return a row without records, at the end of what is there so far."""
        last = self._records.last_fetched_without_error(topic, partition, principal)
        if last is None and not any(self._records.fetched_partitions_of_topic(topic, principal)):
            raise PartitionMismatchError(
                "content", f"{topic}-{partition}: {principal} never fetched this topic"
            )
        template = PartitionData(log_start_offset=0) if last is None else self._recorded_row(last)
        return msgspec.structs.replace(
            template,
            partition_index=partition,
            records=b"",
            high_watermark=offset,
            last_stable_offset=offset,
            aborted_transactions=[],
        )

    def _recorded_row(self, row: FetchedPartition) -> PartitionData:
        response = self._index.response(self._index.interaction(row.interaction))
        rows = topic_partitions(response.responses, self._index.topic_names, "partitions")
        for topic, _, data in rows:
            if topic == row.topic and data.partition_index == row.partition:
                assert isinstance(data, PartitionData)
                return data
        raise AssertionError("the index names a partition that is not in the trace")


_LASTING_ERRORS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.OFFSET_OUT_OF_RANGE,
    }
)
"""Errors that a client gets until something is changed; others were gone by themselves."""
