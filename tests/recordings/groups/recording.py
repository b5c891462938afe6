"""All group scenarios by name, and the recordings of real brokers: one file a release."""

from pathlib import Path

from tests.recordings.groups import (
    admin_scenarios,
    consumer_scenarios,
    epoch_scenarios,
    joining_scenarios,
    migration_scenarios,
    offset_scenarios,
    policy_scenarios,
    share_scenarios,
    sharing_scenarios,
    static_scenarios,
    streams_scenarios,
)
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.peers import Peer
from tests.recordings.scenarios import by_name
from tests.recordings.store import Recordings, Steps

SCENARIOS = by_name(
    (
        joining_scenarios,
        static_scenarios,
        offset_scenarios,
        admin_scenarios,
        consumer_scenarios,
        epoch_scenarios,
        migration_scenarios,
        policy_scenarios,
        share_scenarios,
        sharing_scenarios,
        streams_scenarios,
    )
)

SETTINGS = {f"policy-{name}": told for name, told in policy_scenarios.SETTINGS.items()}
"""Scenarios that want broker settings of their own, and these."""

RECORDINGS = Recordings(Path(__file__).parent / "recorded")


def played(name: str, peer: Peer) -> Steps:
    """The answers of a broker to a scenario."""
    play = ModernPlay(name, peer)
    SCENARIOS[name](play)
    return play.steps
