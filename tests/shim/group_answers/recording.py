"""All group scenarios by name, and the recordings of real brokers: one file a release."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tests.shim.group_answers import (
    admin_scenarios,
    consumer_scenarios,
    joining_scenarios,
    offset_scenarios,
    share_scenarios,
    sharing_scenarios,
    static_scenarios,
    streams_scenarios,
)
from tests.shim.group_answers.modern_play import ModernPlay
from tests.shim.group_answers.peers import Peer

FOLDER = Path(__file__).parent / "recorded"
Steps = list[tuple[str, Any]]

SCENARIOS: dict[str, Callable[[Any], None]] = {
    f"{area.__name__.rpartition('.')[2].removesuffix('_scenarios')}-{scenario.__name__}": scenario
    for area in (
        joining_scenarios,
        static_scenarios,
        offset_scenarios,
        admin_scenarios,
        consumer_scenarios,
        share_scenarios,
        sharing_scenarios,
        streams_scenarios,
    )
    for scenario in area.SCENARIOS
}


def played(name: str, peer: Peer) -> Steps:
    """The answers of a broker to a scenario."""
    play = ModernPlay(name, peer)
    SCENARIOS[name](play)
    return play.steps


def releases() -> list[str]:
    """The releases that were recorded: `4.3.1`."""
    return sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def load(release: str) -> dict[str, Steps]:
    path = FOLDER / f"{release}.json.gz"
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=dict[str, Steps])


def save(release: str, answers: dict[str, Steps]) -> None:
    """The same answers give the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(answers), indent=0)
    (FOLDER / f"{release}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
