"""Import a capture: every connection to a Kafka broker, as if a proxy had recorded it."""

import heapq
import itertools
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from kafka_shim.shim.clock import Timer
from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.request.session import Session, address_of_peer
from kafka_shim.trace_format.entries import DERIVED, UNKNOWN_PRINCIPAL
from kafka_shim.traces.captures.capture_files import CaptureError, read_packets
from kafka_shim.traces.captures.captured_connection import (
    PATIENCE_US,
    CapturedConnection,
    CaptureProblems,
)
from kafka_shim.traces.captures.frame_reader import (
    begins_with_complete_request,
    looks_like_request,
)
from kafka_shim.traces.captures.tcp_stream import Address, Segment, parse_tcp_segment
from kafka_shim.traces.connection_observer import ObservedConnection

UNDECIDED_MAX = 100
"""Segments of a connection that are kept until it shows which end is the broker."""


DELAYED_BYTES_MAX = 64 * 1024 * 1024
"""Frames that are kept until no earlier ones can come; beyond that, the oldest is recorded."""


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
    troubles: list[CaptureProblems] = []
    damage: str = ""

    def count_skipped(self, reason: str) -> None:
        self.passed_over[reason] = self.passed_over.get(reason, 0) + 1


class _TimerlessCaptureClock:
    """A clock that shows the time of the frame that is recorded; it has no timers."""

    def __init__(self) -> None:
        self.us = 0
        self.fired_timers = 0

    def now_us(self) -> int:
        return self.us

    def now_ms(self) -> int:
        return self.us // 1000

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:  # noqa: ARG002 - a Clock's
        return _TimerThatNeverFires()

    call_after_wait = call_later

    def start_early_timers(self) -> None:
        """Do nothing; there are no timers."""


class _TimerThatNeverFires:
    def cancel(self) -> None:
        pass


class _FrameOrder:
    """Keeps frames until no earlier ones can come, and then records them in order of their times.

    Frames of a connection that waits for missing bytes are released after those of others.
    """

    def __init__(self, clock: _TimerlessCaptureClock) -> None:
        self._clock = clock
        self._delayed: list[tuple[int, int, int, Callable[[], None]]] = []
        self._bytes = 0
        self._numbers = itertools.count()

    def add(self, time_us: int, size: int, record: Callable[[], None]) -> None:
        """Call `record` at the time; calls for the same time keep their order."""
        heapq.heappush(self._delayed, (time_us, next(self._numbers), size, record))
        self._bytes += size
        while self._bytes > DELAYED_BYTES_MAX:
            self._record_oldest()

    def record_before(self, time_us: float) -> None:
        """Record the frames before this time."""
        while self._delayed and self._delayed[0][0] < time_us:
            self._record_oldest()

    def _record_oldest(self) -> None:
        self._clock.us, _, size, record = heapq.heappop(self._delayed)
        self._bytes -= size
        record()


class _CapturedClient:
    """The connection of a Kafka client, and its connection in the trace."""

    def __init__(
        self,
        ends: tuple[Address, Address],
        number: int,
        *,
        is_known_kafka_port: bool,
        recorder: TraceRecorder,
        order: _FrameOrder,
        report: CaptureReport,
    ) -> None:
        client, server = ends
        name = "{}:{}".format(*server)
        listener = ListenerConfig(name, SecurityProtocol.PLAINTEXT, *server)
        session = Session(listener, -1, address_of_peer(client), client[1])
        session.number = number
        self.connection = CapturedConnection(
            client,
            server,
            self._record_request,
            self._record_response,
        )
        self._session = session
        self._observed = ObservedConnection(session, recorder)
        self._order = order
        self._report = report
        self._is_kafka = is_known_kafka_port
        self._is_other_protocol = self._is_closed = False

    def add_segment(self, segment: Segment) -> None:
        self.connection.add_segment(segment)
        self._record_close()

    def advance_time(self, now_us: int) -> None:
        """Process the time of a packet of another connection."""
        self.connection.advance_time(now_us)
        self._record_close()

    def _record_close(self) -> None:
        if self._is_kafka and not self._is_closed and self.connection.is_complete:
            self._is_closed = True
            self._order.add(self.connection.last_packet_us, 0, self._observed.record_close)

    def finish(self) -> None:
        """Process the end of the connection: the capture ends, or its port is reused."""
        self.connection.finish_capture()
        self._record_close()
        problems = self.connection.problems_so_far()
        if not self._is_kafka:
            self._report.count_skipped("connections of other protocols")
            return
        self._report.connections += 1
        port = self.connection.server[1]
        if port not in self._report.ports:
            self._report.ports.append(port)
        if problems.has_problems:
            self._report.troubles.append(problems)

    def _record_request(self, frame: bytes, time_us: int) -> None:
        if not self._is_kafka and not self._is_other_protocol:
            self._is_kafka = looks_like_request(len(frame).to_bytes(4, "big") + frame)
            self._is_other_protocol = not self._is_kafka
        if self._is_kafka:
            self._report.requests += 1
            has_missed_bytes = self.connection.has_missed_client_bytes
            self._order.add(
                time_us, len(frame), partial(self._observe_request, frame, has_missed_bytes)
            )

    def _observe_request(self, frame: bytes, has_missed_bytes: bool) -> None:
        """Record a request; its principal is unknown if an authentication may be missing."""
        if has_missed_bytes and self._session.principal == self._session.listener.principal:
            self._session.principal = UNKNOWN_PRINCIPAL
        self._observed.observe_request(frame)

    def _record_response(self, frame: bytes, time_us: int) -> None:
        if self._is_kafka:
            self._report.responses += 1
            self._order.add(time_us, len(frame), partial(self._observe_response, frame))

    def _observe_response(self, frame: bytes) -> None:
        self._report.responses_without_request += self._observed.observe_response(frame) is None


