"""Groups as real brokers were seen to answer for them, release by release."""

import pytest

from tests.shim.group_answers import recording
from tests.shim.group_answers.peers import InProcess

UNLIKE: dict[tuple[str, str], str] = {
    ("0.11.0.3", "joining-no_protocols"): "a JoinGroup without protocols never gets an answer",
    **{
        (release, "static-protocol_changes"): "DescribeGroups fails where a member that came back "
        "does not speak the selected protocol"
        for release in ("2.3.1", "2.4.1", "2.5.1")
    },
}
"""Release and scenario -> what a real broker does that the shim does not."""

CASES = [
    pytest.param(release, name, id=f"{release}-{name}")
    for release in recording.releases()
    for name in recording.SCENARIOS
]


def differing(release: str, name: str) -> list[object]:
    expected = [tuple(step) for step in recording.load(release)[name]]
    answers = recording.played(name, InProcess(release))
    assert [label for label, _ in answers] == [label for label, _ in expected]
    return [
        (label, {"real": real, "ours": ours})
        for (label, ours), (_, real) in zip(answers, expected, strict=True)
        if ours != real
    ]


@pytest.mark.parametrize(("release", "name"), CASES)
def test_the_same_answers_as_the_real_broker(release: str, name: str) -> None:
    found = differing(release, name)
    assert bool(found) == ((release, name) in UNLIKE), found


def test_every_recording_has_every_scenario() -> None:
    assert recording.releases()
    for release in recording.releases():
        assert set(recording.load(release)) == set(recording.SCENARIOS)
