"""Recorded ids and their counterparts at the target, also in record batches and of group leaders.

Ids are learned from pairs of responses, recorded and actual, and put into later requests.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from struct import Struct
from typing import Any

import msgspec
from crc32c import crc32c

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.shim.traffic.replay.fields import IDS, NO_ID, NO_ID_EITHER, Partners, pairs

_LENGTH_AT, _MAGIC_AT, _CRC_AT, _CHECKED_AT, _PRODUCER_AT = 8, 16, 17, 21, 43
_HEADER_BYTES = 61
_PRODUCER = Struct(">qh")
_LENGTH = Struct(">i")
_CRC = Struct(">I")


def with_actual_producers(records: bytes, actual: Callable[[int, int], tuple[int, int]]) -> bytes:
    """Return the records with producer id and epoch of each batch replaced by `actual`.

    Anything except whole batches of format 2 is unchanged.
    """
    changed = bytearray(records)
    at = 0
    while at + _HEADER_BYTES <= len(records):
        end = at + _LENGTH_AT + 4 + _LENGTH.unpack_from(records, at + _LENGTH_AT)[0]
        if records[at + _MAGIC_AT] != 2 or not at + _HEADER_BYTES <= end <= len(records):
            break
        old = _PRODUCER.unpack_from(records, at + _PRODUCER_AT)
        new = old if old[0] < 0 else actual(*old)
        if new != old:
            _PRODUCER.pack_into(changed, at + _PRODUCER_AT, *new)
            checksum = crc32c(bytes(changed[at + _CHECKED_AT : end]))
            _CRC.pack_into(changed, at + _CRC_AT, checksum)
        at = end
    return bytes(changed)


TEXT_BYTES = 16
TEXTS_MAX = 16
"""With more ids that differ it is quicker to read a frame than to look for each."""

Key = tuple[str, object, object]
"""Kind, what the id is unique in, and the recorded id."""


class Ids:
    """The ids learned so far in a replay."""

    def __init__(self) -> None:
        self._known: dict[Key, Any] = {}
        self.members: dict[str, str] = {}
        """The target's members by the recorded ones."""
        self._topics: dict[bytes, bytes] = {}
        self._recorded_topics: dict[bytes, bytes] = {}
        self._guessed: set[str] = set()  # members known only from a list
        self.changes = 0
        """How often something new was learned."""
        self.differ = False
        """Whether any id of the target is another one: if not, requests go out as recorded."""
        self._texts: dict[bytes, bytes] = {}  # long ids that differ, encoded as in a frame

    def __len__(self) -> int:
        return len(self._known)

    @property
    def partners(self) -> Partners:
        """The rows of two lists that correspond by their ids."""
        return Partners(self.members, self._topics, self._recorded_topics)

    def learn(self, connection: object, request: Any, recorded: Any, actual: Any) -> None:
        """Learn the ids from two responses to the same request."""
        spec = load_message_spec(type(recorded).__name__).struct
        group = getattr(request, "group_id", "")
        own = getattr(recorded, "member_id", None)
        for kind, scope, old, new in _ids(spec, recorded, actual, self.partners):
            if kind == "member":
                self._learn_member(old, new, is_certain=old == own)
            elif kind == "topic":
                self._learn_topic(old, new)
            key = _key(kind, scope, old, connection, group)
            self.changes += self._known.get(key) != new
            self._known[key] = new
            if old != new:
                self.differ = True
                self._add_text_replacement(old, new)

    def _learn_member(self, old: str, new: str, *, is_certain: bool) -> None:
        """Learn a member's id; a response to the member is certain and replaces guesses."""
        if is_certain:
            self._guessed.discard(old)
            for other in [guess for guess in self._guessed if self.members[guess] == new]:
                self._guessed.discard(other)
                del self.members[other], self._known["member", None, other]
        elif old not in self.members:
            self._guessed.add(old)
        self.members[old] = new

    def _learn_topic(self, old: bytes, new: bytes) -> None:
        """Learn a topic's id, which replaces one guessed by its position in a list."""
        guess = self._topics.get(old, new)
        if guess != new and self._recorded_topics.get(guess) == old:
            del self._recorded_topics[guess]
        self._topics[old] = new
        self._recorded_topics[new] = old

    def change(self, old: str, new: str) -> bool:
        """Exchange the target's ids of two recorded members.

        Return False if the other member is unknown.
        """
        others = [other for other, own in self.members.items() if own == new]
        own = self.members.get(old)
        if own is None or len(others) != 1:
            return False
        for member, actual in ((old, new), (others[0], own)):
            self._guessed.discard(member)
            self.members[member] = self._known["member", None, member] = actual
            self._add_text_replacement(member, actual)
        self.changes += 1
        return True

    def with_actual_ids(self, frame: bytes) -> bytes:
        """Return a frame with the target's long ids, which cannot occur by chance."""
        if len(self._texts) <= TEXTS_MAX:
            for old, new in self._texts.items():
                frame = frame.replace(old, new)
        return frame

    def _add_text_replacement(self, old: Any, new: Any) -> None:
        if isinstance(old, str) and isinstance(new, str):
            old, new = old.encode(), new.encode()
        if isinstance(old, bytes) and isinstance(new, bytes) and len(old) == len(new) >= TEXT_BYTES:
            self._texts[old] = new

    def rewrite(self, connection: object, request: Any) -> bool:
        """Put the target's ids into a request, in place; return whether anything changed."""
        group = getattr(request, "group_id", "")
        return self._rewrite(
            load_message_spec(type(request).__name__).struct, request, connection, group
        )

    def _rewrite(self, spec: StructSpec, value: Any, connection: object, group: object) -> bool:
        changed = False
        old_producer = _producer_of(value)
        for field in _fields_with_ids(spec):
            content = getattr(value, field.attribute)
            if content is None:
                continue
            if field.struct is not None:
                for row in content if field.is_array else (content,):
                    changed |= self._rewrite(field.struct, row, connection, group)
            elif field.kind == "records":
                changed |= self._rewrite_records(value, field, content)
            else:
                kind = IDS[field.attribute]
                key = _key(kind, old_producer, content, connection, group)
                new = content if _is_none(kind, content) else self._known.get(key, content)
                if new != content:
                    setattr(value, field.attribute, new)
                    changed = True
        return changed

    def _rewrite_records(self, value: Any, field: FieldSpec, records: bytes) -> bool:
        def actual(producer_id: int, epoch: int) -> tuple[int, int]:
            new = self._known.get(("producer", None, producer_id), producer_id)
            return new, self._known.get(("producer epoch", producer_id, epoch), epoch)

        new = with_actual_producers(records, actual)
        setattr(value, field.attribute, new)
        return new != records