class _CaptureImport:
    """All connections of a capture; without `ports`, Kafka's ports are
    detected from the traffic.
    """

    def __init__(self, folder: Path, ports: frozenset[int]) -> None:
        self.report = CaptureReport()
        self._ports = ports
        self._clock = _TimerlessCaptureClock()
        self._recorder = TraceRecorder(
            folder,
            self._clock,
            writer="capture",
            accesses_source=DERIVED,
            raises_on_write_error=True,
        )
        self._order = _FrameOrder(self._clock)
        self._waiting_clients: set[_CapturedClient] = set()
        self._numbers = itertools.count(1)
        self._clients: dict[frozenset[Address], _CapturedClient] = {}
        self._segments_of_undecided_connections: dict[frozenset[Address], list[Segment]] = {}

    def add_port_segment(self, segment: Segment) -> None:
        self._release_frames_before(segment.time_us)
        if self._ports and not self._ports & {segment.source[1], segment.target[1]}:
            self.report.count_skipped("segments of other ports")
            return
        key = frozenset({segment.source, segment.target})
        client = self._clients.get(key)
        if client is not None and client.connection.begins_new_connection(segment):
            client.finish()
            self._waiting_clients.discard(client)
            del self._clients[key]
            client = None
        if client is None:
            self._segments_of_undecided_connections.setdefault(key, []).append(segment)
            self._identify_client(key, segment)
        else:
            self._add_segment(client, segment)

    def _release_frames_before(self, now_us: int) -> None:
        """Record what no packet from now on can precede or complete."""
        for client in [*self._waiting_clients]:
            client.advance_time(now_us)
            self._update_waiting(client)
        self._order.record_before(now_us - PATIENCE_US)

    def _add_segment(self, client: _CapturedClient, segment: Segment) -> None:
        client.add_segment(segment)
        self._update_waiting(client)

    def _update_waiting(self, client: _CapturedClient) -> None:
        if client.connection.is_waiting:
            self._waiting_clients.add(client)
        else:
            self._waiting_clients.discard(client)

    def _identify_client(self, key: frozenset[Address], segment: Segment) -> None:
        """Decide which of the two is the client, if this segment shows it."""
        ends = self._client_and_server_or_none(segment)
        waiting_segments = self._segments_of_undecided_connections[key]
        if ends is None:
            if len(waiting_segments) > UNDECIDED_MAX:
                self.report.count_skipped("segments of connections that began before the capture")
                del waiting_segments[0]
            return
        client = self._clients[key] = _CapturedClient(
            ends,
            next(self._numbers),
            is_known_kafka_port=bool(self._ports),
            recorder=self._recorder,
            order=self._order,
            report=self.report,
        )
        for waiting_segment in waiting_segments:
            self._add_segment(client, waiting_segment)
        del self._segments_of_undecided_connections[key]

    def _client_and_server_or_none(self, segment: Segment) -> tuple[Address, Address] | None:
        if segment.is_syn:
            is_client = segment.acknowledged is None
        elif len(self._ports & {segment.source[1], segment.target[1]}) == 1:
            is_client = segment.target[1] in self._ports
        elif begins_with_complete_request(segment.data):
            is_client = True
        else:
            return None
        ends = (segment.source, segment.target)
        return ends if is_client else ends[::-1]

    def close(self) -> CaptureReport:
        for client in self._clients.values():
            client.finish()
        for waiting_segments in self._segments_of_undecided_connections.values():
            for _ in waiting_segments:
                self.report.count_skipped("segments of connections that began before the capture")
        self._order.record_before(math.inf)
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
    importing = _CaptureImport(folder, ports)
    report = importing.report
    try:
        for packet in read_packets(file):
            report.packets += 1
            progress(file.tell())
            segment_or_reason = parse_tcp_segment(packet)
            if isinstance(segment_or_reason, Segment):
                importing.add_port_segment(segment_or_reason)
            else:
                report.count_skipped(segment_or_reason)
    except CaptureError as error:
        if not report.packets:
            raise
        report.damage = str(error)
    finally:
        importing.close()
    return report
