"""Groups as real brokers were seen to answer for them, release by release."""

import pytest

from tests.shim.group_answers import recording
from tests.shim.group_answers.peers import InProcess

CASES = [
    pytest.param(release, name, id=f"{release}-{name}")
    for release in recording.releases()
    for name in recording.SCENARIOS
]


@pytest.mark.parametrize(("release", "name"), CASES)
def test_the_same_answers_as_the_real_broker(release: str, name: str) -> None:
    expected = [tuple(step) for step in recording.load(release).get(name, [])]
    answers = recording.played(name, InProcess(release))
    assert [label for label, _ in answers] == [label for label, _ in expected]
    differing = [
        (label, {"real": real, "ours": ours})
        for (label, ours), (_, real) in zip(answers, expected, strict=True)
        if ours != real
    ]
    assert not differing


def test_every_recording_has_every_scenario() -> None:
    assert recording.releases()
    for release in recording.releases():
        assert set(recording.load(release)) == set(recording.SCENARIOS)
