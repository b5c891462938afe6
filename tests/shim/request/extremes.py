"""Requests with one extreme value each: numbers, texts and bytes of every field of every API."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from crc32c import crc32c

from benchmarks.arrays.messages import Case
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.codec.message_spec import (
    INTEGERS,
    FieldSpec,
    StructSpec,
    load_message_spec,
)
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.records.batches import BatchOptions
from kafka_shim.shim.state.settings.config_definitions import definitions_of_release
from tests.shim.request.busy_cluster import NONE, BusyCluster, Values, batch
from tests.support.frames import request_frame

FEW = (0, -1, 9_999)
PLAUSIBLE = (*FEW, 2_000, 5_000, 65_535, 100_000, 1_000_000)
"""Numbers besides the greatest and the least; the few are for older versions of an API."""
_MAX = sys.float_info.max
FLOATS = (0.0, -1.0, 5e-324, 1e-300, _MAX, -_MAX, math.inf, math.nan)
TEXTS = ("x" * 32_767, "(" * 32_767, "é" * 16_000)
BYTES = (bytes(1 << 20), b"\xff" * 16)
QUOTAS = {
    "user": (
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    ),
    "ip": ("connection_creation_rate",),
}
NAMES = {"user": "admin", "ip": "127.0.0.1"}
_BATCH = {
    "base_offset": (0, 8),
    "length": (8, 4),
    "partition_leader_epoch": (12, 4),
    "attributes": (21, 2),
    "last_offset_delta": (23, 4),
    "base_timestamp": (27, 8),
    "max_timestamp": (35, 8),
    "producer_id": (43, 8),
    "producer_epoch": (51, 2),
    "base_sequence": (53, 4),
    "count": (57, 4),
}
_MESSAGE = {"offset": (0, 8), "size": (8, 4), "attributes": (17, 1)}
"""Position and width of the numbers in the header of a batch, and of a message of old formats."""
_WIDTHS = {"short": "int16", "int": "int32", "long": "int64", "double": "int64"}
_RESOURCES = {
    ConfigResourceType.TOPIC: "t0",
    ConfigResourceType.BROKER: "1",
    ConfigResourceType.CLIENT_METRICS: "metrics",
}
_GROUPS = {"consumer": "n0", "share": "s0", "streams": "r1"}
_MESSAGE_PREFIX = 12
_BATCHES_SINCE = 3


class Extreme(NamedTuple):
    """A request in which the field at the end of a path has this value, and others have `more`."""

    case: Case
    value: Any
    more: Values = NONE

    @property
    def name(self) -> str:
        shown = repr(self.value) if isinstance(self.value, int | float) else repr(self.value[:9])
        return " ".join([self.case.name, "=", shown, *map(str, self.more.values())])

    def frame(self, cluster: BusyCluster) -> bytes:
        request = cluster.valid(self.case, self.more)
        path = self.case.path
        if path[:1] == ("records",):
            self._set_in_header(request, cluster)
        else:
            _set(request, path, self.value)
        return frame_of(self.case, request)

    def _set_in_header(self, request: Any, cluster: BusyCluster) -> None:
        """Set a number in the header of a batch, or of the first message of an old format."""
        (row,) = request.topic_data[0].partition_data
        at, width = _header(self.case.version)[self.case.path[-1]]
        if self.case.version < _BATCHES_SINCE:
            content = bytearray(row.records)
            end = _MESSAGE_PREFIX + int.from_bytes(content[8:_MESSAGE_PREFIX], "big")
            crc_at, covered_from, checksum = _MESSAGE_PREFIX, _MESSAGE_PREFIX + 4, crc32
        else:
            producer = cluster.known.get(ApiKey.INIT_PRODUCER_ID, {})
            ids = {name: producer.get(name, -1) for name in ("producer_id", "producer_epoch")}
            content = bytearray(batch(BatchOptions(**ids, base_sequence=0)))
            end, crc_at, covered_from, checksum = len(content), 17, 21, crc32c
        content[at : at + width] = self.value.to_bytes(width, "big", signed=True)
        sealed = checksum(bytes(content[covered_from:end]))
        content[crc_at : crc_at + 4] = sealed.to_bytes(4, "big")
        row.records = bytes(content)


def numbers(api: ApiKey, version: int, others: Sequence[int] = PLAUSIBLE) -> Iterator[Extreme]:
    """Yield each number of a request with the extremes of its type and `others`."""
    for path, field in _fields(
        load_message_spec(f"{api.wire_name}Request").top_level_struct, version
    ):
        case = Case(api, version, path, is_equal=False)
        if field.element_kind in INTEGERS:
            yield from (Extreme(case, value) for value in _values(field.element_kind, others))
        elif field.element_kind == "float64":
            yield from _quotas(case)
        elif field.element_kind == "records":
            for name, (_, width) in _header(version).items():
                inside = Case(api, version, ("records", name), is_equal=False)
                yield from (Extreme(inside, value) for value in _values(f"int{8 * width}", others))


def texts(api: ApiKey, version: int) -> Iterator[Extreme]:
    """Yield each text of a request, and each field of bytes, with the largest values."""
    for path, field in _fields(
        load_message_spec(f"{api.wire_name}Request").top_level_struct, version
    ):
        values: tuple[Any, ...] = {"string": TEXTS, "bytes": BYTES}.get(field.element_kind, ())
        case = Case(api, version, path, is_equal=False)
        yield from (Extreme(case, value) for value in values)


def settings(release: str, api: ApiKey, version: int) -> Iterator[Extreme]:
    """Yield each number in the settings of topics, brokers, groups and client metrics."""
    known = definitions_of_release(release or RELEASES[-1])
    case = Case(api, version, ("resources", "configs", "value"), is_equal=False)
    for kind, found in (
        (ConfigResourceType.TOPIC, known.topic_configs),
        (ConfigResourceType.BROKER, known.broker),
        (ConfigResourceType.GROUP, known.group),
        (ConfigResourceType.CLIENT_METRICS, known.client_metrics),
    ):
        for name, setting in found.items():
            is_fixed = kind is ConfigResourceType.BROKER and not setting.dynamic
            if setting.type not in _WIDTHS or is_fixed:
                continue
            resource = _RESOURCES.get(kind) or _GROUPS[name.partition(".")[0]]
            more = {"resource_type": int(kind), "resource_name": resource, "name": name}
            bounds = (setting.check.min, setting.check.max)
            others = (*PLAUSIBLE, 1, *(int(bound) for bound in bounds if bound is not None))
            for value in _values(_WIDTHS[setting.type], others):
                yield Extreme(case, str(value), more)


def frame_of(case: Case, request: Any) -> bytes:
    return request_frame(case.api, case.version, request, 7, "extremes")


def _fields(spec: StructSpec, version: int) -> Iterator[tuple[tuple[str, ...], FieldSpec]]:
    for field in spec.fields:
        if not field.versions.has(version):
            continue
        if field.struct is None:
            yield (field.attribute,), field
            continue
        for path, inner in _fields(field.struct, version):
            yield (field.attribute, *path), inner


def _header(version: int) -> Mapping[str, tuple[int, int]]:
    """Return the numbers in the header of records that a version of Produce takes."""
    if version >= _BATCHES_SINCE:
        return _BATCH
    return {**_MESSAGE, "timestamp": (18, 8)} if version == 2 else _MESSAGE


def _values(kind: str, others: Sequence[int]) -> tuple[int, ...]:
    bits, is_signed = 8 * INTEGERS[kind], kind.startswith("i")
    low = -(1 << bits - 1) if is_signed else 0
    high = low + (1 << bits) - 1
    return tuple(dict.fromkeys((high, low, *(n for n in others if low <= n <= high))))


def _quotas(case: Case) -> Iterator[Extreme]:
    """Yield limits of each quota, for the clients that are measured afterwards."""
    for kind, keys in QUOTAS.items():
        for key in keys:
            more = {"entity_type": kind, "entity_name": NAMES[kind], "key": key}
            yield from (Extreme(case, value, more) for value in FLOATS)


def _set(message: Any, path: tuple[str, ...], value: Any) -> None:
    name, *rest = path
    content = getattr(message, name)
    if not rest:
        setattr(message, name, [value] if isinstance(content, list) else value)
        return
    for row in content if isinstance(content, list) else [content]:
        _set(row, tuple(rest), value)
