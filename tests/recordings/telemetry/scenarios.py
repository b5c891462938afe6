"""Clients that request a metrics subscription and push metrics, in time or not (KIP-714)."""

import gzip
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.telemetry.telemetry_play import TelemetryPlay

LIMIT = 1 << 20
NO_COMPRESSION_SO_FAR = 9
TERMINATING: dict[str, Any] = {"terminating": True}


def without_subscriptions(play: TelemetryPlay) -> None:
    play.get("a new client")
    client = play.client(0x11)
    id_of = play.get("an id of its own", client).subscription_id
    play.get("again", client)
    play.push("at once", client, id_of)
    play.push("again", client, id_of)
    play.get("after a push", client)
    play.push("no id", bytes(16), id_of)
    play.push("never asked, a wrong subscription", play.client(0x12), 0)
    play.push("never asked, the right one", play.client(0x14), id_of)
    play.push("the last one", play.client(0x15), id_of, **TERMINATING)


def errors(play: TelemetryPlay) -> None:
    cases: dict[str, tuple[dict[str, Any], int]] = {
        "wrong subscription": ({}, 1),
        "wrong compression": ({"compression": NO_COMPRESSION_SO_FAR}, 0),
        "negative compression": ({"compression": -1}, 0),
        "nothing, wrong compression": ({"metrics": b"", "compression": 9}, 0),
        "nothing": ({"metrics": b""}, 0),
        "the limit": ({"metrics": b"x" * LIMIT}, 0),
        "too large": ({"metrics": b"x" * (LIMIT + 1)}, 0),
        "large, wrong compression": ({"metrics": b"x" * (LIMIT + 1), "compression": 9}, 0),
        "gzip": ({"metrics": gzip.compress(b"metrics", mtime=0), "compression": 1}, 0),
        "no gzip": ({"compression": 1}, 0),
        "no snappy": ({"compression": 2}, 0),
        "no lz4": ({"compression": 3}, 0),
        "no zstd": ({"compression": 4}, 0),
    }
    for number, (name, (more, off)) in enumerate(cases.items(), 0x20):
        client = play.client(number)
        id_of = play.get(name, client).subscription_id
        play.push(name, client, id_of + off, **more)
        play.get(f"after {name}", client)
        play.get(f"again after {name}", client)
        play.push(f"pushed after {name}", client, id_of)
        play.push(f"the last after {name}", client, id_of, **TERMINATING)


def large_when_decompressed(play: TelemetryPlay) -> None:
    for number, size in enumerate((LIMIT, LIMIT + 1, 3 * LIMIT), 0x40):
        client = play.client(number)
        id_of = play.get(f"{size} bytes", client).subscription_id
        packed = gzip.compress(bytes(size), mtime=0)
        play.push(f"{size} bytes", client, id_of, packed, compression=1)


def ends(play: TelemetryPlay) -> None:
    """Clients push again after their terminating push."""
    play.subscribe("s", interval_ms="1000")
    for number, first in enumerate(({}, TERMINATING), 0x50):
        client = play.client(number)
        id_of = play.get(f"{number}", client).subscription_id
        play.push("first", client, id_of, **first)
        play.push("the last", client, id_of, **TERMINATING)
        play.push("once more the last", client, id_of, **TERMINATING)
        play.push("goes on", client, id_of)
        play.push("goes on at once", client, id_of)
        play.wait(1200)
        play.push("goes on after a while", client, id_of)
        play.push("the last of all, wrong", client, id_of + 1, **TERMINATING)
        play.push("after the last", client, id_of)
        play.wait(1200)
        play.get("asks again", client)
    play.unsubscribe("s")


def intervals(play: TelemetryPlay) -> None:
    play.subscribe("s", interval_ms="1000", metrics="org.apache.kafka.")
    client = play.client(0x60)
    id_of = play.get("asks", client).subscription_id
    play.wait(500)
    play.push("too soon, but the first", client, id_of)
    play.wait(600)
    play.get("asks too soon", client)
    play.push("too soon", client, id_of)
    play.wait(600)
    play.push("in time", client, id_of)
    play.wait(1200)
    play.get("asks in time", client)
    play.push("after asking", client, id_of)
    play.push("and once more", client, id_of)
    play.unsubscribe("s")


def subscriptions(play: TelemetryPlay) -> None:
    numbers = iter(range(0x70, 0xFF))
    play.subscribe("one", metrics="a.")
    play.get("one metric", play.client(next(numbers)))
    play.subscribe("one", metrics="a., b.")
    play.get("two metrics", play.client(next(numbers)))
    play.subscribe("two", metrics="b.,c.", interval_ms="2000")
    play.get("two subscriptions", play.client(next(numbers)))
    play.subscribe("three", interval_ms="3600000")
    play.get("an interval alone", play.client(next(numbers)))
    play.subscribe("three", metrics="*")
    play.get("every metric", play.client(next(numbers)))
    play.subscribe("three", metrics="")
    play.get("an empty list", play.client(next(numbers)))
    play.subscribe("three", metrics="*,z.")
    play.get("every metric and one", play.client(next(numbers)))
    play.unsubscribe("one", "two", "three")
    play.get("none any more", play.client(next(numbers)))


MATCHES = (
    "client_id=a",
    "client_id=b",
    "client_id=[ab]",
    "client_id=a.*,client_source_address=127\\..*",
    "client_id=a,client_source_address=10.*",
    "client_id=b,client_id=a",
    "client_id=a,client_id=b",
    " client_id = a , client_source_port=[0-9]+ ",
    "client_software_name=unknown",
    "client_software_name=shim-test,client_software_version=1.*",
    "client_instance_id=.*",
    "client_instance_id=gYGBgYGBgYGBgYGBgYGBgQ",
    "",
)
REFUSED = ("client_id", "client_id=", "=a", "x=y", "client_id=(", "client_id=a=b", ",")


def matching(play: TelemetryPlay) -> None:
    client = play.client(0x81)
    named = {"client_software_name": "shim-test", "client_software_version": "1.2"}
    play.call("names itself", ApiKey.API_VERSIONS, 3, named, "b")
    play.steps.pop()
    for pattern in MATCHES:
        play.subscribe("one", metrics="m.", match=pattern)
        for connection in ("a", "b"):
            play.get(f"{connection} with {pattern}", client, connection)
    play.subscribe("one", match="client_id=nobody")
    for pattern in REFUSED:
        play.subscribe("one", match=pattern)
    for interval in ("99", "100", "3600000", "3600001", "0", "-1", "x", ""):
        play.subscribe("one", interval_ms=interval)
    play.unsubscribe("one")


def changes(play: TelemetryPlay) -> None:
    """Any change of subscriptions invalidates the subscription ids of all clients."""
    client = play.client(0x90)
    id_of = play.get("asks", client).subscription_id
    play.get("asks too soon", client)
    play.subscribe("other", match="client_id=nobody", metrics="x.")
    play.get("another one changed", client)
    play.get("again too soon", client)
    play.push("pushes", client, id_of)
    play.subscribe("other", metrics="y.")
    play.push("pushes again", client, id_of, **TERMINATING)
    play.subscribe("other", match=None)
    play.push("its own one changed", client, id_of)
    id_of = play.get("asks for the new one", client).subscription_id
    play.get("asks too soon again", client)
    play.subscribe("other", metrics="y.")
    play.get("the same as before", client)
    play.unsubscribe("other")


SCENARIOS = (
    without_subscriptions,
    errors,
    large_when_decompressed,
    ends,
    intervals,
    subscriptions,
    matching,
    changes,
)
