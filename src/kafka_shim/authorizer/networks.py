"""Networks as the hosts of ACLs: `10.0.0.0/8`, `2001:db8::/32` (since 4.4).

The same texts are accepted as by a broker. It matches IPv4 with a pattern, and parses IPv6 like
Java, which accepts brackets, zones and any number of leading zeros. A network contains only
addresses of its own IP version.
"""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from kafka_shim.authorizer.model import WILDCARD

REMEMBERED = 1 << 14
"""Texts whose meaning is kept: networks of ACLs, and hosts that ask."""

_V4 = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")
_LENGTH = {4: re.compile(r"[0-9]{1,2}"), 6: re.compile(r"[+-]?[0-9]{1,10}")}
_LEADING_ZEROS = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])")
_BITS = {4: 32, 6: 128}


class Network(msgspec.Struct, frozen=True, gc=False):
    """All addresses from `first` to `last`, of one IP version."""

    version: int
    first: int
    last: int

    def contains(self, host: str) -> bool:
        """Return whether the network contains an address, or all of another network."""
        other = _meaning_of(host)
        if other is None or other.version != self.version:
            return False
        if other.version == 4 and other.last == 0:  # brokers do not count 0.0.0.0
            return False
        return self.first <= other.first and other.last <= self.last


@lru_cache(REMEMBERED)
def network_of(host: str) -> Network | None:
    """Parse the host of an ACL as a network; None if a broker does not accept it as one."""
    address_text, slash, length_text = host.partition("/")
    if not slash:
        return None
    version = 6 if ":" in host else 4
    address = _address(address_text, version)
    if address is None or _LENGTH[version].fullmatch(length_text) is None:
        return None
    length, bits = int(length_text), _BITS[version]
    if not 0 <= length <= bits:
        return None
    rest = (1 << (bits - length)) - 1
    return Network(version, address & ~rest, address | rest)


def covers_host(acl_host: str, host: str, *, networks: bool) -> bool:
    """Return whether an ACL's host applies to this host: `*`, the same text, or its network."""
    if acl_host in (WILDCARD, host):
        return True
    network = network_of(acl_host) if networks else None
    return network is not None and network.contains(host)


def is_host(text: str) -> bool:
    """Return whether the text is an address, a network or `*`."""
    return text == WILDCARD or _meaning_of(text) is not None


def as_clients_have_it(host: str) -> str | None:
    """Return an address in the broker's notation, since brokers compare texts; None if invalid."""
    meaning = None if "/" in host or "%" in host else _meaning_of(host)
    if meaning is None:
        return None
    if meaning.version == 4:
        return str(ipaddress.IPv4Address(meaning.first))
    exploded = ipaddress.IPv6Address(meaning.first).exploded
    return ":".join(f"{int(part, 16):x}" for part in exploded.split(":"))


def around(host: str, places: Iterable[str]) -> str:
    """Return the smallest other place (address or network) that contains the host; else `*`."""
    within = []
    own = _breadth(host)
    for place in places:
        network = network_of(place)
        if network is not None and network.contains(host) and _breadth(place) > own:
            within.append(_breadth(place))
    return min(within)[1] if within else WILDCARD


def _breadth(place: str) -> tuple[int, str]:
    """Return a sort key for the size of a place; different texts of one network are not equal."""
    network = network_of(place)
    return (-1 if network is None else network.last - network.first), place


@lru_cache(REMEMBERED)
def _meaning_of(host: str) -> Network | None:
    if "/" in host:
        return network_of(host)
    version = 6 if ":" in host else 4
    address = _address(host, version)
    return None if address is None else Network(version, address, address)


def _address(text: str, version: int) -> int | None:
    return _v4_address(text) if version == 4 else _v6_address(text)


def _v4_address(text: str) -> int | None:
    found = _V4.fullmatch(text)
    octets = [int(octet) for octet in found.groups()] if found else []
    if not octets or max(octets) > 255:
        return None
    return int.from_bytes(bytes(octets))


def _v6_address(text: str) -> int | None:
    """Parse an address like Java's InetAddress, which treats IPv4-mapped addresses as IPv4."""
    if len(text) > 2 and text[0] == "[" and text[-1] == "]":
        text = text[1:-1]
    text, percent, zone = text.partition("%")
    if percent and not zone:
        return None
    try:
        address = ipaddress.IPv6Address(_LEADING_ZEROS.sub("", text))
    except ValueError:
        return None
    return None if address.ipv4_mapped is not None else int(address)
