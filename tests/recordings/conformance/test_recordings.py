"""The shim's responses equal the recorded ones of real brokers; needs no Java and no sockets."""

from collections import Counter

import pytest

from kafka_shim.protocol.api_versions import RELEASES, parse_minor_release, served_versions
from tests.recordings.conformance.generate import TEMPLATES
from tests.recordings.conformance.play import API_OF
from tests.recordings.conformance.remaining import differences, known
from tests.recordings.conformance.scenario import load, recordings, scenario_count
from tests.support.generated_files import outdated

SHOWN = 5
ENOUGH = 20


@pytest.mark.parametrize("name", recordings())
def test_responses_equal_those_of_the_real_broker(name: str) -> None:
    """Exceptions are listed in tests/golden/remaining_differences.txt, which may only shrink."""
    counts, told, played = differences(name)
    assert played > 0
    first = "\n".join([*told[:SHOWN], outdated("tests/golden/remaining_differences.txt")])
    assert counts == known()[name], f"{sum(counts.values())} of {played} differ, first:\n{first}"


def test_every_release_was_recorded_with_enough_scenarios() -> None:
    counts: Counter[str] = Counter()
    for name in recordings():
        if "-" not in name:
            counts[parse_minor_release(name)] += scenario_count(name)
    assert [release for release in RELEASES if counts[release] < ENOUGH] == []


@pytest.mark.parametrize("name", [name for name in recordings() if "-" not in name])
def test_a_recording_has_every_api_and_version_of_its_release(name: str) -> None:
    asked = {(API_OF[step.api], step.version) for scenario in load(name) for step in scenario.steps}
    versions = served_versions(parse_minor_release(name))
    pairs = {(key, v) for key in TEMPLATES & versions.keys() for v in _range(versions[key])}
    assert not pairs - asked


def _range(versions: tuple[int, int]) -> range:
    return range(versions[0], versions[1] + 1)
