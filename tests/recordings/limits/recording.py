"""Requests at the limits of real brokers, one file per release."""

from pathlib import Path
from typing import Final

from tests.oracle.real_kafka import numbers
from tests.recordings.limits import controller_scenarios, record_scenarios, size_scenarios
from tests.recordings.limits.play import LimitsPlay
from tests.recordings.peers.peer import Peer
from tests.recordings.recorder import Kind
from tests.recordings.scenarios import by_name
from tests.recordings.store import Recordings, Steps

SCENARIOS = by_name((record_scenarios, controller_scenarios, size_scenarios))


NEEDS_CONTROLLER: Final = "controller-scram_credentials"
"""A scenario that ZooKeeper needs minutes for."""


def scenarios(release: str) -> list[str]:
    """Return the scenarios of a release."""
    has_controller = numbers(release) >= (3,)
    return [name for name in SCENARIOS if has_controller or name != NEEDS_CONTROLLER]


def played(name: str, peer: Peer) -> Steps:
    """Return the responses of a broker in a scenario."""
    play = LimitsPlay(name, peer)
    SCENARIOS[name](play)
    return play.steps


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded"),
    scenarios,
    played,
    own_settings={**record_scenarios.OWN_SETTINGS, **size_scenarios.OWN_SETTINGS},
    mode="authorizer",
)
