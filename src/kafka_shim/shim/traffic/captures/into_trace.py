"""Import a capture: every connection to a Kafka broker, as if a proxy had recorded it."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from kafka_shim.protocol.trace.entries import DERIVED
from kafka_shim.shim.clock import Timer
from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.observing.recorder import Recorder
from kafka_shim.shim.request.session import Session, java_ip_text
from kafka_shim.shim.traffic.captures.connection import CapturedConnection, Troubles
from kafka_shim.shim.traffic.captures.files import CaptureError, packets
from kafka_shim.shim.traffic.captures.frames import begins_with_request, looks_like_request
from kafka_shim.shim.traffic.captures.packets import Address, Segment, segment
from kafka_shim.shim.traffic.traces.observed import ObservedConnection

UNDECIDED_MAX = 100
"""Segments of a connection that are kept until it shows which end is the broker."""


class CaptureReport(msgspec.Struct):
    """Counts of packets, connections and entries, of ignored and of damaged ones.

    `damage` says why the file could not be read to its end; empty if it could.
    """

    packets: int = 0
    passed_over: dict[str, int] = {}
    connections: int = 0
    ports: list[int] = []
    requests: int = 0
    responses: int = 0
    responses_without_request: int = 0
    entries: int = 0
    troubles: list[Troubles] = []
    damage: str = ""

    def count_skipped(self, why: str) -> None:
        self.passed_over[why] = self.passed_over.get(why, 0) + 1


class _CaptureClock:
    """A clock with the packets' times; it has no timers."""

    def __init__(self) -> None:
        self.us = 0
        self.fired = 0

    def now_us(self) -> int:
        return self.us

    def now_ms(self) -> int:
        return self.us // 1000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:  # noqa: ARG002 - a Clock's
        return _NeverDue()

    def begin(self) -> None:
        """Do nothing; there are no timers."""


class _NeverDue:
    def cancel(self) -> None:
        pass


class _Client:
    """The connection of a Kafka client, and its connection in the trace."""

    def __init__(
        self,
        ends: tuple[Address, Address],
        number: int,
        *,
        is_told: bool,
        recorder: Recorder,
        report: CaptureReport,
    ) -> None:
        client, server = ends
        name = "{}:{}".format(*server)
        listener = ListenerConfig(name, SecurityProtocol.PLAINTEXT, *server)
        session = Session(listener, -1, java_ip_text(client[0]), client[1])
        session.number = number
        self.connection = CapturedConnection(client, server, self._request, self._response)
        self._observed = ObservedConnection(session, recorder)
        self._report = report
        self._is_kafka = is_told
        self._is_foreign = self._is_closed = False

    def segment(self, found: Segment) -> None:
        self.connection.segment(found)
        if self._is_kafka and not self._is_closed and self.connection.is_over:
            self._is_closed = True
            self._observed.closed()

    def end(self) -> None:
        """Process the end of the connection: the capture ends, or its port is reused."""
        self.connection.finish()
        troubles = self.connection.troubles()
        if not self._is_kafka:
            self._report.count_skipped("connections of other protocols")
            return
        self._report.connections += 1
        port = self.connection.server[1]
        if port not in self._report.ports:
            self._report.ports.append(port)
        if troubles.any:
            self._report.troubles.append(troubles)

    def _request(self, frame: bytes) -> None:
        if not self._is_kafka and not self._is_foreign:
            self._is_kafka = looks_like_request(len(frame).to_bytes(4, "big") + frame)
            self._is_foreign = not self._is_kafka
        if self._is_kafka:
            self._report.requests += 1
            self._observed.request(frame)

    def _response(self, frame: bytes) -> None:
        if self._is_kafka:
            self._report.responses += 1
            self._report.responses_without_request += self._observed.response(frame) is None


class _Import:
    """All connections of a capture; without `ports`, Kafka's ports are
    detected from the traffic.
    """

    def __init__(self, folder: Path, ports: frozenset[int]) -> None:
        self.report = CaptureReport()
        self._ports = ports
        self._clock = _CaptureClock()
        self._recorder = Recorder(
            folder, self._clock, writer="capture", accesses=DERIVED, must_be_whole=True
        )
        self._numbers = itertools.count(1)
        self._clients: dict[frozenset[Address], _Client] = {}
        self._undecided: dict[frozenset[Address], list[Segment]] = {}

    def segment(self, found: Segment) -> None:
        self._clock.us = max(self._clock.us, found.time_us)
        if self._ports and not self._ports & {found.source[1], found.target[1]}:
            self.report.count_skipped("segments of other ports")
            return
        key = frozenset({found.source, found.target})
        client = self._clients.get(key)
        if client is not None and client.connection.begins_new_connection(found):
            client.end()
            del self._clients[key]
            client = None
        if client is None:
            self._undecided.setdefault(key, []).append(found)
            self._decide(key, found)
        else:
            client.segment(found)

    def _decide(self, key: frozenset[Address], found: Segment) -> None:
        """Decide which of the two is the client, if this segment shows it."""
        ends = self._client_and_server(found)
        waiting = self._undecided[key]
        if ends is None:
            if len(waiting) > UNDECIDED_MAX:
                self.report.count_skipped("segments of connections that began before the capture")
                del waiting[0]
            return
        client = self._clients[key] = _Client(
            ends,
            next(self._numbers),
            is_told=bool(self._ports),
            recorder=self._recorder,
            report=self.report,
        )
        for held in waiting:
            client.segment(held)
        del self._undecided[key]

    def _client_and_server(self, found: Segment) -> tuple[Address, Address] | None:
        if found.is_syn:
            is_client = found.acked is None
        elif len(self._ports & {found.source[1], found.target[1]}) == 1:
            is_client = found.target[1] in self._ports
        elif begins_with_request(found.data):
            is_client = True
        else:
            return None
        ends = (found.source, found.target)
        return ends if is_client else ends[::-1]

    def finish(self) -> CaptureReport:
        for client in self._clients.values():
            client.end()
        for waiting in self._undecided.values():
            for _ in waiting:
                self.report.count_skipped("segments of connections that began before the capture")
        self._recorder.close()
        self.report.entries = self._recorder.entries_written
        return self.report


def import_capture(
    file: BinaryIO,
    folder: Path,
    ports: frozenset[int] = frozenset(),
    progress: Callable[[int], None] = lambda _: None,
) -> CaptureReport:
    """Import a capture; `progress` is called with the position in the file.

    The part of a damaged file before the damage is imported. Raise CaptureError if the file is not
    a capture, and OSError if the trace cannot be written.
    """
    importing = _Import(folder, ports)
    report = importing.report
    try:
        for packet in packets(file):
            report.packets += 1
            progress(file.tell())
            found = segment(packet)
            if isinstance(found, Segment):
                importing.segment(found)
            else:
                report.count_skipped(found)
    except CaptureError as error:
        if not report.packets:
            raise
        report.damage = str(error)
    finally:
        importing.finish()
    return report
