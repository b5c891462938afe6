"""Responses to Produce, record by record: clients batch records by time.

A record that a client sends is found by key, value and headers, and gets its recorded offset.
"""

from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.protocol.records.batches import Record, encode_batch, iterate_batches
from kafka_shim.protocol.response_frames import read_response_and_its_version, write_response_frame
from kafka_shim.shim.traffic.cassettes.interactions import Interaction
from kafka_shim.shim.traffic.cassettes.matching import Sender, due_counterpart, sent_record
from kafka_shim.shim.traffic.cassettes.playback_report import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.request_content import records_in_complete_batches
from kafka_shim.shim.traffic.cassettes.touched_state import records_of_topic
from kafka_shim.shim.traffic.identities.message_fields import topic_name


class PlayedProduce:
    """The response to a Produce request. With `allows_new_records`, it can have records that were
    not recorded, which `new_records_frame` has. Raise MismatchError for any others. The records of
    the request are removed.
    """

    def __init__(
        self,
        state: PlaybackState,
        header: RequestHeader,
        request: Any,
        sender: Sender,
        *,
        allows_new_records: bool = False,
    ) -> None:
        self._state = state
        self._header = header
        self._sender = sender
        self._request = request
        self._allows_new_records = allows_new_records
        self._expects_response = request.acks != 0
        self._matches: list[Interaction] = []
        self.response = ProduceResponse()
        try:
            for topic in request.topic_data:
                self._add_topic(topic)
        except MismatchError:
            for match in self._matches:
                state.index.set_played(match, is_played=False)
            raise
        state.count_changes(records_of_topic(str(match.topic)) for match in self._matches)

    def _add_topic(self, topic: Any) -> None:
        name = topic_name(topic, self._state.index.topic_names)
        response = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        for row in topic.partition_data:
            found, new = self._recorded_and_new_records(name, row)
            response.partition_responses.append(self._row(row.index, found))
            row.records = new
        self.response.responses.append(response)

    def _recorded_and_new_records(self, topic: str, row: Any) -> tuple[Interaction | None, bytes]:
        """Return the counterpart with the lowest offset, and the new records as a batch."""
        try:
            blob = self._state.options.masks.masked_batches(topic, row.records)
            records = records_in_complete_batches(topic, row.index, blob)
        except ProtocolError as error:
            raise MismatchError("content", f"unreadable records: {error}") from error
        found: Interaction | None = None
        new: list[int] = []
        for number, record in enumerate(records):
            sent = sent_record(record, number, self._header, self._sender)
            try:
                match = due_counterpart(self._state, sent)
            except MismatchError:
                if not self._allows_new_records:
                    raise
                new.append(number)
            else:
                self._state.index.set_played(match)
                self._matches.append(match)
                found = match if found is None or match.offset < found.offset else found
        return found, _batch_of_records(row.records, new)

    def _row(self, partition: int, match: Interaction | None) -> PartitionProduceResponse:
        recorded = None if match is None else self._state.index.response_partition(match)
        if match is None or recorded is None:
            return PartitionProduceResponse(index=partition, base_offset=-1)
        assert isinstance(recorded, PartitionProduceResponse)
        return msgspec.structs.replace(recorded, index=partition, base_offset=match.offset)

    def new_records_frame(self) -> bytes:
        """Return a request with the new records, without producer ids: the client's are those of
        the recording.
        """
        request = self._request
        request.acks = request.acks or 1
        for topic in request.topic_data:
            topic.partition_data = [row for row in topic.partition_data if row.records]
        request.topic_data = [topic for topic in request.topic_data if topic.partition_data]
        body = codecs.write_request(request, self._header.api_version)
        return write_request_header(self._header) + body

    def merged_frame(self, frame: bytes) -> bytes | None:
        """Return the frame of the whole response, given that of the response to the new records,
        of which errors and partitions without recorded records count. None if none is expected.
        """
        if not self._expects_response:
            return None
        key, version = self._header.api_key, self._header.api_version
        actual, _ = read_response_and_its_version(key, version, frame)
        new = {
            (topic.name or topic.topic_id, row.index): row
            for topic in actual.responses
            for row in topic.partition_responses
        }
        for topic in self.response.responses:
            for number, row in enumerate(topic.partition_responses):
                other = new.get((topic.name or topic.topic_id, row.index))
                if other is not None and (other.error_code or row.base_offset < 0):
                    topic.partition_responses[number] = other
        return write_response_frame(self._header, self.response)


def _batch_of_records(blob: bytes, numbers: list[int]) -> bytes:
    """Return these records as a batch, empty without any."""
    if not numbers:
        return b""
    records: list[Record] = [each for batch in iterate_batches(blob) for each in batch.records()]
    # a client's offsets count from 0, without gaps
    return encode_batch(
        [
            msgspec.structs.replace(records[number], offset=offset)
            for offset, number in enumerate(numbers)
        ]
    )
