"""Scenarios of connections, step by step, to brokers that limit connections.

The listeners are PLAINTEXT, which is the inter-broker listener, and SASL_PLAINTEXT.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

PLAIN: Final = "PLAINTEXT"
SASL: Final = "SASL_PLAINTEXT"
OTHER: Final = "127.0.0.2"
"""An address from which brokers themselves do not connect."""


class Open(NamedTuple):
    """Open this number of connections, and send a request on each."""

    listener: str
    times: int = 1
    host: str = OTHER


class Use(NamedTuple):
    """Send another request on the nth connection."""

    number: int


class Leave(NamedTuple):
    """Close the nth connection."""

    number: int


class Limit(NamedTuple):
    """Set the connection quota of an address (None: the default's), per second; None removes it."""

    host: str | None
    per_second: float | None


class Look(NamedTuple):
    """Record the state of every connection, `at_ms` after the first connection."""

    at_ms: int


Step = Open | Use | Leave | Limit | Look


class Scenario(NamedTuple):
    """Steps of connections; `settings` are the broker's."""

    steps: Sequence[Step]
    settings: Mapping[str, str] = MappingProxyType({})


_PER_IP = "max.connections.per.ip"
_RATE = "max.connection.creation.rate"
_OF_SASL = "listener.name.sasl_plaintext."
_ONE_THREAD = {"num.network.threads": "1"}
"""A single thread, since each network thread closes the least recently used of its connections."""

SCENARIOS: Final = {
    "address": Scenario(
        (
            *(Open(SASL, 2), Look(200), Open(PLAIN, 3), Look(500)),
            *(Open(PLAIN, 3, "127.0.0.3"), Look(1000)),
            *(Leave(0), Look(1500), Open(SASL, 2), Look(2000)),
        ),
        {_PER_IP: "20", f"{_PER_IP}.overrides": f"127.0.0.3:1,{OTHER}:4"},
    ),
    "all": Scenario(
        (
            *(Open(SASL), Look(300), Open(SASL), Look(600), Open(SASL), Look(900)),
            *(Open(SASL), Look(1300), Use(0), Look(1600), Open(PLAIN), Look(2200)),
            *(Open(PLAIN), Look(2800), Leave(4), Leave(5), Look(3400), Look(3900)),
        ),
        {"max.connections": "3", **_ONE_THREAD},
    ),
    "listener-of-brokers": Scenario(
        (Open(PLAIN, 5), Look(500), Leave(0), Look(1000), Open(SASL), Look(1500)),
        {"max.connections": "3", **_ONE_THREAD},
    ),
    "listener": Scenario(
        (
            *(Open(SASL, 2), Look(500), Open(SASL, 3), Open(PLAIN, 3), Look(1000)),
            *(Leave(0), Look(1500), Leave(3), Leave(1), Look(2000)),
        ),
        {f"{_OF_SASL}max.connections": "2"},
    ),
    "more-than-all": Scenario(
        (Open(SASL, 3), Look(500), Open(SASL), Look(1000)),
        {"max.connections": "3", f"{_OF_SASL}max.connections": "5", **_ONE_THREAD},
    ),
    "place-before-address": Scenario(
        (Open(SASL), Open(SASL), Look(500), Leave(0), Look(1000), Open(PLAIN), Look(1500)),
        {f"{_OF_SASL}max.connections": "1", f"{_PER_IP}.overrides": f"{OTHER}:1"},
    ),
    "rate": Scenario(
        (
            *(Open(SASL, 26), Open(PLAIN, 26), Look(1250), Look(2250), Look(3250)),
            *(Look(4250), Look(5250), Look(6250)),
        ),
        {_RATE: "2"},
    ),
    "rate-of-a-listener": Scenario(
        (
            *(Open(SASL, 14), Open(PLAIN, 14), Look(500), Look(1500), Look(2500), Look(3500)),
            *(Look(4500), Look(12_500), Open(SASL, 3), Look(13_000), Look(14_000), Look(15_000)),
        ),
        {f"{_OF_SASL}{_RATE}": "1"},
    ),
    "rate-of-nothing": Scenario(
        (Open(SASL, 3), Look(500), Look(1500), Look(2500), Look(3500)),
        {f"{_OF_SASL}{_RATE}": "0"},
    ),
    "rate-of-an-address": Scenario(
        (
            *(Limit(OTHER, 2), Open(SASL, 20), Look(150), Open(PLAIN, 3)),
            *(Open(SASL, 3, "127.0.0.3"), Look(300), Look(1750), Open(SASL, 2), Look(1850)),
            *(Look(3000),),
            *(Limit(OTHER, None), Open(SASL, 5), Look(3500)),
            *(Limit(None, 1), Open(PLAIN, 12, "127.0.0.4"), Look(4000), Look(5500)),
        ),
    ),
}
