"""Write a trace as a capture for Wireshark: its frames in generated TCP segments."""

import ipaddress
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import dpkt
import msgspec
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP, TH_ACK, TH_FIN, TH_PUSH, TH_SYN

from kafka_shim.text.whole_number import parse_whole_number
from kafka_shim.trace_format.entries import (
    Access,
    Connection,
    ConnectionClosed,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import Damage, read_trace
from kafka_shim.traces.captures.capture_files import TIME_MAX_US
from kafka_shim.traces.captures.tcp_stream import SEQUENCE_MODULUS, Address

KAFKA_PORT = 9092
"""Where Wireshark looks for Kafka by itself."""

SEGMENT_BYTES_MAX = 60_000
_LINK_TYPE_RAW = 101
_PACKET_BYTES_MAX = SEGMENT_BYTES_MAX + 100
CAPTURE_START = re.escape(
    struct.pack("=IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, _PACKET_BYTES_MAX, _LINK_TYPE_RAW).decode(
        "latin-1"
    )
)
"""How an exported capture begins: other programs write round numbers as the largest packet."""


class ExportReport(msgspec.Struct):
    """Counts of an export; `damage` are the unreadable parts of the trace."""

    connections: int = 0
    packets: int = 0
    damage: list[Damage] = []


class _ConnectionPackets:
    """The packets of a connection: sequence numbers and addresses of both ends."""

    def __init__(self, client: Address, server: Address, number: int) -> None:
        self._flow_addresses = (client, server)
        # connections between the same ports must stay distinguishable
        self._sequences = [
            number * 7_919_000 % SEQUENCE_MODULUS,
            number * 104_729_000 % SEQUENCE_MODULUS,
        ]

    def handshake_packets(self) -> Iterator[bytes]:
        yield self._ip_packet(0, TH_SYN)
        self._advance_sequence(0, 1)
        yield self._ip_packet(1, TH_SYN | TH_ACK)
        self._advance_sequence(1, 1)
        yield self._ip_packet(0, TH_ACK)

    def frame_packets(self, sender: int, frame: bytes) -> Iterator[bytes]:
        """Yield the packets of a frame with its size, from the client (0) or the broker (1)."""
        data = len(frame).to_bytes(4, "big") + frame
        for at in range(0, len(data), SEGMENT_BYTES_MAX):
            part = data[at : at + SEGMENT_BYTES_MAX]
            yield self._ip_packet(sender, TH_ACK | TH_PUSH, part)
            self._advance_sequence(sender, len(part))

    def closing_packets(self) -> Iterator[bytes]:
        for sender in (0, 1):
            yield self._ip_packet(sender, TH_FIN | TH_ACK)
            self._advance_sequence(sender, 1)
        yield self._ip_packet(0, TH_ACK)

    def _advance_sequence(self, sender: int, count: int) -> None:
        self._sequences[sender] = (self._sequences[sender] + count) % SEQUENCE_MODULUS

    def _ip_packet(self, sender: int, flags: int, data: bytes = b"") -> bytes:
        (source, source_port), (target, target_port) = (
            self._flow_addresses if sender == 0 else self._flow_addresses[::-1]
        )
        tcp = TCP(
            sport=source_port,
            dport=target_port,
            seq=self._sequences[sender],
            ack=self._sequences[1 - sender] if flags & TH_ACK else 0,
            flags=flags,
            win=65_535,
            data=data,
        )
        source_ip, target_ip = (ipaddress.ip_address(host) for host in (source, target))
        common = {"src": source_ip.packed, "dst": target_ip.packed, "data": tcp}
        if source_ip.version == 6:
            return bytes(IP6(nxt=dpkt.ip.IP_PROTO_TCP, plen=len(tcp), hlim=64, **common))
        return bytes(IP(p=dpkt.ip.IP_PROTO_TCP, len=20 + len(tcp), **common))


def export_capture(
    trace: Path, file: BinaryIO, progress: Callable[[int], None] = lambda _: None
) -> ExportReport:
    """Write a trace as classic pcap of IP packets; `progress` gets the number of bytes read."""
    writer = dpkt.pcap.Writer(file, snaplen=_PACKET_BYTES_MAX, linktype=_LINK_TYPE_RAW)
    report = ExportReport()
    flows: dict[tuple[str, int], _ConnectionPackets] = {}
    for block in read_trace(trace, progress):
        if isinstance(block, Damage):
            report.damage.append(block)
            continue
        connections = {connection.number: connection for connection in block.body.connections}
        segment = Path(block.path).stem.rpartition("-")[0]
        for entry in block.body.entries:
            if isinstance(entry, Access):
                continue
            connection = connections[entry.connection]
            key = (segment, connection.writer_connection)
            for packet in _entry_packets(flows, key, connection, entry):
                writer.writepkt(packet, min(max(0, entry.time_us), TIME_MAX_US) / 1_000_000)
                report.packets += 1
    report.connections = len(flows)
    return report


def _entry_packets(
    flows: dict[tuple[str, int], _ConnectionPackets],
    key: tuple[str, int],
    connection: Connection,
    entry: Request | Response | ConnectionClosed,
) -> Iterator[bytes]:
    if key not in flows:
        flows[key] = _ConnectionPackets(
            *_flow_addresses(connection, len(flows) + 1), len(flows) + 1
        )
        yield from flows[key].handshake_packets()
    if isinstance(entry, ConnectionClosed):
        yield from flows[key].closing_packets()
    else:
        yield from flows[key].frame_packets(0 if isinstance(entry, Request) else 1, entry.frame)


def _flow_addresses(connection: Connection, number: int) -> tuple[Address, Address]:
    """Return the client's recorded address, and the broker's if a capture had it, else Kafka's
    port.

    A trace has no addresses of brokers, so each gets one in 10.92.0.0/16 or fd00:92::/32.
    """
    host, _, port = connection.listener.rpartition(":")
    client = _ip_address_or_none(connection.host) or ipaddress.ip_address("10.93.0.1")
    server = _ip_address_or_none(host)
    if server is None or parse_whole_number(port) is None:
        low = connection.node_id % 65_536
        text = f"fd00:92::{low:x}" if client.version == 6 else f"10.92.{low >> 8}.{low & 255}"
        server, port = ipaddress.ip_address(text), str(KAFKA_PORT)
    return (str(client), connection.port or 1024 + number % 60_000), (str(server), int(port))


def _ip_address_or_none(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
