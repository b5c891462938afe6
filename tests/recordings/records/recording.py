"""All scenarios by name, and the recordings of real brokers: one file per release."""

from pathlib import Path

from tests.recordings.peers.peer import Peer
from tests.recordings.recorder import Kind
from tests.recordings.records import (
    aborted_scenarios,
    admin_scenarios,
    compaction_scenarios,
    content_scenarios,
    disk_scenarios,
    duplicate_scenarios,
    fetch_scenarios,
    idle_scenarios,
    limit_scenarios,
    odd_name_scenarios,
    offset_scenarios,
    produce_scenarios,
    repeat_scenarios,
    state_scenarios,
    transaction_scenarios,
    unled_scenarios,
)
from tests.recordings.records.play import Play
from tests.recordings.scenarios import by_name
from tests.recordings.store import Recordings, Steps

SCENARIOS = by_name(
    (
        produce_scenarios,
        content_scenarios,
        duplicate_scenarios,
        fetch_scenarios,
        offset_scenarios,
        transaction_scenarios,
        repeat_scenarios,
        aborted_scenarios,
        compaction_scenarios,
        admin_scenarios,
        idle_scenarios,
        unled_scenarios,
        state_scenarios,
        limit_scenarios,
        odd_name_scenarios,
        disk_scenarios,
    )
)


def played(name: str, peer: Peer) -> Steps:
    """Return the responses of a broker in a scenario."""
    play = Play(name, peer)
    SCENARIOS[name](play)
    return play.steps


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded"),
    lambda release: SCENARIOS,
    played,
    settings=lambda release: {"log.cleaner.backoff.ms": "200"},
    own_settings={
        **admin_scenarios.OWN_SETTINGS,
        **disk_scenarios.OWN_SETTINGS,
        **idle_scenarios.OWN_SETTINGS,
        **state_scenarios.OWN_SETTINGS,
        **limit_scenarios.OWN_SETTINGS,
    },
)
