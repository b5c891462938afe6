"""How long real brokers have clients with quotas wait."""

from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.peers.peer import Peer, versions
from tests.recordings.quotas.play import Play
from tests.recordings.quotas.scenarios import FORGOTTEN_MS, NEEDS, SCENARIOS
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps


def scenarios(release: str) -> list[str]:
    """Return the names of those whose requests a release has."""
    if not versions(release, ApiKey.ALTER_CLIENT_QUOTAS):
        return []
    return [
        name
        for name in SCENARIOS
        if name not in NEEDS or NEEDS[name][1] in versions(release, NEEDS[name][0])
    ]


def played(name: str, peer: Peer) -> Steps:
    """Return the codes and times that clients were told."""
    play = Play(name, peer)
    try:
        SCENARIOS[name](play)
    finally:
        play.end()
        peer.pause(FORGOTTEN_MS)
    return play.steps


KIND = Kind(Recordings(Path(__file__).parent / "recorded", ".json"), scenarios, played)
