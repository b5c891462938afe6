"""A captured TCP connection: two streams, their frames, and which end is the broker."""

from collections import deque
from collections.abc import Callable

import msgspec

from kafka_shim.traces.captures.frame_reader import FrameReader, looks_like_request
from kafka_shim.traces.captures.tcp_stream import (
    SEQUENCE_MODULUS,
    Address,
    ReassembledStream,
    Segment,
)

PATIENCE_US = 1_000_000
"""How long after its acknowledgement a missing segment may still turn up in the capture."""

HELD_MAX = 1_000
"""So many segments are held back for one that is missing."""

_AWAITED_RESPONSES_MAX = 10_000
"""Requests whose ids are kept to recognise responses; Produce without acks never gets any."""

_TLS_HANDSHAKE = b"\x16\x03"


class CaptureProblems(msgspec.Struct):
    """The problems of a connection, in segments, bytes and frames."""

    client: str
    server: str
    out_of_order: int = 0
    retransmitted: int = 0
    lost_bytes: int = 0
    skipped_bytes: int = 0
    broken_frames: int = 0
    began_before: bool = False
    is_tls: bool = False

    @property
    def has_problems(self) -> bool:
        """Return whether there were any problems."""
        return any(msgspec.structs.astuple(self)[2:])


class CapturedConnection:
    """Both directions of a connection; `on_request` and `on_response` get whole frames,
    with the time of the last packet that had a part of the frame or of an earlier one.

    Bytes that an end sent after it had received others are kept until those are complete, so that
    responses never precede their requests, whatever the order of packets in the capture.
    """

    def __init__(
        self,
        client: Address,
        server: Address,
        on_request: Callable[[bytes, int], None],
        on_response: Callable[[bytes, int], None],
    ) -> None:
        self.client, self.server = client, server
        self._on_request, self._on_response = on_request, on_response
        self._awaited_correlation_ids: deque[bytes] = deque(maxlen=_AWAITED_RESPONSES_MAX)
        self._has_syn = self._is_tls = self._is_reset = False
        self._now_us = self._frame_time_us = 0
        self.last_packet_us = 0
        self._client_frames = FrameReader(looks_like_request)
        self._server_frames = FrameReader(self._looks_like_response)
        self._client_stream = ReassembledStream(
            self._read_request_frames, self._client_frames.note_lost_bytes
        )
        self._server_stream = ReassembledStream(
            self._on_server_bytes, self._server_frames.note_lost_bytes
        )
        self._held_segments: deque[Segment] = deque()
        self._missing_bytes_since_us: int | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether both ends have finished, or one has reset, and no bytes are missing."""
        if (
            self._held_segments
            or self._client_stream.is_missing_acknowledged_bytes
            or self._server_stream.is_missing_acknowledged_bytes
        ):
            return False
        return self._is_reset or (self._client_stream.is_at_end and self._server_stream.is_at_end)

    @property
    def has_missed_client_bytes(self) -> bool:
        """Return whether the client sent something before that the capture lacks."""
        return not self._has_syn or self._client_stream.lost_bytes > 0

    def begins_new_connection(self, segment: Segment) -> bool:
        """Return whether a SYN from the client begins a new connection between the same ports."""
        is_first = segment.is_syn and segment.source == self.client
        return is_first and not self._client_stream.can_be_own_syn(segment.sequence)

    def add_segment(self, segment: Segment) -> None:
        """Process a segment of either direction."""
        self.last_packet_us = max(self.last_packet_us, segment.time_us)
        self._now_us = max(self._now_us, segment.time_us)
        sender_stream, receiver_stream = self._stream_pair(segment)
        self._is_reset |= segment.is_reset
        if segment.is_syn:
            self._has_syn |= sender_stream is self._client_stream
            sender_stream.on_syn(segment.sequence)
        sender_stream.note_lowest_sequence(segment.sequence)
        if segment.is_fin:
            sender_stream.on_fin(
                (segment.first_data_sequence + len(segment.data)) % SEQUENCE_MODULUS
            )
        if segment.acknowledged is not None:
            receiver_stream.acknowledge(segment.acknowledged)
        if segment.data:
            self._held_segments.append(segment)
        self._deliver_ready_segments()
        self._skip_expired_gaps()

    @property
    def is_waiting(self) -> bool:
        """Return whether bytes are missing that may still turn up in the capture."""
        return self._missing_bytes_since_us is not None

    def advance_time(self, now_us: int) -> None:
        """Process the time of a packet of another connection."""
        self._now_us = max(self._now_us, now_us)
        self._skip_expired_gaps()

    def finish_capture(self) -> None:
        """Process the end of the capture."""
        self._skip_gaps(self._client_stream, self._server_stream)

    def problems_so_far(self) -> CaptureProblems:
        """Return the problems so far."""
        streams, frames = (
            (self._client_stream, self._server_stream),
            (self._client_frames, self._server_frames),
        )
        return CaptureProblems(
            "{}:{}".format(*self.client),
            "{}:{}".format(*self.server),
            sum(stream.out_of_order for stream in streams),
            sum(stream.retransmitted for stream in streams),
            sum(stream.lost_bytes for stream in streams),
            sum(frame.skipped_bytes for frame in frames),
            sum(frame.broken_frames for frame in frames),
            not self._has_syn,
            self._is_tls,
        )

    def _stream_pair(self, segment: Segment) -> tuple[ReassembledStream, ReassembledStream]:
        """Return the sender's and the receiver's stream."""
        is_up = segment.source == self.client
        return (
            (self._client_stream, self._server_stream)
            if is_up
            else (self._server_stream, self._client_stream)
        )

    def _deliver_ready_segments(self) -> None:
        """Deliver the bytes that do not depend on missing ones."""
        count_before = -1
        while count_before != len(self._held_segments):
            count_before = len(self._held_segments)
            for _ in range(count_before):
                segment = self._held_segments.popleft()
                receiver_stream = self._stream_pair(segment)[1]
                if segment.acknowledged is not None and receiver_stream.is_missing_bytes_before(
                    segment.acknowledged
                ):
                    self._held_segments.append(segment)
                else:
                    self._add_data_to_sender_stream(segment)

    def _skip_expired_gaps(self) -> None:
        """Skip bytes that can no longer arrive."""
        if not (
            self._client_stream.is_missing_acknowledged_bytes
            or self._server_stream.is_missing_acknowledged_bytes
        ):
            self._missing_bytes_since_us = None
        elif self._missing_bytes_since_us is None:
            self._missing_bytes_since_us = self._now_us
        elif (
            self._now_us - self._missing_bytes_since_us > PATIENCE_US
            or len(self._held_segments) > HELD_MAX
        ):
            self._missing_bytes_since_us = None
            self._skip_gaps(
                *(
                    stream
                    for stream in (self._client_stream, self._server_stream)
                    if stream.is_missing_acknowledged_bytes
                )
            )

    def _skip_gaps(self, *streams: ReassembledStream) -> None:
        """Skip the holes of these streams one by one, and deliver what follows each."""
        while True:
            self._deliver_ready_segments()
            if any(self._skip_next_hole(stream) for stream in streams):
                continue
            if not self._held_segments:
                return
            self._add_data_to_sender_stream(
                self._held_segments.popleft()
            )  # its preceding bytes were not captured

    def _skip_next_hole(self, stream: ReassembledStream) -> bool:
        return stream.skip_next_hole(
            (segment.first_data_sequence, len(segment.data))
            for segment in self._held_segments
            if self._stream_pair(segment)[0] is stream
        )

    def _add_data_to_sender_stream(self, segment: Segment) -> None:
        self._stream_pair(segment)[0].add(
            segment.first_data_sequence, segment.data, segment.time_us
        )

    def _read_request_frames(self, data: bytes, time_us: int) -> None:
        self._frame_time_us = max(self._frame_time_us, time_us)
        if (
            not self._is_tls
            and not self._awaited_correlation_ids
            and data.startswith(_TLS_HANDSHAKE)
        ):
            self._is_tls = True
        for frame in self._client_frames.feed(data):
            self._awaited_correlation_ids.append(frame[4:8])
            self._on_request(frame, self._frame_time_us)

    def _on_server_bytes(self, data: bytes, time_us: int) -> None:
        self._frame_time_us = max(self._frame_time_us, time_us)
        for frame in self._server_frames.feed(data):
            self._on_response(frame, self._frame_time_us)

    def _looks_like_response(self, data: bytes) -> bool:
        return data[4:8] in self._awaited_correlation_ids
