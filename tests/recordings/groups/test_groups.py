"""Groups as real brokers were seen to answer for them, release by release."""

import pytest

from tests.recordings.comparing import differences
from tests.recordings.groups import recording
from tests.recordings.peers.in_process import InProcess
from tests.recordings.remaining import listed

UNLIKE: dict[tuple[str, str], str] = {
    ("0.11.0.3", "joining-no_protocols"): "a JoinGroup without protocols never gets an answer",
    **{
        (release, "static-protocol_changes"): "DescribeGroups fails where a member that came back "
        "does not speak the selected protocol"
        for release in ("2.3.1", "2.4.1", "2.5.1")
    },
}
"""Release and scenario -> what a real broker does that the shim does not."""

PAIRS = [
    (release, name)
    for release in recording.KIND.recordings.releases()
    for name in recording.KIND.recordings.names(release)
    if name in recording.SCENARIOS
]


def differing(release: str, name: str) -> list[object]:
    """Steps with other answers; all of them where the recording has other steps."""
    settings = recording.KIND.settings_of(release, name)
    answers = recording.played(name, InProcess(release, recording.KIND.mode, settings))
    return differences(recording.KIND.recordings.steps(release, name), answers)


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_the_same_answers_as_the_real_broker(release: str, name: str) -> None:
    found = differing(release, name)
    known = UNLIKE.keys() | listed("groups")
    assert bool(found) == ((release, name) in known), found


def test_recordings_reach_from_the_oldest_release_to_the_newest() -> None:
    assert {"0.11.0.3", "2.8.2", "3.9.1", "4.3.1"} <= set(recording.KIND.recordings.releases())
    assert len(PAIRS) > 200
