"""Recordings of scenarios from seeds, of the access matrix, and of differences found."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import msgspec

from kafka_shim.protocol.api_versions import parse_minor_release
from tests.oracle.real_kafka import RealKafka
from tests.recordings.conformance import generate
from tests.recordings.conformance.matrix.access_matrix import Matrix
from tests.recordings.conformance.play import CLIENT_ID, RULES, play, settings_of_mode
from tests.recordings.conformance.rules.all_rules import rule_scenarios
from tests.recordings.conformance.scenario import RECORDINGS, SUFFIX, Scenario, decoded
from tests.recordings.conformance.scripts import script
from tests.recordings.peers.connecting import connected
from tests.recordings.peers.peer import Peer
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings

SEEDS: Final = 32
SCRIPTS: Final = 16
"""The number of scenarios and of scripts in a new recording; they cover all API versions."""


class ScenarioRecordings(Recordings):
    """Recordings with a scenario, including its requests, in each line; its name is its prefix."""

    @staticmethod
    def pack(responses: Mapping[str, Any]) -> bytes:
        return b"".join(msgspec.json.encode(scenario) + b"\n" for scenario in responses.values())

    @staticmethod
    def unpack(content: bytes) -> dict[str, msgspec.Raw]:
        return {
            msgspec.json.decode(line, type=_Named).prefix: msgspec.Raw(line)
            for line in content.splitlines()
        }


class _Named(msgspec.Struct):
    prefix: str


def _kind(name: str, mode: str = "authorizer") -> Kind:
    """Return a kind that plays recorded scenarios again, and makes new ones from seeds."""
    recordings = ScenarioRecordings(RECORDINGS, f"-{name}{SUFFIX}" if name else SUFFIX)

    def scenarios(release: str) -> Collection[str]:
        made = [f"s{seed}" for seed in range(SEEDS)] + [f"t{seed}" for seed in range(SCRIPTS)]
        return recordings.names(release) or ([] if name == FOUND else made)

    def played(prefix: str, peer: Peer) -> Scenario:
        known = recordings.written(peer.release)
        made = decoded(known[prefix]) if prefix in known else _made(prefix, peer.release)
        return responded(made, peer)

    return Kind(recordings, scenarios, played, mode=mode, connect=settling)


def responded(scenario: Scenario, peer: Peer) -> Scenario:
    """Return the scenario with the responses of a broker."""
    for step, response in zip(scenario.steps, play(scenario, peer), strict=True):
        step.response = response
    return scenario


@contextmanager
def settling(kafka: RealKafka) -> Iterator[Peer]:
    """Yield a real broker as a peer that waits until each change has been applied."""
    with connected(kafka.release, kafka.plain, kafka.sasl, client_id=CLIENT_ID) as peer:
        peer.settle(kraft=kafka.is_kraft)
        yield peer


def _made(prefix: str, release: str) -> Scenario:
    make = generate.scenario if prefix[0] == "s" else script
    return make(release, int(prefix[1:]))


@cache
def _questions(release: str) -> dict[str, Scenario]:
    return {scene.prefix: scene for scene in Matrix(parse_minor_release(release)).scenes()}


@cache
def _rules(release: str) -> dict[str, Scenario]:
    return {each.prefix: each for each in rule_scenarios(release)}


FOUND: Final = "found"
KINDS: Final = {
    "conformance": _kind(""),
    "conformance-open": _kind("open", "open"),
    "conformance-none": _kind("none", "none"),
    "conformance-found": _kind(FOUND),
    "conformance-matrix": Kind(
        ScenarioRecordings(RECORDINGS, f"-matrix{SUFFIX}"),
        _questions,
        lambda prefix, peer: responded(_questions(peer.release)[prefix], peer),
        mode="authorizer",
        connect=settling,
    ),
    "conformance-rules": Kind(
        ScenarioRecordings(RECORDINGS, f"-{RULES}{SUFFIX}"),
        _rules,
        lambda prefix, peer: responded(_rules(peer.release)[prefix], peer),
        settings=lambda _: settings_of_mode(RULES),
        mode="authorizer",
        connect=settling,
    ),
}
"""The kinds; `python -m tests.oracle RELEASE --keep` adds shortened differences to `found`."""
