"""Read packets with their time and link type from pcap and pcapng files.

Both formats are parsed here: libraries silently stop at a truncated packet, or support only the
first interface of pcapng (docs/explanation/decisions/0001-captures.md).
"""

from collections.abc import Iterator
from struct import Struct, error as struct_error
from typing import BinaryIO

import msgspec

from kafka_shim.shim.errors import ConfigError

_TICKS = {0xA1B2C3D4: 1_000_000, 0xA1B23C4D: 1_000_000_000}
"""Classic pcap: how its magic number counts parts of a second."""

_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_PNG_MAGIC = _SECTION.to_bytes(4, "big")
_BYTE_ORDER = 0x1A2B3C4D
_OPTION_RESOLUTION, _OPTION_OFFSET = 9, 14
TIME_MAX_US = (1 << 32) * 1_000_000 - 1
"""What pcap has room for: some time in 2106."""
_BYTES_MAX = 1 << 28
"""Of a packet or a block; more is taken for damage."""


class Packet(msgspec.Struct, frozen=True, gc=False):
    """A captured packet; `link_type` is a LINKTYPE of libpcap,
    `time_us` microseconds since 1970.
    """

    time_us: int
    link_type: int
    data: bytes


class CaptureError(ConfigError):
    """The file is not a capture, or is damaged; the text says where."""


def read_packets(file: BinaryIO) -> Iterator[Packet]:
    """Yield every packet, in the order of the file. Raise CaptureError at damage."""
    magic = file.read(4).ljust(4, b"\0")
    file.seek(0)
    try:
        if magic == _PNG_MAGIC:
            yield from _packets_of_pcapng(file)
            return
        for order in ("<", ">"):
            ticks = _TICKS.get(Struct(f"{order}I").unpack(magic)[0])
            if ticks is not None:
                yield from _packets_of_classic_pcap(file, order, ticks)
                return
    except struct_error as error:
        raise CaptureError(f"it is damaged before byte {file.tell()}: {error}") from error
    raise CaptureError("not a network capture (neither pcap nor pcapng)")


def _packets_of_classic_pcap(file: BinaryIO, order: str, ticks: int) -> Iterator[Packet]:
    (link_type,) = Struct(f"{order}20xI").unpack(_read_exactly(file, 24))
    head = Struct(f"{order}IIII")
    while start := file.read(head.size):
        start += _read_exactly(file, head.size - len(start))
        seconds, parts, captured, _ = head.unpack(start)
        if captured > _BYTES_MAX:
            raise CaptureError(f"a packet before byte {file.tell()} claims {captured} bytes")
        time_us = seconds * 1_000_000 + parts * 1_000_000 // ticks
        yield Packet(time_us, link_type & 0xFFFF, _read_exactly(file, captured))


def _read_exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise CaptureError(f"it is cut off at byte {file.tell()}, within a packet")
    return data


class _Interface(msgspec.Struct):
    """The properties of an interface in a pcapng section."""

    link_type: int
    ticks_per_second: int = 1_000_000
    offset_s: int = 0

    def time_us(self, ticks: int) -> int:
        return ticks * 1_000_000 // self.ticks_per_second + self.offset_s * 1_000_000


def _packets_of_pcapng(file: BinaryIO) -> Iterator[Packet]:
    order, interfaces = "<", list[_Interface]()
    while head := file.read(8):
        head += _read_exactly(file, 8 - len(head))
        if head[:4] == _PNG_MAGIC:
            mark = _read_exactly(file, 4)
            order = "<" if int.from_bytes(mark, "little") == _BYTE_ORDER else ">"
            if Struct(f"{order}I").unpack(mark)[0] != _BYTE_ORDER:
                raise CaptureError("a section of pcapng has no byte order")
            interfaces = []
            head += mark
        block_type, size = Struct(f"{order}II").unpack_from(head)
        if not len(head) + 4 <= size <= _BYTES_MAX:
            raise CaptureError(f"a block before byte {file.tell()} claims {size} bytes")
        block_body = _read_exactly(file, size - len(head))
        if block_type == _INTERFACE:
            interfaces.append(_parse_interface(order, block_body))
        elif block_type == _ENHANCED:
            yield _parse_packet_block(order, block_body, interfaces)
        elif block_type == _SIMPLE:
            raise CaptureError(
                f"a packet before byte {file.tell()} has no time (a Simple Packet Block of pcapng)"
            )


def _parse_interface(order: str, body: bytes) -> _Interface:
    interface = _Interface(Struct(f"{order}H").unpack_from(body)[0])
    at = 8
    while at + 4 <= len(body) - 4:
        code, length = Struct(f"{order}HH").unpack_from(body, at)
        value = body[at + 4 : at + 4 + length]
        if code == _OPTION_RESOLUTION and value:  # the top bit means powers of two, not of ten
            interface.ticks_per_second = (2 if value[0] & 0x80 else 10) ** (value[0] & 0x7F)
        elif code == _OPTION_OFFSET and length == 8:
            (interface.offset_s,) = Struct(f"{order}q").unpack(value)
        elif code == 0:
            break
        at += 4 + (length + 3) // 4 * 4
    return interface


def _parse_packet_block(order: str, body: bytes, interfaces: list[_Interface]) -> Packet:
    number, high, low, captured, _ = Struct(f"{order}5I").unpack_from(body)
    data = body[20 : 20 + captured]
    if number >= len(interfaces):
        raise CaptureError(f"a packet is of interface {number}, which the file does not describe")
    interface = interfaces[number]
    time_us = interface.time_us(high << 32 | low)
    if not 0 <= time_us <= TIME_MAX_US:
        raise CaptureError(f"a packet claims to be of {time_us // 1_000_000} seconds after 1970")
    return Packet(time_us, interface.link_type, data)
