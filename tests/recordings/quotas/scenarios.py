"""Clients with quotas: their throttle times, and the precedence of quotas.

Each request has its own connection, since a throttled connection is muted; the client id is the
name of the connection. A new client's first throttle time follows exactly from its quota; later
ones depend on the time between requests.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.quotas.play import Play

BYTES: Final = 200_000
FORGOTTEN_MS: Final = 12_500
Limits = Mapping[str, float | None]
PRODUCE: Final = "producer_byte_rate"
FETCH: Final = "consumer_byte_rate"
BUSY: Final = "request_percentage"
MUTATIONS: Final = "controller_mutation_rate"


def produce(play: Play) -> None:
    """The first request of a user stays within the quota, or exceeds it by its bytes."""
    topic = play.topic()
    play.limit({"user": "alice"}, {PRODUCE: 10_000})
    play.produce("one byte", "alice/0", topic, 1)
    play.produce("200 kB", "alice/1", topic, BYTES)
    play.produce("and more", "alice/2", topic, BYTES)
    play.produce("another user", "bob/0", topic, BYTES)
    play.produce("no user", "c/0", topic, BYTES)
    play.fetch("reads", "alice/3", topic)


def nothing_acknowledged(play: Play) -> None:
    topic = play.topic()
    play.limit({"user": "alice"}, {PRODUCE: 10_000})
    play.produce("no acks", "alice/0", topic, BYTES, acks=0)
    play.produce("and with", "alice/1", topic, 1)


def fetch(play: Play) -> None:
    """The response to a throttled Fetch is empty, and does not count for the quota."""
    topic = play.topic()
    play.produce("before", "c/0", topic, BYTES)
    play.produce("before", "c/0", topic, BYTES)
    play.limit({"user": "alice"}, {FETCH: 10_000})
    play.fetch("at most what a window has", "alice/0", topic)
    play.fetch("once more", "alice/1", topic)
    play.fetch("nothing is there", "alice/2", topic, offset=2)
    play.fetch("another user", "bob/0", topic)


def precedence(play: Play) -> None:
    """The precedence of quota entities: each next entity takes precedence over the others."""
    topic = play.topic()
    entities: tuple[dict[str, str | None], ...] = (
        {"client-id": None},
        {"client-id": "alice"},
        {"user": None},
        {"user": None, "client-id": None},
        {"user": None, "client-id": "alice"},
        {"user": "alice"},
        {"user": "alice", "client-id": None},
        {"user": "alice", "client-id": "alice"},
    )
    for at, entity in enumerate(entities):
        play.limit(entity, {PRODUCE: 19_500.0 - 500 * at})
        for user in ("bob", "c", "alice"):
            play.produce(f"{at} {user}", user, topic, BYTES)
        play.peer.pause(FORGOTTEN_MS)


def mutations(play: Play) -> None:
    """Topic mutations, with a token bucket of eleven seconds' quota."""
    play.limit({"user": "alice"}, {MUTATIONS: 0.5})
    play.limit({"user": "bob"}, {MUTATIONS: 0.5})
    for version, user in ((6, "alice"), (5, "bob")):
        play.create(f"in version {version}", f"{user}/0", version, "a", 3)
        play.create(f"up to the brim {version}", f"{user}/1", version, "b", 8)
        play.create(f"too many {version}", f"{user}/2", version, "c", 1)
        play.create(f"only looked at {version}", f"{user}/3", version, "d", 9, validate_only=True)
        play.create(f"two topics {version}", f"{user}/4", version, "e", 1, 2)
        play.add_partitions(f"partitions {version}", f"{user}/5", version - 3, "a", 5)
        play.delete(f"deleted {version}", f"{user}/6", version - 1, "a")


def changes(play: Play) -> None:
    """A raised quota throttles less, a removed one not at all."""
    topic = play.topic()
    play.limit({"user": "alice"}, {PRODUCE: 10_000})
    play.produce("throttled", "alice/0", topic, BYTES)
    play.limit({"user": "alice"}, {PRODUCE: 15_000})
    play.produce("less so", "alice/1", topic, 1)
    play.limit({"user": "alice"}, {PRODUCE: None})
    play.produce("no more", "alice/2", topic, BYTES)


def requests(play: Play) -> None:
    """Request quotas: clients far above their quota are throttled for a second for any request.

    Usage depends on the machine, so the quotas are close to zero or larger than possible.
    """
    topic = play.topic()
    play.limit({"user": "alice"}, {BUSY: 0.0001})
    play.limit({"user": "bob"}, {BUSY: 1_000_000.0})
    for user in ("alice", "bob", "c"):
        for at in range(2):
            play.look(f"{user} looks {at}", f"{user}/l{at}")
        play.produce(f"{user} produces", f"{user}/p", topic, 1)
        play.produce(f"{user} produces without acks", f"{user}/n", topic, 1, acks=0)
        play.fetch(f"{user} reads", f"{user}/f", topic)
    play.limit({"user": "alice"}, {BUSY: 0.0001, PRODUCE: 10_000})
    play.produce("both quotas", "alice/b", topic, BYTES)
    play.limit({"user": "alice"}, {BUSY: None, PRODUCE: None})
    play.look("without one", "alice/o")


def extremes(play: Play) -> None:
    """Limits that are no number, infinite, or next to zero."""
    topic = play.topic()
    for at, limit in enumerate((math.nan, math.inf, 5e-324, 1e-300, 1e300)):
        client = f"alice/{at}"
        entity = {"user": "alice", "client-id": f"alice/{play.name}-{at}"}
        if play.accepts(f"{limit}: {MUTATIONS}", entity, {MUTATIONS: limit}):
            for version, name in ((6, "a"), (6, "b"), (5, "a"), (5, "b")):
                label = f"{limit}: {name} in version {version}"
                play.create(label, client, version, f"{at}{name}", 3)
        play.limit(entity, {MUTATIONS: None})
        if play.accepts(f"{limit}: {BUSY}", entity, {BUSY: limit}):
            for number in range(3):
                play.look(f"{limit}: look {number}", client)
    if play.accepts("no number", {"user": "bob"}, {PRODUCE: math.nan, FETCH: math.nan}):
        for number in range(3):
            play.produce(f"no number: produce {number}", f"bob/p{number}", topic, BYTES)
            play.fetch(f"no number: fetch {number}", f"bob/f{number}", topic)
    for limit in (1.5, 1e300, math.inf):
        play.accepts(f"{limit}: {PRODUCE}", {"user": "carol"}, {PRODUCE: limit})


SCENARIOS: Final[Mapping[str, Any]] = {
    scenario.__name__: scenario
    for scenario in (
        produce,
        nothing_acknowledged,
        fetch,
        precedence,
        mutations,
        changes,
        requests,
        extremes,
    )
}
NEEDS: Final = dict.fromkeys(("mutations", "extremes"), (ApiKey.CREATE_TOPICS, 6))
"""The API version that a release must support for a scenario."""
