"""Recorded ids and their counterparts at the target, also in record batches and of group leaders.

Ids are learned from pairs of responses, recorded and actual, and put into later requests.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from struct import Struct
from typing import Any, NamedTuple

import msgspec
from crc32c import crc32c

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.traces.identities.message_fields import (
    IDS,
    NO_ID,
    NO_ID_EITHER,
    CorrespondingIds,
    paired_values,
)

_LENGTH_AT, _MAGIC_AT, _CRC_AT, _CHECKED_AT, _PRODUCER_AT = 8, 16, 17, 21, 43
_HEADER_BYTES = 61
_PRODUCER = Struct(">qh")
_LENGTH = Struct(">i")
_CRC = Struct(">I")


def replace_producer_in_batches(
    records: bytes, target_producer: Callable[[int, int], tuple[int, int]]
) -> bytes:
    """Return the records with producer id and epoch of each batch replaced by the target's.

    Anything except whole batches of format 2 is unchanged.
    """
    changed = bytearray(records)
    at = 0
    while at + _HEADER_BYTES <= len(records):
        end = at + _LENGTH_AT + 4 + _LENGTH.unpack_from(records, at + _LENGTH_AT)[0]
        if records[at + _MAGIC_AT] != 2 or not at + _HEADER_BYTES <= end <= len(records):
            break
        recorded_id = _PRODUCER.unpack_from(records, at + _PRODUCER_AT)
        target_id = recorded_id if recorded_id[0] < 0 else target_producer(*recorded_id)
        if target_id != recorded_id:
            _PRODUCER.pack_into(changed, at + _PRODUCER_AT, *target_id)
            checksum = crc32c(bytes(changed[at + _CHECKED_AT : end]))
            _CRC.pack_into(changed, at + _CRC_AT, checksum)
        at = end
    return bytes(changed)


LONG_ID_BYTES_MIN = 16
LONG_IDS_MAX = 16
"""With more ids that differ it is quicker to read a frame than to look for each."""

MappingKey = tuple[str, object, object]
"""Kind, what the id is unique in, and the recorded id."""


class _IdPair(NamedTuple):
    """A recorded id and the target's, with the producer in the same struct."""

    kind: str
    producer: object
    recorded_id: Any
    target_id: Any


