"""How a fault damages the frame of a response on its way out."""

from collections.abc import Callable, Sequence
from struct import Struct

from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.codec.runtime import encode_unsigned_varint
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.faults.spec import Effect

DamageFrame = Callable[[bytes], bytes]

_CORRUPTED_FROM = 8
"""Size and correlation id stay: the client must take it for its response."""
_INT = Struct(">i")
_TAG = 9999
"""No message has one of this number."""


def build_frame_damage(effects: Sequence[Effect], api: ServedApi) -> DamageFrame | None:
    """Return a function that applies the effects to a frame; None without such effects."""
    steps: list[DamageFrame] = []
    for effect in effects:
        if effect.tagged_bytes is not None:
            steps.append(_tagged_field_insertion(api, effect.tagged_bytes))
        if effect.corrupt:
            steps.append(_flip_body_bits)
        if effect.correlation_id is not None:
            steps.append(_int32_overwrite(4, effect.correlation_id))
        if effect.size is not None:
            steps.append(_int32_overwrite(0, effect.size))
    lengths = [effect.truncate for effect in effects if effect.truncate is not None]
    if lengths:
        steps.append(_truncation(min(lengths)))
    if not steps:
        return None

    def damage_frame(frame: bytes) -> bytes:
        for step in steps:
            frame = step(frame)
        return frame

    return damage_frame


def _flip_body_bits(frame: bytes) -> bytes:
    head, body = frame[:_CORRUPTED_FROM], frame[_CORRUPTED_FROM:]
    return head + bytes(byte ^ 0xFF for byte in body)


def _int32_overwrite(offset: int, number: int) -> DamageFrame:
    return lambda frame: frame[:offset] + _INT.pack(number) + frame[offset + 4 :]


def _truncation(length: int) -> DamageFrame:
    def truncate(frame: bytes) -> bytes:
        raise CloseConnection("a fault cut a response short", last_bytes=frame[:length])

    return truncate


def _tagged_field_insertion(api: ServedApi, length: int) -> DamageFrame:
    """Return a function that inserts an unknown tagged field into the header of flexible responses.

    It is also inserted into a body that never has tagged fields of its own: the last byte of that
    body is their number, 0.
    """
    if not api.has_response_tags:
        return lambda frame: frame
    spec = load_message_spec(f"{api.key.wire_name}Response")
    has_tags = any(field.tagged_versions.has(api.version) for field in spec.top_level_struct.fields)
    section = (
        b"\x01" + encode_unsigned_varint(_TAG) + encode_unsigned_varint(length) + bytes(length)
    )

    def damage_frame(frame: bytes) -> bytes:
        header, body = frame[4:8] + section, frame[9:]
        if not has_tags:
            body = body[:-1] + section
        return _INT.pack(len(header) + len(body)) + header + body

    return damage_frame
