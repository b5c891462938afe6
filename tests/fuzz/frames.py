"""Valid, altered and damaged frames made from a seed, and a cluster to send them to."""

from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.errors import EncodeError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from tests.protocol.values import Values
from tests.shim.play import Stage

CORRELATION_ID = 7
FRAME_BYTES_MAX = 1024 * 1024
USERS = ("User:admin", "User:alice")
NAMES = ("orders", "payments", "none", "g", "tx", "kafka-cluster", "", "__consumer_offsets", "*")
_NUMBERS = (-(2**63), -(2**31), -2, 2**15 - 1, 2**31 - 1, 2**63 - 1, 127, 128, 255)
_LENGTHS = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\x7f\xff", b"\xff\xff\x03")

Asked = tuple[ApiKey, int]


def stage_of(release: str, *, authorizer: str = "standard") -> Stage:
    """Return a cluster with some topics and, if it has an authorizer, ACLs."""
    stage = Stage(release, users={"alice": "alice-secret"}, authorizer=authorizer)
    for name in ("orders", "payments"):
        stage.topic(name, 2)
    stage.topic("__consumer_offsets", 1)
    if authorizer == "none":
        return stage
    kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
    for kind in kinds:
        stage.allow("User:alice", Operation.ALL, kind, "*")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "payments", deny=True)
    return stage


def likely(value: Any, random: Random, ids: list[bytes]) -> Any:
    """Replace some random values by likely ones: known names, small numbers, real topic ids."""
    for name in value.__struct_fields__:
        content = getattr(value, name)
        if isinstance(content, msgspec.Struct):
            likely(content, random, ids)
        elif isinstance(content, list):
            for place, row in enumerate(content):
                if isinstance(row, msgspec.Struct):
                    likely(row, random, ids)
                elif random.random() < 0.6:
                    content[place] = bent(row, random, ids)
        elif name != "unknown_tags" and random.random() < 0.6:
            setattr(value, name, bent(content, random, ids))
    return value


def bent(content: Any, random: Random, ids: list[bytes]) -> Any:
    if isinstance(content, str):
        return random.choice(NAMES)
    if isinstance(content, bool) or content is None:
        return content
    if isinstance(content, int):
        return random.choice((-1, 0, 0, 1, 1, 2, 5))
    if isinstance(content, bytes) and len(content) == 16:
        return random.choice(ids)
    return content


class Frames:
    """Frames for the APIs of a release; the same seed and number always make the same frame."""

    def __init__(self, seed: object, advertised: Mapping[ApiKey, Asked | tuple[int, int]]) -> None:
        self._seed = seed
        self._asked = [
            (key, version)
            for key, (low, high) in sorted(advertised.items())
            for version in range(
                max(low, load_message_spec(f"{key.wire_name}Request").versions.low), high + 1
            )
        ]

    def frame(self, number: int, ids: list[bytes]) -> bytes:
        """Return a frame: half are valid, a fifth have extreme values, three in ten are damaged."""
        random = Random(f"{self._seed} {number}")
        key, version = random.choice(self._asked)
        message = Values(random.random()).message(
            load_message_spec(f"{key.wire_name}Request"), version
        )
        message = likely(message, random, ids)
        kind = random.random()
        if 0.5 < kind < 0.7:
            _strange(message, random)
        head = write_request_header(RequestHeader(key, version, CORRELATION_ID, "fuzz"))
        try:
            frame = head + codecs.write_request(message, version)
            if random.random() < 0.002:
                times = min(int(1000 * 1000 ** random.random()), FRAME_BYTES_MAX // len(frame))
                _grow(message, times)
                frame = head + codecs.write_request(message, version)
        except EncodeError:  # this version cannot encode the altered value
            frame = head + random.randbytes(random.randrange(64))
        return frame if kind < 0.7 else _damaged(frame, random)


def _strange(value: Any, random: Random) -> None:
    """Set some fields to null or to the smallest or largest number of their type."""
    for name in value.__struct_fields__:
        content = getattr(value, name)
        if isinstance(content, msgspec.Struct):
            _strange(content, random)
        elif isinstance(content, list):
            for row in content:
                if isinstance(row, msgspec.Struct):
                    _strange(row, random)
        if random.random() < 0.1 and name != "unknown_tags":
            is_number = isinstance(content, int) and not isinstance(content, bool)
            setattr(value, name, random.choice(_NUMBERS) if is_number else None)


def _grow(message: Any, times: int) -> None:
    """Repeat the rows of the first list that is not empty."""
    for name in message.__struct_fields__:
        content = getattr(message, name)
        if isinstance(content, list) and content:
            setattr(message, name, content * times)
            return


def _damaged(frame: bytes, random: Random) -> bytes:
    """Change bytes or lengths, repeat or cut out a part; keep the correlation id."""
    body = bytearray(frame)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(8, len(body)) if len(body) > 8 else len(body)
        match random.randrange(5):
            case 0:
                body[at : at + 1] = random.randbytes(1)
            case 1:
                length = random.choice(_LENGTHS)
                body[at : at + len(length)] = length
            case 2:
                del body[at : at + random.randint(1, 8)]
            case 3:
                body[at:at] = body[at : at + random.randint(1, 32)]
            case _:
                body[2:4] = random.randrange(20).to_bytes(2, "big")
    return bytes(body)
