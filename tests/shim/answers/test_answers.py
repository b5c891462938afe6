"""Real brokers' answers about records and transactions, release by release."""

from typing import Any

import pytest

from tests.shim.answers import recording
from tests.shim.answers.in_process import InProcess
from tests.shim.answers.peers import NO_ANSWER
from tests.shim.answers.play import Play
from tests.shim.remaining import listed

PAIRS = [
    (release, name)
    for release in recording.releases()
    for name in recording.load(release)
    if name in recording.SCENARIOS
]


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_the_shim_answers_as_the_real_broker_did(release: str, name: str) -> None:
    found = differing(release, name)
    assert bool(found) == ((release, name) in listed("records")), found[:3]


def test_recordings_reach_from_the_oldest_release_to_the_newest() -> None:
    assert {"0.11.0.3", "2.8.2", "3.9.1", "4.3.1"} <= set(recording.releases())
    assert len(PAIRS) > 200


def differing(release: str, name: str) -> list[Any]:
    """Steps with other answers; all of them where the recording has other steps."""
    wanted = recording.load(release)[name]
    got = played(name, release)
    if [label for label, _ in got] != [label for label, _ in wanted]:
        return ["the recording has other steps", *got]
    return [
        (label, answer, ours)
        for (label, answer), (_, ours) in zip(wanted, got, strict=True)
        if answer not in (ours, NO_ANSWER)
    ]


def played(name: str, release: str) -> list[tuple[str, Any]]:
    peer = InProcess(release)
    play = Play(name, peer, peer.stage.clock.now_ms)
    recording.SCENARIOS[name](play)
    return play.steps
