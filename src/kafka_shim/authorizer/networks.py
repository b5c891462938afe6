"""The hosts of ACLs and clients: addresses as Java writes them, and networks.

An ACL's host is `*`, a network such as `10.0.0.0/8` or `2001:db8::/32` (KIP-1276, since 4.4), or a
text that a broker compares with the client's address. A host that is written otherwise than by
Java (`::1`) applies to no client.

The same texts are accepted as by a broker. It matches IPv4 with a pattern, and parses IPv6 like
Java, which accepts brackets, zones and any number of leading zeros. A network contains only
addresses of its own IP version.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD

if TYPE_CHECKING:
    from ipaddress import IPv6Address

PARSED_HOSTS_MAX = 1 << 14
"""Texts whose meaning is kept: networks of ACLs, and hosts that ask."""
CACHED_CHARS_MAX = 255
"""Longer texts are parsed each time: clients could fill the memory with them."""

_V4 = r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})"
_LENGTH = {4: r"[0-9]{1,2}", 6: r"[+-]?[0-9]{1,10}"}
_LEADING_ZEROS = r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])"
_BITS = {4: 32, 6: 128}
_OCTETS = frozenset(map(str, range(256)))


class Network(msgspec.Struct, frozen=True, gc=False):
    """All addresses from `first` to `last`, of one IP version."""

    ip_version: int
    first_address: int
    last_address: int

    def covers(self, host: str) -> bool:
        """Return whether the network contains an address, or all of another network."""
        other = _address_range_of(host)
        if other is None or other.ip_version != self.ip_version:
            return False
        if other.ip_version == 4 and other.last_address == 0:  # brokers do not count 0.0.0.0
            return False
        return self.first_address <= other.first_address and other.last_address <= self.last_address


def parse_network(host: str) -> Network | None:
    """Parse the host of an ACL as a network; None if a broker does not accept it as one."""
    return _cached_network(host) if len(host) <= CACHED_CHARS_MAX else _parse_network(host)


def _parse_network(host: str) -> Network | None:
    address_text, slash, length_text = host.partition("/")
    if not slash:
        return None
    version = 6 if ":" in host else 4
    address = _parse_ip(address_text, version)
    if address is None or re.fullmatch(_LENGTH[version], length_text) is None:
        return None
    length, bits = int(length_text), _BITS[version]
    if not 0 <= length <= bits:
        return None
    rest = (1 << (bits - length)) - 1
    return Network(version, address & ~rest, address | rest)


_cached_network = lru_cache(PARSED_HOSTS_MAX)(_parse_network)


def covers_host(acl_host: str, host: str, *, host_networks: bool) -> bool:
    """Return whether an ACL's host applies to this host: `*`, the same text, or its network."""
    if acl_host in (WILDCARD, host):
        return True
    network = parse_network(acl_host) if host_networks else None
    return network is not None and network.covers(host)


def is_valid_acl_host(text: str) -> bool:
    """Return whether the text is an address, a network or `*`."""
    return text == WILDCARD or parse_network(text) is not None or java_address(text) is not None


def parse_client_address(text: str) -> str:
    """Return a client's address, however it is written, as a broker writes it. Raise AclTextError
    for another text.
    """
    address = java_address(text)
    if address is None:
        raise AclTextError(
            f"invalid host `{text}`: expected the address of a client, such as 10.0.0.1"
        )
    return address


def java_address(text: str) -> str | None:
    """Return an address as Java writes it; None if the text is not an address.

    IPv6 is written without `::` (`0:0:0:0:0:0:0:1`), IPv4-mapped addresses as plain IPv4. A scope
    stays (`fe80:0:0:0:0:0:0:1%eth0`).
    """
    octets = text.split(".")
    if len(octets) == 4 and _OCTETS.issuperset(octets):
        return text
    if ":" not in text:
        number = _parse_ipv4(text)
        return None if number is None else address_text(4, number)
    address, scope = _parse_scoped_ipv6(text)
    if address is None:
        return None
    if address.ipv4_mapped is not None:
        return None if scope else str(address.ipv4_mapped)
    suffix = f"%{int(scope) if scope.isdecimal() else scope}" if scope else ""
    return address_text(6, int(address)) + suffix


def unmatchable_host_reason(acl_host: str, *, host_networks: bool) -> str | None:
    """Return why an ACL's host is no client's; None if clients can have it."""
    if acl_host == WILDCARD or (host_networks and "/" in acl_host):
        return None
    address = java_address(acl_host)
    if address is None:
        if "/" in acl_host and parse_network(acl_host) is not None:
            return f"no client's host is `{acl_host}`: networks apply from Kafka 4.4 on"
        return f"no client's host is `{acl_host}`: brokers compare addresses"
    if address == acl_host:
        return None
    return f"brokers write this host as `{address}`, and compare hosts as text"


def address_text(ip_version: int, address: int) -> str:
    """Return an address in the broker's notation, as Java writes it."""
    import ipaddress  # noqa: PLC0415 - a starting broker needs none

    if ip_version == 4:
        return str(ipaddress.IPv4Address(address))
    exploded = ipaddress.IPv6Address(address).exploded
    return ":".join(f"{int(part, 16):x}" for part in exploded.split(":"))


def smallest_enclosing_host(host: str, candidate_hosts: Iterable[str]) -> str:
    """Return the smallest other place (address or network) that contains the host; else `*`."""
    within = []
    own = _host_size_sort_key(host)
    for each in candidate_hosts:
        network = parse_network(each)
        if network is not None and network.covers(host) and _host_size_sort_key(each) > own:
            within.append(_host_size_sort_key(each))
    return min(within)[1] if within else WILDCARD


def _host_size_sort_key(host: str) -> tuple[int, str]:
    """Return a sort key for the size of a place; different texts of one network are not equal."""
    network = parse_network(host)
    return (-1 if network is None else network.last_address - network.first_address), host


@lru_cache(PARSED_HOSTS_MAX)
def _address_range_of(host: str) -> Network | None:
    if "/" in host:
        return parse_network(host)
    version = 6 if ":" in host else 4
    address = _parse_ip(host, version)
    return None if address is None else Network(version, address, address)


def _parse_ip(text: str, version: int) -> int | None:
    return _parse_ipv4(text) if version == 4 else _parse_ipv6_except_ipv4_mapped(text)


def _parse_ipv4(text: str) -> int | None:
    match = re.fullmatch(_V4, text)
    octets = [int(octet) for octet in match.groups()] if match else []
    if not octets or max(octets) > 255:
        return None
    return int.from_bytes(bytes(octets))


def _parse_ipv6_except_ipv4_mapped(text: str) -> int | None:
    """Parse an address like Java's InetAddress, which treats IPv4-mapped addresses as IPv4."""
    address, _ = _parse_scoped_ipv6(text)
    return None if address is None or address.ipv4_mapped is not None else int(address)


def _parse_scoped_ipv6(text: str) -> "tuple[IPv6Address | None, str]":
    """Return an address like Java's InetAddress, and its scope, which is empty without one."""
    if len(text) > 2 and text[0] == "[" and text[-1] == "]":
        text = text[1:-1]
    text, percent, scope = text.partition("%")
    if percent and not scope:
        return None, ""
    from ipaddress import IPv6Address  # noqa: PLC0415 - as above

    try:
        return IPv6Address(re.sub(_LEADING_ZEROS, "", text)), scope
    except ValueError:
        return None, ""
