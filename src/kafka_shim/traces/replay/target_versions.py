"""Requests and responses of a recording in the versions that the target supports.

A request in a version that the target lacks is sent in the nearest version that it has. The
recorded response is read in that version, too, so that only fields of both versions are compared.
"""

from typing import Any
from uuid import UUID

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields, unsupported_field
from kafka_shim.protocol.api_versions import PRODUCE_SERVED_SINCE
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import ZERO_UUID, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import EncodeError, ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.trace_format.entries import Response, decode_response_entry
from kafka_shim.traces.replay.offset_mapping import OffsetMapping
from kafka_shim.traces.replay.topology import TargetTopology

_TOPIC_NAME_FIELDS = ("name", "topic", "topic_name")
_LISTED_FROM_ZERO = 12
"""Brokers with this version of Produce list all lower ones, and reject those before batches."""


class UntranslatableRequestError(Exception):
    """The target's versions cannot carry a request; the message says which field, and since when
    there is one.
    """


class TargetVersions:
    """Which versions of each API the target supports, and recorded messages in those versions."""

    def __init__(self, topology: TargetTopology, offsets: OffsetMapping) -> None:
        self._topology = topology
        self._offsets = offsets

    def nearest(self, api_key: int, version: int) -> int | None:
        """Return the version for the target; None if it lacks the API.

        Unchanged while the target's versions are unknown.
        """
        if not self._topology.versions:
            return version
        if api_key not in self._topology.versions:
            return None
        low, high = self._topology.versions[api_key]
        if api_key == ApiKey.PRODUCE and high >= _LISTED_FROM_ZERO:
            low = PRODUCE_SERVED_SINCE
        return min(max(version, low), high)

    def translate_request(
        self, header: RequestHeader, frame: bytes, at: int, version: int
    ) -> tuple[RequestHeader, bytes, int]:
        """Return a recorded request in another version: header, frame, and the body's position.

        Raise UntranslatableRequestError if the version cannot carry it.
        """
        key = header.api_key
        try:
            message = codecs.read_request(key, header.api_version, frame, at)
            spec = load_message_spec(type(message).__name__).top_level_struct
            self._replace_topic_ids(spec, message, version)
            field = unsupported_field(message, version)
            if field is not None:
                raise UntranslatableRequestError(
                    f"field `{field.name}` needs version {field.versions.text},"
                    f" and the target supports version {version}"
                )
            if key == ApiKey.PRODUCE and header.api_version < PRODUCE_SERVED_SINCE <= version:
                _convert_to_v2(message)
            new = RequestHeader(key, version, header.correlation_id, header.client_id)
            head = write_request_header(new)
            body = codecs.write_request(reset_unsupported_fields(message, version), version)
            return new, head + body, len(head)
        except ProtocolError as error:
            raise UntranslatableRequestError(f"in version {version}: {error}") from error

    def translate_response(self, entry: Response, version: int) -> Response:
        """Return a recorded response as far as another version can carry it.

        Unchanged if it cannot be read.
        """
        key = entry.api_key
        message = decode_response_entry(entry)
        if message is None:
            return entry
        if key == ApiKey.METADATA:
            self._offsets.learn_topic_names(message)
        spec = load_message_spec(type(message).__name__).top_level_struct
        header = RequestHeader(key, version, int.from_bytes(entry.frame[:4], "big", signed=True))
        try:
            self._replace_topic_ids(spec, message, version)
            frame = write_response_frame(header, reset_unsupported_fields(message, version))
        except (UntranslatableRequestError, EncodeError):
            return entry
        return msgspec.structs.replace(entry, api_version=version, frame=frame)

    def _replace_topic_ids(self, spec: StructSpec, value: Any, version: int) -> None:
        """Replace the ids of topics by names where the version has no ids, in place.

        The errors of unknown ids become those of unknown names.
        """
        fields = {field.attribute: field for field in spec.fields}
        name = next((each for each in _TOPIC_NAME_FIELDS if each in fields), "")
        has_names_only = (
            "topic_id" in fields
            and not fields["topic_id"].versions.has(version)
            and bool(name)
            and fields[name].versions.has(version)
        )
        if has_names_only and value.topic_id != ZERO_UUID:
            if not getattr(value, name):
                setattr(value, name, self._topic_name(value.topic_id))
            value.topic_id = ZERO_UUID
        for field in spec.fields:
            content = getattr(value, field.attribute)
            if field.struct is None or content is None:
                continue
            for row in content if field.is_array else (content,):
                self._replace_topic_ids(field.struct, row, version)
                if has_names_only and getattr(row, "error_code", 0) == ErrorCode.UNKNOWN_TOPIC_ID:
                    row.error_code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def _topic_name(self, topic_id: bytes) -> str:
        name = self._offsets.topic_names.get(topic_id)
        if name is None:
            raise UntranslatableRequestError(
                f"the trace does not have the name of the topic id {UUID(bytes=topic_id)},"
                " which the target's version needs"
            )
        return name


def _convert_to_v2(message: Any) -> None:
    """Replace messages of the formats before 2 by batches, in place."""
    for topic in message.topic_data:
        for row in topic.partition_data:
            records = [
                record for each in complete_batches(row.records) for record in each.records()
            ]
            for number, record in enumerate(records):
                record.offset = number
            row.records = encode_batch(records) if records else row.records
