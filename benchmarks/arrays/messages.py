"""Requests in which one array is as long as fits: each array of each API in turn."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka_shim.protocol import codecs
from kafka_shim.protocol.catalogue import classes
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.spec import INTEGERS, FieldSpec, StructSpec, load

_NUMBERS = {
    "resource_type": 2,
    "resource_type_filter": 2,
    "resource_pattern_type": 3,
    "pattern_type": 3,
    "pattern_type_filter": 3,
    "operation": 3,
    "permission_type": 3,
    "permission_type_filter": 3,
    "timeout_ms": 1000,
    "transaction_timeout_ms": 1000,
    "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 10_000,
    "validate_only": 0,
    "acks": -1,
    "replication_factor": 1,
    "num_partitions": 1,
    "timestamp": -1,
    "replica_id": -1,
    "current_leader_epoch": -1,
    "partition_max_bytes": 1000,
    "max_bytes": 1000,
    "max_num_offsets": 1,
    "generation_id_or_member_epoch": -1,
    "generation_id": -1,
    "session_epoch": -1,
    "count": 3,
    "mechanism": 1,
    "iterations": 4096,
}
_TEXTS = {
    "group_id": "g",
    "transactional_id": "tx",
    "principal": "User:u",
    "principal_filter": "User:u",
    "host": "*",
    "host_filter": "*",
    "member_id": "",
    "protocol_type": "consumer",
    "entity_type": "user",
    "value": "1",
}
_MEMBERS = frozenset(
    {
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)
"""Their members choose their ids; those that join have no tasks."""
_MEMBER = {"member_id": "m", "instance_id": None, "subscribed_topic_regex": None}
_TASKS = ("active_tasks", "standby_tasks", "warmup_tasks")
_FIXED = ("*", "", "1", "user", "consumer")
_COUNTED = ("partition", "index", "broker", "node", "replica", "producer", "id")


class Case(NamedTuple):
    """An API with the array that is long, as a path of fields; `equal`: of equal elements."""

    api: ApiKey
    version: int
    path: tuple[str, ...]
    is_equal: bool

    @property
    def name(self) -> str:
        kind = " equal" if self.is_equal else ""
        return f"{self.api.wire_name} {self.version} {'.'.join(self.path)}{kind}"

    def frame(self, frame_bytes: int) -> bytes:
        """A request of about this size."""
        few, more = (len(self._body(count)) for count in (200, 1200))
        each = max(1.0, (more - few) / 1000)
        head = write_request_header(RequestHeader(self.api, self.version, 7, "arrays"))
        return head + self._body(int(frame_bytes / each))

    def _body(self, count: int) -> bytes:
        spec = load(f"{self.api.wire_name}Request")
        made = _Making(self, classes(spec.name), count)
        return codecs.write_request(made.struct(spec.struct, 0, self.path), self.version)


class _Making(NamedTuple):
    """Fills structs with values that make sense; `number` counts along the long array."""

    case: Case
    types: Any
    elements: int

    def struct(self, spec: StructSpec, number: int, path: tuple[str, ...] | None) -> Any:
        values = {
            field.attribute: self._field(field, number, path)
            for field in spec.fields
            if field.versions.has(self.case.version) and not field.tagged.has(self.case.version)
        }
        return self.types[spec.name](**values)

    def _field(self, field: FieldSpec, number: int, path: tuple[str, ...] | None) -> Any:
        is_on_path = path is not None and path[:1] == (field.attribute,)
        further = path[1:] if path is not None and is_on_path else None
        if not field.is_array:
            return self._value(field, number, further)
        if is_on_path and not further:
            numbers = [0] * self.elements if self.case.is_equal else range(self.elements)
            return [self._value(field, at, None) for at in numbers]
        if self.case.api in _MEMBERS and field.attribute in _TASKS and not is_on_path:
            return []
        return [self._value(field, number, further)]

    def _value(self, field: FieldSpec, number: int, path: tuple[str, ...] | None) -> Any:
        if field.struct is not None:
            return self.struct(field.struct, number, path)
        if self.case.api in _MEMBERS and field.attribute in _MEMBER:
            return _MEMBER[field.attribute]
        if field.kind == "string":
            text = _TEXTS.get(field.attribute, "t")
            return text if text in _FIXED else f"{text}{number}"
        if field.kind in INTEGERS:
            return _integer(field, number)
        return {"bool": False, "float64": 1.0, "uuid": number.to_bytes(16, "big")}.get(
            field.kind, b""
        )


def _integer(field: FieldSpec, number: int) -> int:
    name = field.attribute
    if name in _NUMBERS:
        return _NUMBERS[name]
    counts = any(part in name for part in _COUNTED)
    return number % (1 << (8 * INTEGERS[field.kind] - 1)) if counts else 0


def cases(api: ApiKey, version: int) -> Iterator[Case]:
    """Each array of a request, its elements different or all equal."""
    for path in _paths(load(f"{api.wire_name}Request").struct, version):
        for is_equal in (False, True):
            yield Case(api, version, path, is_equal)


def _paths(spec: StructSpec, version: int) -> Iterator[tuple[str, ...]]:
    for field in spec.fields:
        if not field.versions.has(version) or field.tagged.has(version):
            continue
        if field.is_array:
            yield (field.attribute,)
        if field.struct is not None:
            for further in _paths(field.struct, version):
                yield (field.attribute, *further)