class IdMapping:
    """Maps recorded ids to the target's, learned from pairs of responses."""

    def __init__(self) -> None:
        self._target_ids: dict[MappingKey, Any] = {}
        self.members: dict[str, str] = {}
        """The target's members by the recorded ones."""
        self._topics: dict[bytes, bytes] = {}
        self._recorded_topics: dict[bytes, bytes] = {}
        self._guessed_members: set[str] = set()  # members known only from a list
        self.change_count = 0
        """How often something new was learned."""
        self.differs_from_recording = False
        """Whether any id of the target is another one: if not, requests go out as recorded."""
        self._long_id_replacements: dict[bytes, bytes] = {}
        """Long ids that differ, encoded as in a frame."""

    def __len__(self) -> int:
        return len(self._target_ids)

    @property
    def corresponding_ids(self) -> CorrespondingIds:
        """Return the ids by which the rows of two responses are paired."""
        return CorrespondingIds(self.members, self._topics, self._recorded_topics)

    def learn(self, connection: object, request: Any, recorded: Any, actual: Any) -> None:
        """Learn the ids from two responses to the same request."""
        spec = load_message_spec(type(recorded).__name__).top_level_struct
        group = getattr(request, "group_id", "")
        own_member_id = getattr(recorded, "member_id", None)
        for kind, producer, recorded_id, target_id in _id_pairs(
            spec, recorded, actual, self.corresponding_ids
        ):
            if kind == "member":
                self._learn_member(recorded_id, target_id, is_certain=recorded_id == own_member_id)
            elif kind == "topic":
                self._learn_topic(recorded_id, target_id)
            key = _mapping_key(kind, producer, recorded_id, connection, group)
            self.change_count += self._target_ids.get(key) != target_id
            self._target_ids[key] = target_id
            if recorded_id != target_id:
                self.differs_from_recording = True
                self._add_long_id_replacement(recorded_id, target_id)

    def _learn_member(self, recorded_id: str, target_id: str, *, is_certain: bool) -> None:
        """Learn a member's id; a response to the member is certain and replaces guesses."""
        if is_certain:
            self._guessed_members.discard(recorded_id)
            for other in [
                guess for guess in self._guessed_members if self.members[guess] == target_id
            ]:
                self._guessed_members.discard(other)
                del self.members[other], self._target_ids["member", None, other]
        elif recorded_id not in self.members:
            self._guessed_members.add(recorded_id)
        self.members[recorded_id] = target_id

    def _learn_topic(self, recorded_id: bytes, target_id: bytes) -> None:
        """Learn a topic's id, which replaces one guessed by its position in a list."""
        guess = self._topics.get(recorded_id, target_id)
        if guess != target_id and self._recorded_topics.get(guess) == recorded_id:
            del self._recorded_topics[guess]
        self._topics[recorded_id] = target_id
        self._recorded_topics[target_id] = recorded_id

    def swap_members(self, recorded_id: str, target_id: str) -> bool:
        """Exchange the target's ids of two recorded members.

        Return False if the other member is unknown.
        """
        other_members = [
            other for other, own_member_id in self.members.items() if own_member_id == target_id
        ]
        own_member_id = self.members.get(recorded_id)
        if own_member_id is None or len(other_members) != 1:
            return False
        for member, target_member in (
            (recorded_id, target_id),
            (other_members[0], own_member_id),
        ):
            self._guessed_members.discard(member)
            self.members[member] = self._target_ids["member", None, member] = target_member
            self._add_long_id_replacement(member, target_member)
        self.change_count += 1
        return True

    def replace_long_ids_in_frame(self, frame: bytes) -> bytes:
        """Return a frame with the target's long ids, which cannot occur by chance."""
        if len(self._long_id_replacements) <= LONG_IDS_MAX:
            for recorded_id, target_id in self._long_id_replacements.items():
                frame = frame.replace(recorded_id, target_id)
        return frame

    def _add_long_id_replacement(self, recorded_id: Any, target_id: Any) -> None:
        if isinstance(recorded_id, str) and isinstance(target_id, str):
            recorded_id, target_id = recorded_id.encode(), target_id.encode()
        if (
            isinstance(recorded_id, bytes)
            and isinstance(target_id, bytes)
            and len(recorded_id) == len(target_id) >= LONG_ID_BYTES_MIN
        ):
            self._long_id_replacements[recorded_id] = target_id

    def put_target_ids(self, connection: object, request: Any) -> bool:
        """Put the target's ids into a request, in place; return whether anything changed."""
        group = getattr(request, "group_id", "")
        return self._put_target_ids_in_struct(
            load_message_spec(type(request).__name__).top_level_struct, request, connection, group
        )

    def _put_target_ids_in_struct(
        self, spec: StructSpec, value: Any, connection: object, group: object
    ) -> bool:
        changed = False
        old_producer = _producer_id_or_none(value)
        for field in _mapped_fields(spec):
            content = getattr(value, field.attribute)
            if content is None:
                continue
            if field.struct is not None:
                for row in content if field.is_array else (content,):
                    changed |= self._put_target_ids_in_struct(field.struct, row, connection, group)
            elif field.element_kind == "records":
                changed |= self._put_target_producers_in_batches(value, field, content)
            else:
                kind = IDS[field.attribute]
                key = _mapping_key(kind, old_producer, content, connection, group)
                target_id = (
                    content if _is_absent_id(kind, content) else self._target_ids.get(key, content)
                )
                if target_id != content:
                    setattr(value, field.attribute, target_id)
                    changed = True
        return changed

    def _put_target_producers_in_batches(
        self, value: Any, field: FieldSpec, records: bytes
    ) -> bool:
        def target_producer(producer_id: int, epoch: int) -> tuple[int, int]:
            target_id = self._target_ids.get(("producer", None, producer_id), producer_id)
            return target_id, self._target_ids.get(("producer epoch", producer_id, epoch), epoch)

        target_id = replace_producer_in_batches(records, target_producer)
        setattr(value, field.attribute, target_id)
        return target_id != records


def _mapping_key(
    kind: str, producer: object, recorded_id: object, connection: object, group: object
) -> MappingKey:
    """Return the key: epochs belong to a producer, generations to a group, sessions to a
    connection.
    """
    scopes = {"producer epoch": producer, "generation": group, "session": connection}
    return kind, scopes.get(kind), recorded_id


