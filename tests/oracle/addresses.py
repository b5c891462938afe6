"""Record decisions about clients' addresses: `python -m tests.oracle.addresses 4.4.0`.

Kafka's StandardAuthorizer decides random combinations of an ACL's host and a client's address, each
written in one of many ways; Java parses the address. `--seed` chooses others. The decisions are
written to the file that `make test` compares. Needs Java 17 and Maven.
"""

import argparse
import ipaddress
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_shim.protocol.enums import CLUSTER_NAME
from tests.oracle.assignors import kafkas

DECISIONS = Path(__file__).parents[1] / "authorizer" / "recorded_addresses.json"
COMBINATIONS = 600
_V4 = ("10.1.2.3", "10.1.2.4", "127.0.0.1", "192.0.2.200", "8.8.8.8")
_V6 = (
    "::1",
    "2001:db8::1",
    "2001:db8:0:ab::",
    "fe80::1",
    "fd00::2",
    "::a01:203",
    "1:2:3:4:5:6:7:8",
)
_SCOPES = ("%1", "%7", "%05", "%0")


class RandomAddresses:
    """Addresses and the hosts of ACLs, in the ways in which people write them."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def combination(self) -> tuple[str, str]:
        """Return an ACL's host and a client's address, often the same place."""
        choose = self._random.choice
        address = choose((*_V4, *_V6))
        other = address if self._random.random() < 0.7 else choose((*_V4, *_V6))
        written = self._written(address)
        return choose(
            [written, self._written(other), self._java(other), self._network(other)]
        ), written

    def _written(self, address: str) -> str:
        number = ipaddress.ip_address(address)
        if isinstance(number, ipaddress.IPv4Address):
            padded = ".".join(f"{int(octet):03}" for octet in address.split("."))
            value = int(number)
            mapped = f"::ffff:{value >> 16:x}:{value & 0xFFFF:x}"
            return self._random.choice(
                [address, address, padded, f"::ffff:{address}", mapped, mapped.upper(),
                 f"[::ffff:{address}]"]
            )  # fmt: skip
        text = self._random.choice(
            [number.compressed, number.compressed.upper(), number.exploded, self._java(address)]
        )
        text += self._random.choice(["", "", "", *_SCOPES])
        return f"[{text}]" if self._random.random() < 0.15 else text

    @staticmethod
    def _java(address: str) -> str:
        number = ipaddress.ip_address(address)
        if isinstance(number, ipaddress.IPv4Address):
            return address
        return ":".join(f"{int(part, 16):x}" for part in number.exploded.split(":"))

    def _network(self, address: str) -> str:
        lengths = (0, 8, 24, 31, 32) if "." in address else (0, 10, 32, 64, 127, 128)
        return f"{self._written(address)}/{self._random.choice(lengths)}"


def combinations(seed: str) -> Iterator[tuple[str, str]]:
    addresses = RandomAddresses(seed)
    yield from (addresses.combination() for _ in range(COMBINATIONS))


def question(host: str, address: str) -> dict[str, Any]:
    """Return the question whether an ACL for a host applies to a client."""
    acl = {
        "resource_type": "CLUSTER",
        "resource_name": CLUSTER_NAME,
        "resource_pattern_type": "LITERAL",
        "principal": "User:a",
        "host": host,
        "operation": "ALTER",
        "permission": "ALLOW",
    }
    return {
        "acls": [acl],
        "resource_type": "CLUSTER",
        "names": [CLUSTER_NAME],
        "operations": ["ALTER"],
        "by_type": [],
        "principals": ["User:a"],
        "hosts": [address],
        "super_users": "",
        "allow_everyone": False,
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.addresses", description=__doc__)
    parser.add_argument("release", help="4.4.0 or later")
    parser.add_argument("--seed", default="addresses")
    options = parser.parse_args(arguments)
    with kafkas(options.release, "Decisions") as kafka:
        rows = [
            [host, address, kafka(question(host, address)) == "1"]
            for host, address in dict.fromkeys(combinations(options.seed))
        ]
    lines = ",\n".join(map(json.dumps, rows))
    DECISIONS.write_text(f"[\n{lines}\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
