"""Records the throttle times of real brokers for clients with quotas."""

import itertools
from collections.abc import Mapping
from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import Peer, versions
from tests.recordings.quotas.play import Play
from tests.recordings.quotas.scenarios import FORGOTTEN_MS, NEEDS, SCENARIOS
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps

TICK_US = 100


def scenarios(release: str) -> list[str]:
    """Return the scenarios whose requests a release supports."""
    if not versions(release, ApiKey.ALTER_CLIENT_QUOTAS):
        return []
    return [
        name
        for name in SCENARIOS
        if name not in NEEDS or NEEDS[name][1] in versions(release, NEEDS[name][0])
    ]


def played(name: str, peer: Peer) -> Steps:
    """Return the error codes and throttle times in the responses."""
    play = Play(name, peer)
    try:
        SCENARIOS[name](play)
    finally:
        play.end()
        peer.pause(FORGOTTEN_MS)
    return play.steps


class Working(InProcess):
    """The shim with requests that take time: each look at the clock advances it a little."""

    def __init__(self, release: str, mode: str, settings: Mapping[str, str]) -> None:
        super().__init__(release, mode, settings)
        clock, ticks = self.stage.clock, itertools.count(step=TICK_US)
        now_us = clock.now_us
        vars(clock)["now_us"] = lambda: now_us() + next(ticks)


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"), scenarios, played, shim=Working
)
