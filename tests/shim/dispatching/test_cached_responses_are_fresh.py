"""Each cached response equals a new one."""

from collections import deque
from collections.abc import Iterator

import pytest

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.state_change import StateVersion
from tests.recordings.conformance import generate
from tests.recordings.conformance.play import play
from tests.recordings.conformance.scripts import script
from tests.recordings.kinds import KINDS
from tests.recordings.peers.in_process import InProcess
from tests.shim.dispatching.repeated_requests import CheckedResponses, asked_again

RELEASES = ("0.11.0.3", "2.8.2", "3.9.1", "4.4.0")
SCRIPTS = 8
SCENARIOS = 3
EVERY = 10
"""Every n-th recorded scenario is played: many of them contain the same kinds of changes."""
UNREPEATABLE = "corner-offsets_topic"
"""It deletes the topic of groups, which a repeated FindCoordinator would create again."""


def checked(peer: InProcess) -> CheckedResponses:
    dispatcher = peer.stage.dispatcher
    dispatcher.response_cache = responses = CheckedResponses(dispatcher.cluster)
    asked_again(dispatcher)
    return responses


@pytest.mark.parametrize("release", RELEASES)
def test_cached_responses_are_fresh_in_random_scripts(release: str) -> None:
    responses = checked(peer := InProcess(release, "authorizer"))
    for seed in range(SCRIPTS):
        play(script(release, seed), peer)
    for seed in range(SCENARIOS):
        play(generate.scenario(release, seed), peer)
    assert responses.checked > 300


def recorded() -> Iterator[tuple[str, str, str]]:
    for kind in ("records", "groups"):
        for release in ("2.8.2", "4.4.0"):
            names = [name for name in KINDS[kind].scenarios(release) if name != UNREPEATABLE]
            yield from ((kind, release, name) for name in names)


def test_cached_responses_are_fresh_in_recorded_scenarios() -> None:
    found = 0
    for kind_name, release, scenario in list(recorded())[::EVERY]:
        kind = KINDS[kind_name]
        peer = kind.shim(release, kind.mode, kind.settings_of(release, scenario))
        responses = checked(peer)
        kind.play(scenario, peer)
        found += responses.checked
    assert found > 300


@pytest.mark.parametrize("release", ["2.8.2", "4.4.0"])
def test_these_tests_detect_a_change_that_does_not_end_caching(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StateVersion, "number", property(lambda _: 0, lambda *_: None))
    monkeypatch.setattr(ManualClock, "fired", property(lambda _: 0, lambda *_: None), raising=False)
    checked(peer := InProcess(release, "authorizer"))
    scripts = (script(release, seed) for seed in range(SCRIPTS))
    with pytest.raises(AssertionError):
        deque((play(scenario, peer) for scenario in scripts), maxlen=0)
