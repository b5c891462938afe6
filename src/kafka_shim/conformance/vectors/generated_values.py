"""Values that a request takes from earlier responses: topic, member and producer ids, tokens."""

import struct
from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.protocol.records.batches import crc32c

_PRODUCER_AT = 43  # offset in a batch of producer id (8 bytes), epoch (2), base sequence (4)
_CRC_AT = 17
_CRC_FROM = 21
_MAGIC_AT = 16


def fill_generated_values(
    request: msgspec.Struct,
    takes: Mapping[str, str],
    responses: Mapping[str, Any],
    ids: Mapping[bytes, bytes],
) -> None:
    """Put real values into a request, in place.

    `takes` maps paths in the request to `label:path` in the response with that label. A path to
    records takes the producer id and epoch of that response instead. `ids` are the broker's topic
    ids by those in the request.
    """
    _replace_topic_ids(request, ids)
    for path, source in takes.items():
        label, _, field = source.partition(":")
        response = responses.get(label)
        if response is None:
            continue
        *parents, last = path.split(".")
        try:
            parent = _follow_path(request, parents)
            value = _follow_path(response, field.split(".")) if field else None
            if not field:
                records = getattr(parent, last)
                value = replace_producer(records, response.producer_id, response.producer_epoch)
            if value is not None:
                _set_field(parent, last, value)
        except IndexError:
            continue  # the response lacks the field, or the version lacks it in the request


def replace_producer(records: bytes | None, producer_id: int, epoch: int) -> bytes | None:
    """Return a batch of records with another producer id and epoch, and the correct checksum."""
    if records is None or len(records) <= _PRODUCER_AT or records[_MAGIC_AT] != 2:
        return records
    copy = bytearray(records)
    was_right = crc32c(bytes(copy[_CRC_FROM:])) == struct.unpack_from(">I", copy, _CRC_AT)[0]
    struct.pack_into(">qh", copy, _PRODUCER_AT, producer_id, epoch)
    if was_right:
        struct.pack_into(">I", copy, _CRC_AT, crc32c(bytes(copy[_CRC_FROM:])))
    return bytes(copy)


def _follow_path(value: Any, path: list[str]) -> Any:
    for part in path:
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def _set_field(parent: Any, name: str, value: Any) -> None:
    if name.isdigit():
        parent[int(name)] = value
    else:
        setattr(parent, name, value)


def _replace_topic_ids(value: Any, ids: Mapping[bytes, bytes]) -> None:
    """Replace the scenario's topic ids by the cluster's in the whole message."""
    if isinstance(value, list):
        for row in value:
            _replace_topic_ids(row, ids)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            content = getattr(value, name)
            if name == "topic_id":
                setattr(value, name, ids.get(content, content))
            else:
                _replace_topic_ids(content, ids)
