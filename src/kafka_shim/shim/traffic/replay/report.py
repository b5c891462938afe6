"""The report of a replay, as text and JSON."""

from collections.abc import Iterator
from struct import Struct
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.trace.entries import Request, Response
from kafka_shim.shim.traffic.replay.compare import Difference
from kafka_shim.shim.traffic.replay.events import Event

_API = Struct(">hh")


KEPT = 10_000
"""Differences of one kind that are kept singly; a million would fill the memory."""


class Place(msgspec.Struct, frozen=True):
    """A request of the trace: connection, sequence, API and version, and principal.

    A connection's number is unique for its writer.
    """

    connection: int
    sequence: int
    api: str
    version: int
    principal: str
    writer: str = ""


class Report(msgspec.Struct):
    """Counts, differences by API and field, and requests that could not be replayed.

    `left_out` counts requests for which the recorded broker was not ready, and log-ins that it did
    not answer; `unrecorded` counts responses that the trace does not have. The first `KEPT` of each
    kind of difference and miss are kept; `counts` and `misses` count all.
    """

    requests: int = 0
    responses: int = 0
    differing: int = 0
    left_out: int = 0
    unrecorded: int = 0
    ignored: frozenset[str] = frozenset()
    seconds: float = 0.0
    found: dict[tuple[str, str], list[tuple[Place, Difference]]] = {}
    counts: dict[tuple[str, str], int] = {}
    missed: list[tuple[Place, str]] = []
    misses: int = 0

    @property
    def holds(self) -> bool:
        """Whether every response was compared and none differs."""
        return not self.found and not self.missed

    def differ(self, place: Place, differences: list[Difference]) -> None:
        """Count a response's differences, except ignored ones: `Api` or `Api.field`."""
        if place.api in self.ignored:
            return
        differences = [d for d in differences if f"{place.api}.{d.field}" not in self.ignored]
        self.differing += bool(differences)
        for difference in differences:
            kind = (place.api, difference.field)
            self.counts[kind] = self.counts.get(kind, 0) + 1
            kept = self.found.setdefault(kind, [])
            if len(kept) < KEPT:
                kept.append((place, difference))

    def miss(self, place: Place, why: str) -> None:
        self.misses += 1
        if len(self.missed) < KEPT:
            self.missed.append((place, why))

    def row(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "requests": self.requests,
            "responses": self.responses,
            "differing_responses": self.differing,
            "left_out": self.left_out,
            "unrecorded": self.unrecorded,
            "seconds": round(self.seconds, 3),
            "differences": [
                {
                    "api": api,
                    "field": field,
                    "count": self.counts[api, field],
                    "examples": [
                        msgspec.to_builtins(place)
                        | {"recorded": difference.recorded, "actual": difference.actual}
                        for place, difference in rows[:5]
                    ],
                }
                for (api, field), rows in sorted(self.found.items())
            ],
            "misses": self.misses,
            "missed": [msgspec.to_builtins(place) | {"why": why} for place, why in self.missed],
        }

    def lines(self) -> Iterator[str]:
        """Yield a table with one example of each kind of difference."""
        yield (
            f"{self.requests} requests replayed in {self.seconds:.2f} s, {self.responses} responses"
            f" compared, {self.differing} differ, {self.misses} missed,"
            f" {self.left_out} left out because the recorded broker was not ready,"
            f" {self.unrecorded} answered here only"
        )
        if self.found:
            yield f"\n{'count':>6}  {'api':<24} {'field':<40} example: recorded -> actual"
        for (api, field), rows in sorted(self.found.items()):
            place, difference = rows[0]
            yield (
                f"{self.counts[api, field]:>6}  {f'{api} v{place.version}':<24} {field:<40}"
                f" {_short(difference.recorded)} -> {_short(difference.actual)}"
                f"  (connection {place.connection}, request {place.sequence}, {place.principal})"
            )
        if self.missed:
            yield "\nnot replayed, or not answered:"
        for place, why in self.missed:
            yield (
                f"  connection {place.connection}, request {place.sequence}:"
                f" {place.api} v{place.version} of {place.principal}: {why}"
            )


def request_id_of(event: Event) -> Place:
    """Return the place of an event in the recording; its API is `?` if unknown."""
    api, version = "?", 0
    match event.entry:
        case Request(frame=frame) if len(frame) >= _API.size:
            api_key, version = _API.unpack_from(frame)
            api = api_name_or_key(api_key)
        case Response(api_key=api_key, api_version=version):
            api = api_name_or_key(api_key)
    writer, connection = event.connection_id
    return Place(connection, event.entry.sequence, api, version, event.principal, writer)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
