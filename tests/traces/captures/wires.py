"""TCP conversations and capture files for tests, made without code of the shim."""

import io
import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_shim.traces.captures.tcp_stream import Address, Segment
from tests.support.frames import request_frame, response_frame, sized

CLIENT, SERVER = ("10.0.0.1", 40_000), ("10.0.0.9", 9092)
START_US = 1_700_000_000_000_000


def heartbeat(number: int, padding: int = 0) -> bytes:
    request = HeartbeatRequest("g" + "x" * padding, number, "m")
    return request_frame(ApiKey.HEARTBEAT, 4, request, number)


def heartbeat_result(number: int) -> bytes:
    return response_frame(ApiKey.HEARTBEAT, 4, HeartbeatResponse(), number)


def conversation(
    count: int,
    *,
    client: Address = CLIENT,
    first_sequence: int = 2**32 - 40,
    segment_bytes: int = 23,
    padding: int = 30,
) -> list[Segment]:
    """Return requests and responses in small segments, from SYN to FIN; sequence numbers wrap."""
    pieces: list[tuple[int, bytes]] = []
    for number in range(count):
        for sender, frame in ((0, heartbeat(number, padding)), (1, heartbeat_result(number))):
            data = sized(frame)
            bounds = [*range(0, len(data), segment_bytes), len(data)]
            pieces += ((sender, data[start:end]) for start, end in pairwise(bounds))
    return connection(pieces, client=client, first_sequence=first_sequence)


def connection(
    pieces: Iterable[tuple[int, bytes]],
    *,
    client: Address = CLIENT,
    first_sequence: int = 2**32 - 40,
) -> list[Segment]:
    """Return the segments of a connection from SYN to FIN; the client is 0, the server 1."""
    ends, next_up, next_down = (client, SERVER), first_sequence, 77
    found: list[Segment] = []

    def say(sender: int, data: bytes = b"", **flags: bool) -> None:
        nonlocal next_up, next_down
        source, target = ends if sender == 0 else ends[::-1]
        own, other = (next_up, next_down) if sender == 0 else (next_down, next_up)
        now = START_US + len(found) * 1000
        acknowledged = None if flags.get("is_syn") and sender == 0 else other
        found.append(Segment(now, source, target, own, acknowledged, data, **flags))
        length = len(data) + flags.get("is_syn", False) + flags.get("is_fin", False)
        if sender == 0:
            next_up = (next_up + length) % 2**32
        else:
            next_down = (next_down + length) % 2**32

    say(0, is_syn=True)
    say(1, is_syn=True)
    say(0)
    for sender, data in pieces:
        say(sender, data)
    say(0, is_fin=True)
    say(1, is_fin=True)
    say(0)
    return found


def ethernet(segment: Segment) -> bytes:
    return b"\2" * 6 + b"\4" * 6 + b"\x08\x00" + ip4(segment)


def ip4(segment: Segment) -> bytes:
    flags = segment.is_fin | segment.is_syn << 1 | segment.is_reset << 2
    flags |= (segment.acknowledged is not None) << 4
    tcp = struct.pack(
        ">HHIIBBHHH",
        segment.source[1],
        segment.target[1],
        segment.sequence,
        segment.acknowledged or 0,
        5 << 4,
        flags,
        1000,
        0,
        0,
    )
    hosts = [bytes(map(int, end[0].split("."))) for end in (segment.source, segment.target)]
    length = 20 + len(tcp) + len(segment.data)
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 6, 0, *hosts)
    return head + tcp + segment.data


def cooked(segment: Segment) -> bytes:
    return struct.pack(">HHHQH", 0, 1, 6, 0, 0x0800) + ip4(segment)


def loopback(segment: Segment) -> bytes:
    return struct.pack("=I", 2) + ip4(segment)


def pcap(packets: Iterable[tuple[int, bytes]], link_type: int = 1, *, nano: bool = False) -> bytes:
    magic, ticks = (0xA1B23C4D, 1000) if nano else (0xA1B2C3D4, 1)
    parts = [struct.pack("<IHHIIII", magic, 2, 4, 0, 0, 65535, link_type)]
    for time_us, data in packets:
        rest = time_us % 1_000_000 * ticks
        parts += [struct.pack("<IIII", time_us // 1_000_000, rest, len(data), len(data)), data]
    return b"".join(parts)


def pcapng(packets: Sequence[tuple[int, int, bytes]], links: Sequence[int], order: str) -> bytes:
    """Return a pcapng file; packets have an interface, time and data.

    `links` are the link types of the interfaces; those with odd numbers count nanoseconds.
    """

    def block(kind: int, body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        size = struct.pack(f"{order}I", len(body) + 12)
        return struct.pack(f"{order}I", kind) + size + body + size

    parts = [block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for number, link in enumerate(links):
        option = struct.pack(f"{order}HHBxxxHH", 9, 1, 9, 0, 0) if number % 2 else b""
        parts.append(block(1, struct.pack(f"{order}HHI", link, 0, 65535) + option))
    parts.append(block(5, b"\0" * 12))  # interface statistics, which readers ignore
    for interface, time_us, data in packets:
        ticks = time_us * (1000 if interface % 2 else 1)
        head = struct.pack(
            f"{order}5I", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data)
        )
        parts.append(block(6, head + data))
    return b"".join(parts)


def capture_of(segments: Iterable[Segment]) -> io.BytesIO:
    return io.BytesIO(pcap((segment.time_us, ethernet(segment)) for segment in segments))
