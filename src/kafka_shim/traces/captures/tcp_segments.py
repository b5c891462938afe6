"""Extract TCP segments from packets of any supported link type; dpkt parses the headers."""

from collections.abc import Callable
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
