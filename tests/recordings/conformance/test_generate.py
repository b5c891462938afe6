"""Scenarios and scripts from seeds are repeatable, complete and encodable."""

import msgspec
import pytest

from kafka_shim.protocol.api_versions import RELEASES, TELEMETRY, served_versions
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from tests.recordings.conformance import generate
from tests.recordings.conformance.draw import Draw
from tests.recordings.conformance.interleaving import ALWAYS, TIMED, interleaved
from tests.recordings.conformance.play import API_OF
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.conformance.scripts import STORIES, script
from tests.recordings.conformance.telling import Teller

SEEDS = range(1, 25)


def pairs(scenarios: list[Scenario]) -> set[tuple[object, int]]:
    return {(API_OF[step.api], step.version) for scenario in scenarios for step in scenario.steps}


def test_every_api_that_needs_no_plugin_has_requests() -> None:
    known = {key for release in RELEASES for key in served_versions(release)}
    assert known - generate.TEMPLATES.keys() == TELEMETRY


@pytest.mark.parametrize("release", ["0.11", "2.8", "4.3"])
def test_consecutive_seeds_have_every_api_in_every_version(release: str) -> None:
    wanted = set(generate.pairs_of(Draw(release, 1)))
    assert wanted
    assert not wanted - pairs([generate.scenario(release, seed) for seed in SEEDS])


@pytest.mark.parametrize("release", RELEASES)
def test_seeds_are_repeatable_and_all_requests_can_be_encoded(release: str) -> None:
    for make in (generate.scenario, script, interleaved):
        for seed in (3, 4):
            scenario = make(release, seed)
            assert msgspec.json.encode(scenario) == msgspec.json.encode(make(release, seed))
            assert all(can_be_written(step) for step in scenario.steps)
        assert make(release, 3).steps != make(release, 4).steps


def can_be_written(step: Step) -> bool:
    name = f"{step.api}Request"
    return generate.is_writable(
        msgspec.convert(step.request, message_classes_by_name(name)[name]), step.version
    )


def test_names_of_a_scenario_begin_with_its_prefix() -> None:
    scenario = generate.scenario("4.3", 5)
    for name in [*scenario.topics, *scenario.groups]:
        assert name.startswith("s5")


@pytest.mark.parametrize("story", STORIES | ALWAYS | TIMED, ids=lambda story: story.__name__)
def test_a_story_uses_only_its_earlier_steps(story: object) -> None:
    for seed in range(5):
        told = list(story(Teller(Draw("4.3", seed), "alice", 1)))  # type: ignore[operator]
        assert len(told) > 3
        labels: set[str] = set()
        for move in told:
            assert {source.partition(":")[0] for source in move.takes.values()} <= labels
            labels.add(move.label)
