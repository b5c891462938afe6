"""Compare two responses to a request by everything that does not depend on the run."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.response_frames import read_response_frame
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.replay.counterparts import Counterparts, Pair
from kafka_shim.shim.traffic.replay.events import Event
from kafka_shim.shim.traffic.replay.fields import (
    IGNORED_FIELDS,
    LONG_IDS,
    NO_PARTNERS,
    Partners,
    pairs,
)
from kafka_shim.shim.traffic.replay.ids import id_kinds

MISSING = "missing"
_MEMBERS = "members[]"
"""Fields that only group leaders receive."""


class Context(NamedTuple):
    """The version of two messages, and the corresponding members and topics."""

    version: int
    partners: Partners


class Difference(msgspec.Struct, frozen=True):
    """A differing field by its path, such as `topics[].error_code`, and both values."""

    field: str
    recorded: Any
    actual: Any


def compare(
    learned: Counterparts, event: Event, request: bytes, entry: Response, frame: bytes
) -> list[Difference]:
    """Compare a recorded response with the target's frame; learn ids and offsets from it."""
    key, version = entry.api_key, entry.api_version
    kinds = id_kinds(key, version, "Response")
    ids = learned.ids
    if frame == entry.frame and not (kinds and ids.differ):
        return []
    pair = Pair(event.connection_id, key, version, request[8:], entry.frame[4:], frame[4:])
    if learned.knows(pair):
        return []
    if kinds <= LONG_IDS and frame == ids.with_actual_ids(entry.frame):
        return []
    try:
        recorded, version = read_response_frame(key, version, entry.frame)
        actual, actual_version = read_response_frame(key, entry.api_version, frame)
    except ProtocolError:
        same = entry.frame[4:] == frame[4:]
        return [] if same else [Difference("bytes", entry.frame[4:].hex(), frame[4:].hex())]
    if version != actual_version:
        return [Difference("version", version, actual_version)]
    is_led_by_another = learned.learn(event, request, recorded, actual)
    found = differences(version, recorded, actual, ids.partners)
    if is_led_by_another:
        found = [difference for difference in found if not difference.field.startswith(_MEMBERS)]
    if not found:
        learned.note_equal(pair)
    return found


def differences(
    version: int, recorded: Any, actual: Any, partners: Partners = NO_PARTNERS
) -> list[Difference]:
    """Return the differences between two messages of the same type and version."""
    name = type(recorded).__name__
    found = list(
        _struct(load_message_spec(name).struct, recorded, actual, Context(version, partners), "")
    )
    if name == f"{ApiKey.FETCH.wire_name}Response":
        found = [difference for difference in found if not _is_unchanged_partition(difference)]
    return found


def _is_unchanged_partition(difference: Difference) -> bool:
    """Return whether only an incremental Fetch left out a partition without new records."""
    return MISSING in (difference.recorded, difference.actual)


def _struct(
    spec: StructSpec, recorded: Any, actual: Any, context: Context, path: str
) -> Iterator[Difference]:
    for field in spec.fields:
        if field.attribute in IGNORED_FIELDS or not field.versions.has(context.version):
            continue
        here = f"{path}.{field.attribute}" if path else field.attribute
        old, new = getattr(recorded, field.attribute), getattr(actual, field.attribute)
        if field.is_array and old is not None and new is not None:
            yield from _list(field, old, new, context, f"{here}[]")
        elif field.struct is not None and old is not None and new is not None:
            yield from _struct(field.struct, old, new, context, here)
        elif old != new:
            yield Difference(here, plain(old), plain(new))


def _list(
    field: FieldSpec, recorded: list[Any], actual: list[Any], context: Context, path: str
) -> Iterator[Difference]:
    if field.struct is None:
        if sorted(recorded) != sorted(actual):
            yield Difference(path, plain(recorded), plain(actual))
        return
    for old, new in pairs(recorded, actual, context.partners):
        if old is None or new is None:
            yield Difference(path, _row(old), _row(new))
        else:
            yield from _struct(field.struct, old, new, context, path)


def _row(row: Any) -> str:
    return MISSING if row is None else repr(row)[:200]


def plain(value: Any) -> Any:
    """Return a value for JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [plain(element) for element in value]
    return repr(value) if isinstance(value, msgspec.Struct) else value
