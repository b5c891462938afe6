"""Equal accesses, and equal requests with their accesses, counted while a trace is read.

Most of a trace repeats what was seen before, so rows of distinct ones are much fewer.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator
from operator import attrgetter
from typing import Any

import pyarrow as pa

from kafka_shim.pipeline.rows.access_row import (
    AccessRow,
    api_name,
    operation_name,
    resource_type_name,
)
from kafka_shim.pipeline.rows.columns import ConnectionValues
from kafka_shim.pipeline.tables import OBSERVED, REQUEST_ACCESSES
from kafka_shim.trace_format.entries import AUDIT

BATCH_ROWS = 16_384
_ACCESS = (
    *("principal", "host", "api_key", "api_version", "operation", "resource_type", "resource_name"),
    *("role", "instead", "source", "allowed", "rule"),
)
_MEASURES = ("requests", "first_seen", "last_seen", "example")


class DistinctAccesses:
    """Rows of `observed`: numbers of requests, times and an example by what is the same."""

    def __init__(self) -> None:
        self.boundary_times: Collection[int] = ()
        self._object_counts: dict[tuple[Any, ...], list[Any]] = {}

    def __len__(self) -> int:
        return len(self._object_counts)

    def count(self, connection_values: ConnectionValues, accesses: Iterable[AccessRow]) -> None:
        principal, host = connection_values["principal"], connection_values["host"]
        for access in accesses:
            if access.allowed is None:
                continue
            key = (
                *(principal, host, access.api_key, access.api_version),
                *(access.operation, access.resource_type, access.resource_name),
                *(access.role, access.instead, access.source, access.allowed, access.rule),
            )
            known, time = self._object_counts.get(key), access.time_us
            if known is None:
                known = self._object_counts[key] = [
                    0,
                    time,
                    time,
                    _example(connection_values, access),
                ]
            elif time < known[1]:  # files are not always in the order of time
                known[1], known[3] = time, _example(connection_values, access)
            elif time > known[2]:
                known[2] = time
            known[0] += 1

    def take_batches(self) -> Iterator[pa.RecordBatch]:
        counts, self._object_counts = self._object_counts, {}
        if not counts:
            return
        columns: dict[str, Iterable[Any]] = {
            **dict(zip(_ACCESS, zip(*counts, strict=True), strict=True)),
            **dict(zip(_MEASURES, zip(*counts.values(), strict=True), strict=True)),
        }
        columns["api"] = map(api_name, columns["api_key"])
        columns["operation"] = map(operation_name, columns["operation"])
        columns["resource_type"] = map(resource_type_name, columns["resource_type"])
        yield from _batches_of_columns(columns, OBSERVED)


class DistinctRequests:
    """Rows of `request_accesses`: the accesses of a request, with the number of equal requests."""

    def __init__(self) -> None:
        self.boundary_times: Collection[int] = ()
        self._requests: dict[tuple[Any, ...], list[Any]] = {}
        self._number_of_rows = 0

    def __len__(self) -> int:
        return self._number_of_rows

    def count(self, connection_values: ConnectionValues, accesses: Iterable[AccessRow]) -> None:
        who = connection_values["principal"], connection_values["host"]
        for _, of_request in itertools.groupby(accesses, _request_identity):
            decided = [access for access in of_request if access.allowed is not None]
            if not decided:
                continue
            first = decided[0]
            key: tuple[Any, ...] = who, first.api_key, first.source, *map(_decision, decided)
            if first.source == AUDIT and first.time_us in self.boundary_times:
                key += (connection_values["connection"], first.time_us)
            known = self._requests.get(key)
            if known is None:
                connection = connection_values["writer"], connection_values["connection"]
                self._requests[key] = [1, *who, *connection, decided]
                self._number_of_rows += len(decided)
            else:
                known[0] += 1

    def take_batches(self) -> Iterator[pa.RecordBatch]:
        rows = [
            (*of_request, access)
            for *of_request, accesses in self._requests.values()
            for access in accesses
        ]
        self._requests, self._number_of_rows = {}, 0
        if not rows:
            return
        requests, principals, hosts, writers, connections, accesses = zip(*rows, strict=True)
        columns: dict[str, Iterable[Any]] = {
            "requests": requests,
            "principal": principals,
            "host": hosts,
            "writer": writers,
            "connection": connections,
            "sequence": (access.sequence for access in accesses),
            "time": (access.time_us for access in accesses),
            "api_key": (access.api_key for access in accesses),
            "operation": (operation_name(access.operation) for access in accesses),
            "resource_type": (resource_type_name(access.resource_type) for access in accesses),
            "resource_name": (access.resource_name for access in accesses),
            "role": (access.role for access in accesses),
            "instead": (access.instead for access in accesses),
            "source": (access.source for access in accesses),
            "allowed": (access.allowed for access in accesses),
        }
        yield from _batches_of_columns(columns, REQUEST_ACCESSES)


_decision = attrgetter(
    *("operation", "resource_type", "resource_name", "role", "instead", "allowed")
)


def _example(connection_values: ConnectionValues, access: AccessRow) -> str:
    return f"{connection_values['writer']}/{connection_values['connection']}#{access.sequence}"


def _request_identity(access: AccessRow) -> int:
    """Return what tells an access's request from others; a log does not number them."""
    return access.time_us if access.source == AUDIT else access.sequence


def _batches_of_columns(
    columns: dict[str, Iterable[Any]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    arrays = [pa.array(list(columns[field.name]), field.type) for field in schema]
    yield from pa.Table.from_arrays(arrays, schema=schema).to_batches(BATCH_ROWS)
