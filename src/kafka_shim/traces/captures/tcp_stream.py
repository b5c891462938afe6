"""Extracts TCP segments from packets, and reassembles one direction of a connection from them.

Packets are of any supported link type; dpkt parses the headers. Segments can be repeated, late and
lost: docs/explanation/decisions/0001-captures.md says why no library is used.
"""

import heapq
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import dpkt
import msgspec
from dpkt.ethernet import Ethernet
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.loopback import Loopback
from dpkt.sll import SLL
from dpkt.sll2 import SLL2
from dpkt.tcp import TCP, TH_ACK, TH_FIN, TH_RST, TH_SYN
from dpkt.utils import inet_to_str

from kafka_shim.traces.captures.capture_files import Packet

Address: TypeAlias = tuple[str, int]
"""IP address as text, and port."""


SEQUENCE_MODULUS = 1 << 32
"""Sequence numbers go round after so many bytes."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A TCP segment; `acknowledged` is a sequence number, or None."""

    time_us: int
    source: Address
    target: Address
    sequence: int
    acknowledged: int | None
    data: bytes = b""
    is_syn: bool = False
    is_fin: bool = False
    is_reset: bool = False

    @property
    def first_data_sequence(self) -> int:
        """Return the sequence number of the first data byte; a SYN uses one of its own."""
        return (self.sequence + self.is_syn) % SEQUENCE_MODULUS


def _decode_ip_packet(data: bytes) -> Any:
    return IP6(data) if data[0] >> 4 == 6 else IP(data)


_LINKS: dict[int, Callable[[bytes], Any]] = {
    0: Loopback,  # BSD
    1: Ethernet,
    12: _decode_ip_packet,
    14: _decode_ip_packet,
    101: _decode_ip_packet,
    108: Loopback,  # OpenBSD
    113: SLL,  # Linux, `-i any`
    228: IP,
    229: IP6,
    276: SLL2,
}
"""How packets of a link type are read, by libpcap's LINKTYPE numbers."""


def parse_tcp_segment(packet: Packet) -> Segment | str:
    """Return the TCP segment in a packet, or the reason why there is none."""
    link = _LINKS.get(packet.link_type)
    if link is None:
        return f"link type {packet.link_type} is not known"
    try:
        ip_packet = link(packet.data)
        while not isinstance(ip_packet, IP | IP6):
            ip_packet = ip_packet.data
    except (dpkt.Error, AttributeError, IndexError):
        return "not IP"
    if isinstance(ip_packet, IP) and (ip_packet.mf or ip_packet.offset):
        return "IP fragment"
    if not isinstance(ip_packet.data, TCP):
        return "not TCP"
    return _segment_from_ip_packet(packet.time_us, ip_packet)


def _segment_from_ip_packet(time_us: int, packet: Any) -> Segment:
    tcp = packet.data
    return Segment(
        time_us,
        (inet_to_str(packet.src), tcp.sport),
        (inet_to_str(packet.dst), tcp.dport),
        tcp.seq,
        tcp.ack if tcp.flags & TH_ACK else None,
        bytes(tcp.data),
        bool(tcp.flags & TH_SYN),
        bool(tcp.flags & TH_FIN),
        bool(tcp.flags & TH_RST),
    )


WAITING_BYTES_MAX = 64 * 1024 * 1024
"""So much after a hole is kept in the hope that it will be filled."""


