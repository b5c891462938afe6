"""Responses to Produce and Fetch: record by record, since clients batch records by time.

A record that a client sends is found by key, value and headers, and gets its recorded offset. A
client gets the recorded batches, once the records in them were sent. There are no Fetch sessions:
clients then name all partitions each time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.traces.cassettes.interactions import Interaction
from kafka_shim.traces.cassettes.matching import Principal, Sender, Sent, require_due_interaction
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.traces.cassettes.request_content import (
    ContentField,
    FieldDifference,
    field_differences,
    records_in_complete_batches,
    settings_fields,
)
from kafka_shim.traces.cassettes.touched_state import TRANSACTIONS, topic_records_key
from kafka_shim.traces.identities.message_fields import topic_name, topic_partitions

_LASTING_ERRORS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.OFFSET_OUT_OF_RANGE,
    }
)
"""Errors that a client gets until something is changed; others were gone by themselves."""

_FETCHES_MAX = 50
_OFFSETS_SHOWN = 5
_BY_PRINCIPAL = f"api_key={ApiKey.FETCH:d} and principal=coalesce(?, principal)"
_UNSENT_RECORD = (
    f"topic=? and partition=? and api_key={ApiKey.PRODUCE:d} and offset between ? and ?"
    " and is_played=0 order by offset"
)


@dataclass
class PlayedProduce:
    """A Produce request with its recorded counterparts, record by record.

    With `allows_new_records`, it can have records that were not recorded, and keeps only these.
    """

    state: PlaybackState
    header: RequestHeader
    sender: Sender
    allows_new_records: bool = False
    matches: list[Interaction] = field(default_factory=list)
    settings: list[ContentField] = field(default_factory=list)
    """Those of the request, apart from its records."""

    @property
    def latency_us(self) -> int:
        """The longest that was recorded."""
        return max((match.latency_us for match in self.matches), default=0)

    def response(self, request: Any) -> ProduceResponse:
        """Return the response. Raise MismatchError for records that the request must not have."""
        self.settings = settings_fields(request)
        try:
            response = ProduceResponse(
                [self._topic_response(topic) for topic in request.topic_data]
            )
        except MismatchError:
            for match in self.matches:
                self.state.index.table.set_played(match, is_played=False)
            raise
        self.state.count_changes(topic_records_key(str(match.topic)) for match in self.matches)
        return response

    def _topic_response(self, topic: Any) -> TopicProduceResponse:
        name = topic_name(topic, self.state.index.topic_names)
        rows = [self._partition_response(name, row) for row in topic.partition_data]
        return TopicProduceResponse(topic.name, topic.topic_id, partition_responses=rows)

    def _partition_response(self, topic: str, row: Any) -> PartitionProduceResponse:
        """Return the recorded response to the record with the first offset."""
        count = len(self.matches)
        new = self._match_records(topic, row)
        if self.allows_new_records:
            row.records = _encode_records(row.records, new)
        first = min(self.matches[count:], key=lambda match: match.offset, default=None)
        recorded = None if first is None else self.state.index.response_partition(first)
        if first is None or recorded is None:
            return PartitionProduceResponse(index=row.index, base_offset=-1)
        assert isinstance(recorded, PartitionProduceResponse)
        return msgspec.structs.replace(recorded, index=row.index, base_offset=first.offset)

    def _match_records(self, topic: str, row: Any) -> list[int]:
        """Add the counterparts of records; return the numbers of those without any."""
        try:
            blob = self.state.options.masks.masked_batches(topic, row.records)
            records = records_in_complete_batches(topic, row.index, blob)
        except ProtocolError as error:
            raise MismatchError("content", f"unreadable records: {error}") from error
        new = []
        for number, record in enumerate(records):
            name = f"record {number} of {topic}-{row.index}"
            sent = Sent(name, self.header, self.sender, record.fields, record=record)
            try:
                match = require_due_interaction(self.state, sent)
                self._require_recorded_settings(sent, match)
            except MismatchError as error:
                if not self.allows_new_records or error.kind == "order":
                    raise
                new.append(number)
            else:
                self.state.index.table.set_played(match)
                self.matches.append(match)
        return new

    def _require_recorded_settings(self, sent: Sent, match: Interaction) -> None:
        """Raise MismatchError if the request differs apart from its records, and must not."""
        is_exact = self.state.options.match is MatchMode.STRICT
        recorded = settings_fields(self.state.index.request(match))
        for each in field_differences(recorded, self.settings, is_exact=is_exact):
            reason = f"{sent.name} was sent with other settings than recorded"
            raise MismatchError("content", reason, match, each)


def _encode_records(blob: bytes, numbers: list[int]) -> bytes:
    """Return these records as a batch, whose offsets have no gaps; empty without any."""
    if not numbers:
        return b""
    records = [each for batch in complete_batches(blob) for each in batch.records()]
    return encode_batch(
        [
            msgspec.structs.replace(records[number], offset=offset)
            for offset, number in enumerate(numbers)
        ]
    )


def fetch_response(
    state: PlaybackState, request: Any, principal: Principal, *, is_last: bool
) -> FetchResponse | None:
    """Return the response; None if there are no records so far, unless `is_last`.

    Raise MismatchError for a topic that the principal never fetched.
    """
    if state.options.match is MatchMode.STRICT:
        _require_recorded_fetch(state, request, principal)
    response = FetchResponse()
    has_content = is_last
    for topic in request.topics:
        topic_row = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
        response.responses.append(topic_row)
        name = topic_name(topic, state.index.topic_names)
        for row in topic.partitions:
            fetched = _FetchedOffset(state, name, row.partition, row.fetch_offset, principal)
            data = fetched.take_current_data()
            has_content |= bool(data.records or data.error_code)
            topic_row.partitions.append(data)
    return response if has_content else None


def _require_recorded_fetch(state: PlaybackState, request: Any, principal: Principal) -> None:
    """Raise MismatchError for settings with which the principal never fetched, and for an offset
    that it never fetched from and that follows no records that it got.
    """
    sent, by_principal = settings_fields(request), state.index.fetch_settings
    recorded = (
        [row for rows in by_principal.values() for row in rows]
        if principal is None
        else by_principal.get(principal, [])
    )
    differences = [
        (row, [*field_differences(settings_fields(state.index.request(row)), sent, is_exact=True)])
        for row in recorded
    ]
    nearest, fields = min(differences, key=lambda each: len(each[1]), default=(None, []))
    if fields:
        reason = "Fetch was sent with other settings than recorded"
        raise MismatchError("content", reason, nearest, fields[0])
    for topic, partition, row in topic_partitions(request, state.index.topic_names):
        place, offset = (topic, partition), row.fetch_offset
        if offset in state.fetched_ends.get(place, ()):
            continue
        known = [
            each.number
            for each in state.index.table.select(
                f"topic=? and partition=? and {_BY_PRINCIPAL}", *place, principal
            )
        ]
        if offset not in known:
            difference = FieldDifference("fetch_offset", _numbers_text(known), str(offset))
            reason = f"{topic}-{partition} was not fetched from this offset"
            raise MismatchError("content", reason, None, difference)


def _numbers_text(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))[:_OFFSETS_SHOWN])) or "none"


class _FetchedOffset(NamedTuple):
    """The offset of a partition from which a client fetches."""

    state: PlaybackState
    topic: str
    partition: int
    offset: int
    principal: Principal

    def take_current_data(self) -> PartitionData:
        """Return what the recording has now. Raise MismatchError if the topic was not fetched."""
        error = self._current_error()
        reaching = f"offset>=? and error=0 order by offset, id limit {_FETCHES_MAX}"
        for row in self._select_fetched(reaching, self.offset):
            if self._is_superseded(row, error):
                continue
            data = self._available_records(row)
            if data is not None:
                return data
        if error is not None:
            self.state.index.table.set_played(error)
            return self._recorded_data(error)
        return self._empty_data()

    def _select_fetched(self, condition: str, *values: object) -> Iterator[Interaction]:
        """Yield what the principal fetched from the partition."""
        partition = f"topic=? and partition=? and {_BY_PRINCIPAL}"
        return self.state.index.table.select(
            f"{partition} and {condition}", self.topic, self.partition, self.principal, *values
        )

    def _current_error(self) -> Interaction | None:
        """Return the recorded error that applies now: a lasting one, or one not sent so far."""
        latest: Interaction | None = None
        for row in self._select_fetched("error!=0 order by id"):
            is_other_offset = (
                row.error == ErrorCode.OFFSET_OUT_OF_RANGE and row.number != self.offset
            )
            if is_other_offset or not self.state.has_received_preceding_changes(row.state):
                continue
            if not row.is_played:
                return row
            if self.state.has_received(row.state):
                latest = row
        return latest if latest is not None and latest.error in _LASTING_ERRORS else None

    def _is_superseded(self, row: Interaction, error: Interaction | None) -> bool:
        """Return whether the error was recorded before the records and not sent so far, or after
        a change that came after them.
        """
        if error is None:
            return False
        before, now = sum(row.state[part] for part in error.state), sum(error.state.values())
        if before != now:
            return before < now
        return error.id < row.id and not error.is_played

    def _available_records(self, row: Interaction) -> PartitionData | None:
        """Return the records from the offset on that were sent; None without any, or if a
        transaction that ended before they were recorded has not ended.
        """
        ended = row.state.get(TRANSACTIONS)
        if ended and not self.state.has_received_preceding_changes(row.state):
            return None
        recorded = self._recorded_data(row)
        available = []
        for batch in complete_batches(recorded.records):
            if batch.last_offset < self.offset:
                continue
            offsets = batch.first_offset, batch.last_offset
            unsent = self.state.index.table.first(
                _UNSENT_RECORD, self.topic, self.partition, *offsets
            )
            cut = batch if unsent is None else batch.cut_before(unsent.offset)
            if cut is not None:
                available.append(cut)
            if unsent is not None:
                break
        if not available or available[-1].last_offset < self.offset:
            return None
        end_offset = available[-1].last_offset + 1
        self.state.fetched_ends.setdefault((self.topic, self.partition), set()).add(end_offset)
        high_watermark = recorded.high_watermark if end_offset > row.offset else end_offset
        return msgspec.structs.replace(
            recorded,
            records=b"".join(batch.blob for batch in available),
            high_watermark=high_watermark,
            last_stable_offset=min(recorded.last_stable_offset, high_watermark),
        )

    def _empty_data(self) -> PartitionData:
        """Return a row without records, at the end of what is there so far. Raise MismatchError if
        others were fetched from the topic, or records sent.
        """
        last = next(self._select_fetched("error=0 order by id desc limit 1"), None)
        index = self.state.index
        is_empty = self.topic in index.topics and not index.table.first("topic=?", self.topic)
        was_fetched = index.table.first(f"topic=? and {_BY_PRINCIPAL}", self.topic, self.principal)
        if not (is_empty or was_fetched):
            reason = f"{self.topic}-{self.partition}: {self.principal} never fetched this topic"
            raise MismatchError("content", reason)
        template = PartitionData(log_start_offset=0) if last is None else self._recorded_data(last)
        return msgspec.structs.replace(
            template,
            partition_index=self.partition,
            records=b"",
            high_watermark=self.offset,
            last_stable_offset=self.offset,
            aborted_transactions=[],
        )

    def _recorded_data(self, row: Interaction) -> PartitionData:
        data = self.state.index.response_partition(row)
        assert isinstance(data, PartitionData)
        return data
