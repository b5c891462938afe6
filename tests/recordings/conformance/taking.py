"""Values that a request takes from earlier responses: topic, member and producer ids, tokens."""

import struct
from collections.abc import Mapping
from typing import Any

import msgspec
from crc32c import crc32c

_PRODUCER_AT = 43  # offset in a batch of producer id (8 bytes), epoch (2), base sequence (4)
_CRC_AT = 17
_CRC_FROM = 21
_MAGIC_AT = 16


def fill(
    request: msgspec.Struct,
    takes: Mapping[str, str],
    responses: Mapping[str, Any],
    ids: Mapping[bytes, bytes],
) -> None:
    """Put real values into a request, in place; see `Step.takes`."""
    _put_topic_ids(request, ids)
    for path, source in takes.items():
        label, _, field = source.partition(":")
        response = responses.get(label)
        if response is None:
            continue
        *way, last = path.split(".")
        try:
            holder = _follow(request, way)
            value = _follow(response, field.split(".")) if field else None
            if not field:
                records = getattr(holder, last)
                value = stamp(records, response.producer_id, response.producer_epoch)
            if value is not None:
                _set(holder, last, value)
        except IndexError:
            continue  # the response lacks the field, or the version lacks it in the request


def stamp(records: bytes | None, producer_id: int, epoch: int) -> bytes | None:
    """Return a batch with another producer id and epoch, and the correct checksum."""
    if records is None or len(records) <= _PRODUCER_AT or records[_MAGIC_AT] != 2:
        return records
    made = bytearray(records)
    was_right = crc32c(bytes(made[_CRC_FROM:])) == struct.unpack_from(">I", made, _CRC_AT)[0]
    struct.pack_into(">qh", made, _PRODUCER_AT, producer_id, epoch)
    if was_right:
        struct.pack_into(">I", made, _CRC_AT, crc32c(bytes(made[_CRC_FROM:])))
    return bytes(made)


def _follow(value: Any, way: list[str]) -> Any:
    for part in way:
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def _set(holder: Any, name: str, value: Any) -> None:
    if name.isdigit():
        holder[int(name)] = value
    else:
        setattr(holder, name, value)


def _put_topic_ids(value: Any, ids: Mapping[bytes, bytes]) -> None:
    """Replace the scenario's topic ids by the cluster's in the whole message."""
    if isinstance(value, list):
        for row in value:
            _put_topic_ids(row, ids)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            content = getattr(value, name)
            if name == "topic_id":
                setattr(value, name, ids.get(content, content))
            else:
                _put_topic_ids(content, ids)
