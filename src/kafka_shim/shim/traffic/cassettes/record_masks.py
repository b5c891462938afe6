"""Records of a cassette without their secrets: keys, values or headers, or parts of JSON values."""

from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.protocol.records.batches import (
    Record,
    encode_compacted_batch,
    iterate_batches,
)
from kafka_shim.shim.errors import ConfigError

MASK = b"[masked]"
PARTS = ("value", "key", "headers")
FILE = "cassette.json"
"""Next to the segments of a trace whose records are masked: the playback needs the rules."""


class RecordMask(msgspec.Struct, frozen=True):
    """What of the records of a topic is masked; all topics if it is empty.

    `path` is that of a field in a JSON value, such as `customer.name`; empty: the whole value.
    """

    part: str
    topic: str = ""
    path: str = ""


class RecordMasks(msgspec.Struct, frozen=True):
    """All masks of a recording."""

    masks: tuple[RecordMask, ...] = ()

    def masked_record(self, topic: str, record: Record) -> Record:
        """Return a record with masked parts."""
        for mask in self.masks:
            if mask.topic in ("", topic):
                record = _masked_record(mask, record)
        return record

    def masked_batches(self, topic: str, blob: bytes | None) -> bytes | None:
        """Return batches with masked records. Raise ProtocolError if a batch cannot be masked."""
        if not blob or not any(mask.topic in ("", topic) for mask in self.masks):
            return blob
        batches = []
        for batch in iterate_batches(blob, allows_truncated_end=True):
            if batch.is_control:
                batches.append(batch.tobytes())
            else:
                records = [self.masked_record(topic, record) for record in batch.records()]
                batches.append(encode_compacted_batch(batch, records, batch.delete_horizon_ms))
        return b"".join(batches)


NO_MASKS = RecordMasks()


def _masked_record(mask: RecordMask, record: Record) -> Record:
    if mask.part == "headers":
        headers = tuple((name, MASK) for name, _ in record.headers)
        return msgspec.structs.replace(record, headers=headers)
    if mask.part == "key":
        return record if record.key is None else msgspec.structs.replace(record, key=MASK)
    if record.value is None:
        return record
    return msgspec.structs.replace(record, value=_masked_value(bytes(record.value), mask.path))


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


def read_masks(trace: Path) -> RecordMasks:
    """Return the masks of a recorded trace. Raise ConfigError if their file is invalid."""
    path = trace / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecordMasks)
    except (FileNotFoundError, NotADirectoryError):
        return NO_MASKS
    except msgspec.MsgspecError as error:
        raise ConfigError(f"`{path}` is invalid: {error}") from error


def write_masks(trace: Path, masks: RecordMasks) -> None:
    """Write the masks next to the segments of a trace; nothing without masks."""
    if masks.masks:
        trace.mkdir(mode=0o700, parents=True, exist_ok=True)
        (trace / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(masks)))
