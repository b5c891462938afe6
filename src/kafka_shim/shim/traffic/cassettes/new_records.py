"""Produce requests of which only some records were recorded: the others go to the cluster."""

from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.produce_response import ProduceResponse, TopicProduceResponse
from kafka_shim.protocol.records.batches import Record, encode_batch, iterate_batches
from kafka_shim.protocol.response_frames import (
    read_response_and_its_version,
    write_response_frame,
)
from kafka_shim.shim.traffic.cassettes.partition_index import ProducedRecord
from kafka_shim.shim.traffic.cassettes.played_partitions import (
    PartitionMismatchError,
    PlayedProducer,
    Principal,
)
from kafka_shim.shim.traffic.cassettes.request_content import topic_partitions


class NewRecords:
    """The records of a request that were not recorded, as a request, and the other ones' response.

    The request has no producer ids: those of the client are the recording's.
    """

    def __init__(
        self,
        producer: PlayedProducer,
        header: RequestHeader,
        request: Any,
        principal: Principal,
    ) -> None:
        """Find the records. Raise ProtocolError if they cannot be read."""
        self._header = header
        self._expects_response = request.acks != 0
        self._producer = producer
        self._principal = principal
        self._matches: list[ProducedRecord] = []
        self._request = ProduceRequest(acks=request.acks or 1, timeout_ms=request.timeout_ms)
        self._response = ProduceResponse()
        for topic in request.topic_data:
            self._add_topic(topic)
        producer.mark_records_played(self._matches)

    def request_frame(self) -> bytes:
        """Return the frame of the request with the new records."""
        body = codecs.write_request(self._request, self._header.api_version)
        return write_request_header(self._header) + body

    def merged_frame(self, frame: bytes | None) -> bytes | None:
        """Return the frame of a response for the whole request: with the cluster's rows for
        partitions without recorded records, and its errors. None if the client expects none.
        """
        if frame is None or not self._expects_response:
            return None
        key, version = self._header.api_key, self._header.api_version
        response, _ = read_response_and_its_version(key, version, frame)
        actual = {
            (topic.name, topic.topic_id, row.index): row
            for topic in response.responses
            for row in topic.partition_responses
        }
        for topic in self._response.responses:
            rows = topic.partition_responses
            for number, row in enumerate(rows):
                other = actual.get((topic.name, topic.topic_id, row.index))
                if other is not None and (other.error_code or row.base_offset < 0):
                    rows[number] = other
        return write_response_frame(self._header, self._response)

    def _add_topic(self, topic: Any) -> None:
        names = {"name": topic.name, "topic_id": topic.topic_id}
        new = TopicProduceData(**names)
        response = TopicProduceResponse(**names)
        rows = topic_partitions([topic], self._producer.topic_names, "partition_data")
        for name, _, partition in rows:
            recorded, blob = self._separate(name, partition)
            response.partition_responses.append(
                self._producer.partition_response(partition, recorded)
            )
            if blob:
                new.partition_data.append(PartitionProduceData(partition.index, blob))
        self._response.responses.append(response)
        if new.partition_data:
            self._request.topic_data.append(new)

    def _separate(self, topic: str, partition: Any) -> tuple[list[ProducedRecord], bytes]:
        """Return the counterparts of the recorded records, and the others as a batch."""
        batches = iterate_batches(partition.records or b"")
        records = [record for batch in batches for record in batch.records()]
        found: list[ProducedRecord] = []
        new: list[Record] = []
        for sent in self._producer.sent_records(topic, partition):
            taken = {match.id for match in self._matches}
            try:
                match = self._producer.first_unplayed_record_or_raise_mismatch(
                    sent, self._principal, taken
                )
            except PartitionMismatchError:
                # a client's offsets count from 0, without gaps
                new.append(msgspec.structs.replace(records[sent.number], offset=len(new)))
            else:
                self._matches.append(match)
                found.append(match)
        return found, encode_batch(new) if new else b""
