"""Ids of the recorded run and those that the target gives out instead.

They are learned from pairs of answers, recorded and actual, and put into later requests.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from protocol.spec import FieldSpec, StructSpec, load
from shim.replay.batches import with_producer
from shim.replay.fields import IDS, NO_ID, NO_ID_EITHER
from shim.replay.rows import pairs

Key = tuple[str, object, object]
"""Kind, what the id is unique in, and the recorded id."""


class Ids:
    """Everything learned so far in one replay."""

    def __init__(self) -> None:
        self._known: dict[Key, Any] = {}

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, connection: object, request: Any, recorded: Any, actual: Any) -> None:
        """Take the ids from two answers to the same request."""
        spec = load(type(recorded).__name__).struct
        group = getattr(request, "group_id", "")
        for kind, scope, old, new in _ids(spec, recorded, actual):
            self._known[_key(kind, scope, old, connection, group)] = new

    def rewrite(self, connection: object, request: Any) -> bool:
        """Put the target's ids into a request, in place; whether anything changed."""
        group = getattr(request, "group_id", "")
        return self._rewrite(load(type(request).__name__).struct, request, connection, group)

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

        new = with_producer(records, actual)
        setattr(value, field.attribute, new)
        return new != records


def _key(kind: str, producer: object, old: object, connection: object, group: object) -> Key:
    """Epochs belong to a producer, generations to a group, fetch sessions to a connection."""
    scopes = {"producer epoch": producer, "generation": group, "session": connection}
    return kind, scopes.get(kind), old


def _ids(spec: StructSpec, recorded: Any, actual: Any) -> Iterator[tuple[str, object, Any, Any]]:
    for field in _fields_with_ids(spec):
        old, new = getattr(recorded, field.attribute), getattr(actual, field.attribute)
        if old is None or new is None or field.kind == "records":
            continue
        if field.struct is None:
            kind = IDS[field.attribute]
            if not _is_none(kind, old) and not _is_none(kind, new):
                yield kind, _producer_of(recorded), old, new
        elif field.is_array:
            for one, other in pairs(old, new):
                if one is not None and other is not None:
                    yield from _ids(field.struct, one, other)
        else:
            yield from _ids(field.struct, old, new)


def _is_none(kind: str, value: object) -> bool:
    return isinstance(value, list) or value in NO_ID or NO_ID_EITHER.get(kind) == value


def _producer_of(value: msgspec.Struct) -> object:
    """The producer id next to an epoch, whatever the field is called in this API."""
    for name in ("producer_id", "v3_and_below_producer_id"):
        if hasattr(value, name):
            return getattr(value, name)
    return None


_found: dict[int, tuple[StructSpec, list[FieldSpec]]] = {}
"""By identity, because specs hold lists; the spec is kept so that its id stays its own."""


def _fields_with_ids(spec: StructSpec) -> list[FieldSpec]:
    """The fields that are ids, or have some inside."""
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
