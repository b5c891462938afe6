"""Real brokers' answers about records and transactions, release by release."""

from typing import Any

import pytest

from tests.shim.answers import recording
from tests.shim.answers.in_process import InProcess
from tests.shim.answers.peers import NO_ANSWER
from tests.shim.answers.play import Play


@pytest.mark.parametrize("release", recording.releases())
def test_the_shim_answers_as_the_real_broker_did(release: str) -> None:
    recorded = recording.load(release)
    compared, different = 0, []
    for name, wanted in recorded.items():
        got = played(name, release)
        assert [label for label, _ in got] == [label for label, _ in wanted], name
        for (label, answer), (_, ours) in zip(wanted, got, strict=True):
            compared += 1
            if answer not in (ours, NO_ANSWER):
                different.append((name, label, answer, ours))
    assert compared > 100
    assert not different, f"{len(different)} of {compared} differ, first: {different[0]}"


def test_every_scenario_was_recorded_on_every_release() -> None:
    for release in recording.releases():
        assert recording.load(release).keys() == recording.SCENARIOS.keys(), release


def played(name: str, release: str) -> list[tuple[str, Any]]:
    peer = InProcess(release)
    play = Play(name, peer, peer.stage.clock.now_ms)
    recording.SCENARIOS[name](play)
    return play.steps