def _id_pairs(
    spec: StructSpec, recorded: Any, actual: Any, corresponding_ids: CorrespondingIds
) -> Iterator[_IdPair]:
    """Yield the ids in two responses of the same type, except those that stand for no id."""
    for each in paired_values(spec, recorded, actual, _mapped_fields, corresponding_ids):
        ids = each.recorded, each.actual
        kind = IDS.get(each.field.attribute)
        if kind is None or each.field.struct is not None or None in ids:
            continue
        if not any(_is_absent_id(kind, value) for value in ids):
            yield _IdPair(kind, _producer_id_or_none(each.recorded_struct), *ids)


def _is_absent_id(kind: str, value: object) -> bool:
    return isinstance(value, list) or value in NO_ID or NO_ID_EITHER.get(kind) == value


def _producer_id_or_none(value: msgspec.Struct) -> object:
    """Return the producer id of a struct, under any of its field names."""
    for name in ("producer_id", "v3_and_below_producer_id"):
        if hasattr(value, name):
            return getattr(value, name)
    return None


@cache
def mapped_kinds_of_message(api_key: int, version: int, side: str) -> frozenset[str]:
    """Return the kinds of ids in a `Request` or `Response` of this API, including `records`."""
    try:
        name = ApiKey(api_key).wire_name
    except ValueError:
        return frozenset()
    return frozenset(
        _mapped_kinds_of_struct(load_message_spec(f"{name}{side}").top_level_struct, version)
    )


def _mapped_kinds_of_struct(spec: StructSpec, version: int) -> Iterator[str]:
    for field in _mapped_fields(spec):
        if not field.versions.has(version):
            continue
        if field.struct is not None:
            yield from _mapped_kinds_of_struct(field.struct, version)
        else:
            yield IDS.get(field.attribute, "records")


@lru_cache(maxsize=4096)
def request_has_mapped_values(frame_body: bytes, api_key: int, version: int) -> bool:
    """Return whether the body of a request contains ids, or records, which may contain one."""
    try:
        message = codecs.read_request(api_key, version, frame_body, 0)
    except ProtocolError:
        return False
    return _struct_has_mapped_values(
        load_message_spec(type(message).__name__).top_level_struct, message
    )


def _struct_has_mapped_values(spec: StructSpec, value: Any) -> bool:
    for field in _mapped_fields(spec):
        content = getattr(value, field.attribute)
        if content is None:
            continue
        if field.struct is not None:
            rows = content if field.is_array else (content,)
            if any(_struct_has_mapped_values(field.struct, row) for row in rows):
                return True
        elif field.element_kind == "records" or not _is_absent_id(IDS[field.attribute], content):
            return True
    return False


_id_fields_by_spec: dict[int, tuple[StructSpec, list[FieldSpec]]] = {}
"""By identity, because specs hold lists; the spec is kept so that its id stays its own."""


def _mapped_fields(spec: StructSpec) -> list[FieldSpec]:
    """Return the fields that are ids or contain some."""
    cached_fields = _id_fields_by_spec.get(id(spec))
    if cached_fields is None:
        fields = [
            field
            for field in spec.fields
            if field.attribute in IDS
            or field.element_kind == "records"
            or (field.struct is not None and _mapped_fields(field.struct))
        ]
        cached_fields = _id_fields_by_spec[id(spec)] = (spec, fields)
    return cached_fields[1]


class GroupLeaderSwaps:
    """Exchanges two members in `ids` if another one leads the target's group."""

    def __init__(self, ids: IdMapping) -> None:
        self._ids = ids
        self._exchanged_generations: set[tuple[str, int]] = set()

    def has_swapped_members(self, group: str, generation: int) -> bool:
        """Return whether members exchanged their ids in this recorded generation.

        Earlier responses to JoinGroup then do not show the ids.
        """
        return (group, generation) in self._exchanged_generations

    def swap_leaders(self, join_request: Any, recorded: Any, actual: Any) -> bool:
        """Return whether two responses to a JoinGroup have other leaders; exchange the members."""
        if not (recorded.leader and actual.leader):
            return False
        if self._ids.members.get(recorded.leader, recorded.leader) == actual.leader:
            return False
        if join_request.group_instance_id is None and self._ids.swap_members(
            recorded.leader, actual.leader
        ):
            self._exchanged_generations.add((join_request.group_id, recorded.generation_id))
        return True
