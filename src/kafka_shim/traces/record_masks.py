"""Masks of records in a trace: keys, values, headers, or fields of JSON values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.protocol.records.batches import Record, encode_compacted_batch, iterate_batches
from kafka_shim.shim.errors import ConfigError
from kafka_shim.trace_format.segments import Block, read_trace

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
