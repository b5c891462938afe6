"""Masks of records in a trace: keys, values, headers, or fields of JSON values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, read_response_header
from kafka_shim.protocol.records.batches import Record, encode_compacted_batch, iterate_batches
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.session import Session
from kafka_shim.text.logs import Log
from kafka_shim.trace_format.segments import Block, read_trace
from kafka_shim.traces.connection_observer import TrafficObserver
from kafka_shim.traces.identities.message_fields import UNKNOWN_TOPIC, topic_partitions

MASK = b"[masked]"
PARTS = ("value", "key", "headers")


class RecordMask(msgspec.Struct, frozen=True):
    """What of the records of a topic is masked; all topics if it is empty.

    `path` is that of a field in a JSON value, such as `customer.name`; empty: the whole value.
    """

    part: str
    topic: str = ""
    path: str = ""

    def masked_record(self, record: Record) -> Record:
        """Return a record with this part masked."""
        if self.part == "headers":
            headers = tuple((name, MASK) for name, _ in record.headers)
            return msgspec.structs.replace(record, headers=headers)
        if self.part == "key":
            return record if record.key is None else msgspec.structs.replace(record, key=MASK)
        if record.value is None:
            return record
        value = _masked_value(bytes(record.value), self.path)
        return msgspec.structs.replace(record, value=value)


class RecordMasks:
    """All masks of a trace, by their texts: `PART`, `TOPIC:PART` or `TOPIC:value:PATH`."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        """Parse the texts. Raise ConfigError for an invalid one."""
        self.texts = list(dict.fromkeys(texts))
        self._masks = [parse_mask(text) for text in self.texts]

    def masked_batches(self, topic: str | None, blob: bytes | None) -> bytes | None:
        """Return batches with masked records; all masks apply to a topic that is None.

        Raise ProtocolError if a batch cannot be read.
        """
        masks = [mask for mask in self._masks if topic is None or mask.topic in ("", topic)]
        if not blob or not masks:
            return blob
        batches = []
        for batch in iterate_batches(blob, allows_truncated_end=True):
            if batch.is_control:
                batches.append(batch.tobytes())
            else:
                records = list(batch.records())
                for mask in masks:
                    records = [mask.masked_record(record) for record in records]
                batches.append(encode_compacted_batch(batch, records, batch.delete_horizon_ms))
        return b"".join(batches)


def _masked_value(value: bytes, path: str) -> bytes:
    """Return a masked value; without a path, or if it is not JSON, all of it is masked."""
    if not path:
        return MASK
    try:
        content = msgspec.json.decode(value)
    except msgspec.MsgspecError:
        return MASK
    _mask_json_field(content, path.split("."))
    return msgspec.json.encode(content)


def _mask_json_field(content: Any, names: list[str]) -> None:
    """Mask a field; in each element, where an array is on its path."""
    if isinstance(content, list):
        for element in content:
            _mask_json_field(element, names)
    elif isinstance(content, dict) and names[0] in content:
        if len(names) == 1:
            content[names[0]] = MASK.decode()
        else:
            _mask_json_field(content[names[0]], names[1:])


def parse_mask(text: str) -> RecordMask:
    """Parse `PART`, `TOPIC:PART` or `TOPIC:value:PATH`. Raise ConfigError if it is invalid."""
    words = text.split(":")
    topic = words.pop(0) if len(words) > 1 else ""
    part, path = words[0], ":".join(words[1:])
    if part not in PARTS:
        raise ConfigError(
            f"--mask `{text}`: expected value, key or headers, as in `value`, `orders:key` or"
            " `orders:value:customer.name`"
        )
    if path and part != "value":
        raise ConfigError(f"--mask `{text}`: only a value can have a path")
    return RecordMask(part, topic, path)


def record_masks_named_in_trace(trace: Path) -> list[str]:
    """Return the texts of the masks that the records of a trace have."""
    texts: dict[str, None] = {}
    for block in read_trace(trace):
        if isinstance(block, Block):
            texts.update(dict.fromkeys(block.body.masks))
    return [*texts]


log = Log("shim.playback")

_CONSUMING_APIS = frozenset({ApiKey.FETCH, ApiKey.SHARE_FETCH})


class MaskingObserver:
    """Passes everything on to another observer, records with their masks.

    Records that cannot be masked, such as those in batches before version 2, are left out.
    """

    def __init__(self, observer: TrafficObserver, masks: RecordMasks) -> None:
        self._observer = observer
        self._masks = masks
        self._topic_names: dict[bytes, str] = {}
        self.flush_events = observer.flush_events
        self.record_close = observer.record_close
        self.close = observer.close

    def record_request(self, session: Session, header: RequestHeader, frame: bytes) -> int:
        if header.api_key == ApiKey.PRODUCE:
            frame = self._masked_request(header, frame)
        return self._observer.record_request(session, header, frame)

    def record_outcome(
        self,
        session: Session,
        sequence: int,
        header: RequestHeader,
        decided: Sequence[AccessRecord],
        frame: bytes | None,
    ) -> None:
        if frame is not None and (
            header.api_key in _CONSUMING_APIS or header.api_key in NAMING_APIS
        ):
            frame = self._masked_response(header, frame)
        self._observer.record_outcome(session, sequence, header, decided, frame)

    def _masked_request(self, header: RequestHeader, frame: bytes) -> bytes:
        try:
            _, at = read_request_header(frame)
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError:
            return frame[:8]
        self._mask(message)
        return frame[:at] + codecs.write_request(message, header.api_version)

    def _masked_response(self, header: RequestHeader, frame: bytes) -> bytes:
        key, version = header.api_key, header.api_version
        try:
            _, at = read_response_header(key, version, frame)
            message = codecs.read_response(key, version, frame, at)
        except ProtocolError:
            return frame[:4]
        if key in NAMING_APIS:
            self._topic_names.update(topic_ids_with_names(message))
            return frame
        self._mask(message)
        return frame[:at] + codecs.write_response(key, version, message)

    def _mask(self, message: Any) -> None:
        for topic, _, row in topic_partitions(message, self._topic_names):
            known_topic = None if topic == UNKNOWN_TOPIC else topic
            try:
                row.records = self._masks.masked_batches(known_topic, row.records)
            except ProtocolError as error:
                log.warning("records that cannot be masked are left out", reason=str(error))
                row.records = b""