class ReassembledStream:
    """Delivers bytes in the sender's order, segment by segment, and reports holes between them.

    `deliver` is called with bytes and the time of their segment, `on_hole` with the size of a hole,
    or None if it is unknown because the beginning of the connection was not captured.
    """

    def __init__(
        self, deliver: Callable[[bytes, int], None], on_hole: Callable[[int | None], None]
    ) -> None:
        self._deliver = deliver
        self._on_hole = on_hole
        self._base: int | None = None  # the sequence number at position 0
        self._has_start = False  # the beginning is known, or was given up
        self._next = 0  # the position of the byte to deliver next
        self._lowest: int | None = None  # lowest position of the sender until then
        self._acked = 0  # the receiver has everything before this position
        self._end: int | None = None  # the end, after a FIN
        self._undelivered_segments: list[tuple[int, int, bytes]] = []
        self._undelivered_bytes = 0
        self.out_of_order = 0
        self.retransmitted = 0
        self.lost_bytes = 0

    @property
    def is_missing_acknowledged_bytes(self) -> bool:
        """Return whether the receiver has bytes that were captured late or not at all."""
        return not self._has_start or self._acked > self._next

    @property
    def is_at_end(self) -> bool:
        """Return whether everything up to the sender's FIN was delivered."""
        return self._has_start and self._end is not None and self._next >= self._end

    def is_missing_bytes_before(self, sequence: int) -> bool:
        """Return whether bytes before this sequence number were not delivered yet."""
        return not self._has_start or self._capped_position(sequence) > self._next

    def can_be_own_syn(self, sequence: int) -> bool:
        """Return whether a SYN with this number can be the one of this connection."""
        return not self._has_start or (sequence + 1) % SEQUENCE_MODULUS == self._base

    def on_syn(self, sequence: int) -> None:
        """Process a SYN; it may be repeated."""
        if self._has_start:
            return
        first = (sequence + 1) % SEQUENCE_MODULUS
        if self._base is not None:  # earlier segments were captured before it
            shift = self._position(first)
            self._undelivered_segments = [
                (at - shift, time_us, data) for at, time_us, data in self._undelivered_segments
            ]
            self._acked = max(0, self._acked - shift)
            self._end = None if self._end is None else self._end - shift
        self._base, self._has_start = first, True
        heapq.heapify(self._undelivered_segments)
        self._deliver_contiguous_bytes()

    def note_lowest_sequence(self, sequence: int) -> None:
        """Note a sequence number of the sender; while no SYN is known, the lowest is its start."""
        if not self._has_start:
            at = self._init_position(sequence)
            self._lowest = at if self._lowest is None else min(at, self._lowest)

    def add(self, sequence: int, data: bytes, time_us: int) -> None:
        """Process a segment of the sender."""
        at = self._init_position(sequence)
        if self._has_start and at + len(data) <= self._next:
            self.retransmitted += 1
            return
        if self._has_start and at > self._next:
            self.out_of_order += 1
        heapq.heappush(self._undelivered_segments, (at, time_us, data))
        self._undelivered_bytes += len(data)
        if self._has_start:
            self._deliver_contiguous_bytes()
        if self._undelivered_bytes > WAITING_BYTES_MAX:
            self.skip_all_holes()

    def on_fin(self, sequence: int) -> None:
        """Process the sender's FIN."""
        self._end = self._init_position(sequence)
        self._acked = min(self._acked, self._end)

    def acknowledge(self, sequence: int) -> None:
        """Process the receiver's acknowledgement of everything before this number."""
        self._acked = max(self._acked, self._capped_position(sequence))

    def skip_all_holes(self) -> None:
        """Stop waiting for missing bytes: deliver the rest and report the holes."""
        while self.skip_next_hole():
            pass

    def skip_next_hole(self, held_segments: Iterable[tuple[int, int]] = ()) -> bool:
        """Skip one hole, up to the next captured or acknowledged byte; return False if there is
        none.

        `held_segments` are sequence numbers and lengths of segments that the caller keeps back.
        """
        if not self._has_start:
            self._has_start = True
            self._next = self._acked if self._lowest is None else self._lowest
            self._on_hole(None)
            self._deliver_contiguous_bytes()
            return True
        held_positions = [
            (self._init_position(sequence), length) for sequence, length in held_segments
        ]
        starts = [at for at, length in held_positions if at + length > self._next]
        starts += [at for at, _, _ in self._undelivered_segments[:1]]
        starts += [self._acked] * (self._acked > self._next)
        hole = min(starts, default=0) - self._next
        if hole <= 0:
            return False
        self.lost_bytes += hole
        self._on_hole(hole)
        self._next += hole
        self._deliver_contiguous_bytes()
        return True

    def _capped_position(self, sequence: int) -> int:
        """Return a position, at most the end; a FIN is acknowledged like a byte after it."""
        at = self._init_position(sequence)
        return at if self._end is None else min(at, self._end)

    def _init_position(self, sequence: int) -> int:
        if self._base is None:
            self._base = sequence
        return self._position(sequence)

    def _position(self, sequence: int) -> int:
        """Return the position of a sequence number, which wraps around,
        nearest to the current one.
        """
        assert self._base is not None
        distance = (
            sequence - self._base - self._next + SEQUENCE_MODULUS // 2
        ) % SEQUENCE_MODULUS - SEQUENCE_MODULUS // 2
        return self._next + distance

    def _deliver_contiguous_bytes(self) -> None:
        while self._undelivered_segments and self._undelivered_segments[0][0] <= self._next:
            at, time_us, data = heapq.heappop(self._undelivered_segments)
            self._undelivered_bytes -= len(data)
            new_bytes = data[self._next - at :]
            if not new_bytes:
                self.retransmitted += 1
                continue
            self._next += len(new_bytes)
            self._deliver(new_bytes, time_us)
