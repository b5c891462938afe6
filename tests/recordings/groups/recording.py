"""All group scenarios by name, and the recordings of real brokers: one file per release."""

from pathlib import Path

from tests.oracle.real_kafka import numbers
from tests.recordings.groups import (
    admin_scenarios,
    consumer_scenarios,
    copartition_scenarios,
    corner_scenarios,
    dead_letter_scenarios,
    description_scenarios,
    epoch_scenarios,
    group_log_scenarios,
    idle_scenarios,
    joining_scenarios,
    member_log_scenarios,
    migration_scenarios,
    odd_value_scenarios,
    offset_scenarios,
    policy_scenarios,
    preview_scenarios,
    share_limit_scenarios,
    share_scenarios,
    share_state_scenarios,
    sharing_scenarios,
    standby_scenarios,
    static_scenarios,
    static_streams_scenarios,
    streams_scenarios,
)
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.peers.peer import Peer
from tests.recordings.recorder import Kind
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
        preview_scenarios,
        share_scenarios,
        sharing_scenarios,
        streams_scenarios,
        idle_scenarios,
        static_streams_scenarios,
        standby_scenarios,
        description_scenarios,
        dead_letter_scenarios,
        corner_scenarios,
        share_state_scenarios,
        share_limit_scenarios,
        group_log_scenarios,
        member_log_scenarios,
        copartition_scenarios,
        odd_value_scenarios,
    )
)

PREVIEWED = by_name(
    (
        joining_scenarios,
        static_scenarios,
        offset_scenarios,
        admin_scenarios,
        consumer_scenarios,
        epoch_scenarios,
        migration_scenarios,
        preview_scenarios,
    )
)
"""Scenarios for releases in which consumer groups are a preview (3.7 to 3.9)."""

ASSIGNING_KINDS = ("consumer", "share", "streams")


def settings(release: str) -> dict[str, str]:
    """Return settings with Kafka's default delays, which test brokers lack, and a fast cleaner."""
    found = {"log.cleaner.backoff.ms": "200"}
    if numbers(release) >= (4, 2):
        found["group.streams.initial.rebalance.delay.ms"] = "3000"
    if numbers(release) >= (4, 3):
        found |= {f"group.{kind}.assignment.interval.ms": "1000" for kind in ASSIGNING_KINDS}
    return found


def preview_settings(release: str) -> dict[str, str]:
    """Return settings that enable consumer groups where they are a preview."""
    return settings(release) | {"group.coordinator.rebalance.protocols": "classic,consumer"}


def played(name: str, peer: Peer) -> Steps:
    """Return the responses of a broker in a scenario."""
    play = ModernPlay(name, peer)
    SCENARIOS[name](play)
    return play.steps


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded"),
    lambda release: SCENARIOS,
    played,
    settings,
    {
        **{f"policy-{name}": told for name, told in policy_scenarios.SETTINGS.items()},
        **description_scenarios.SETTINGS,
        **idle_scenarios.OWN_SETTINGS,
        **corner_scenarios.OWN_SETTINGS,
        **dead_letter_scenarios.SETTINGS,
        **share_state_scenarios.OWN_SETTINGS,
        **share_limit_scenarios.OWN_SETTINGS,
        **group_log_scenarios.OWN_SETTINGS,
        **member_log_scenarios.OWN_SETTINGS,
    },
    "authorizer",
)

PREVIEW_KIND = KIND._replace(
    recordings=Recordings(Path(__file__).parent / "recorded", "-consumer.json.gz"),
    scenarios=lambda release: PREVIEWED,
    settings=preview_settings,
    own_settings={},
)
"""Releases 3.7 to 3.9 with consumer groups, which another coordinator serves."""