def _key(kind: str, producer: object, old: object, connection: object, group: object) -> Key:
    """Return the key: epochs belong to a producer, generations to a group, sessions to a
    connection.
    """
    scopes = {"producer epoch": producer, "generation": group, "session": connection}
    return kind, scopes.get(kind), old


def _ids(
    spec: StructSpec, recorded: Any, actual: Any, partners: Partners
) -> Iterator[tuple[str, object, Any, Any]]:
    for field in _fields_with_ids(spec):
        old, new = getattr(recorded, field.attribute), getattr(actual, field.attribute)
        if old is None or new is None or field.kind == "records":
            continue
        if field.struct is None:
            kind = IDS[field.attribute]
            if not _is_none(kind, old) and not _is_none(kind, new):
                yield kind, _producer_of(recorded), old, new
        elif field.is_array:
            for old_row, new_row in pairs(old, new, partners):
                if old_row is not None and new_row is not None:
                    yield from _ids(field.struct, old_row, new_row, partners)
        else:
            yield from _ids(field.struct, old, new, partners)


def _is_none(kind: str, value: object) -> bool:
    return isinstance(value, list) or value in NO_ID or NO_ID_EITHER.get(kind) == value


def _producer_of(value: msgspec.Struct) -> object:
    """Return the producer id beside an epoch, under any of its field names."""
    for name in ("producer_id", "v3_and_below_producer_id"):
        if hasattr(value, name):
            return getattr(value, name)
    return None


@cache
def id_kinds(api_key: int, version: int, side: str) -> frozenset[str]:
    """Return the kinds of ids in a `Request` or `Response` of this API, including `records`."""
    try:
        name = ApiKey(api_key).wire_name
    except ValueError:
        return frozenset()
    return frozenset(_kinds(load_message_spec(f"{name}{side}").struct, version))


def _kinds(spec: StructSpec, version: int) -> Iterator[str]:
    for field in _fields_with_ids(spec):
        if not field.versions.has(version):
            continue
        if field.struct is not None:
            yield from _kinds(field.struct, version)
        else:
            yield IDS.get(field.attribute, "records")


@lru_cache(maxsize=4096)
def contains_ids(frame_body: bytes, api_key: int, version: int) -> bool:
    """Return whether the body of a request contains ids, or records, which may contain one."""
    try:
        message = codecs.read_request(api_key, version, frame_body, 0)
    except ProtocolError:
        return False
    return _contains_ids(load_message_spec(type(message).__name__).struct, message)


def _contains_ids(spec: StructSpec, value: Any) -> bool:
    for field in _fields_with_ids(spec):
        content = getattr(value, field.attribute)
        if content is None:
            continue
        if field.struct is not None:
            rows = content if field.is_array else (content,)
            if any(_contains_ids(field.struct, row) for row in rows):
                return True
        elif field.kind == "records" or not _is_none(IDS[field.attribute], content):
            return True
    return False


_found: dict[int, tuple[StructSpec, list[FieldSpec]]] = {}
"""By identity, because specs hold lists; the spec is kept so that its id stays its own."""


def _fields_with_ids(spec: StructSpec) -> list[FieldSpec]:
    """Return the fields that are ids or contain some."""
    known = _found.get(id(spec))
    if known is None:
        fields = [
            field
            for field in spec.fields
            if field.attribute in IDS
            or field.kind == "records"
            or (field.struct is not None and _fields_with_ids(field.struct))
        ]
        known = _found[id(spec)] = (spec, fields)
    return known[1]


class LeaderExchanges:
    """Learns from responses to JoinGroup; exchanges the two members in `ids`."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._changed: set[tuple[str, int]] = set()

    def has_exchanged_members(self, group: str, generation: int) -> bool:
        """Return whether members exchanged their ids in this recorded generation.

        Earlier responses to JoinGroup then do not show the ids.
        """
        return (group, generation) in self._changed

    def learn(self, request: Any, recorded: Any, actual: Any) -> bool:
        """Learn from two responses to the same JoinGroup; return whether another member leads."""
        if not (recorded.leader and actual.leader):
            return False
        if self._ids.members.get(recorded.leader, recorded.leader) == actual.leader:
            return False
        if request.group_instance_id is None and self._ids.change(recorded.leader, actual.leader):
            self._changed.add((request.group_id, recorded.generation_id))
        return True
