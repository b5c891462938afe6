"""Real brokers' answers about records and transactions, release by release."""

from typing import Any

import pytest

from tests.recordings.comparing import differences
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import UNREADABLE
from tests.recordings.records import recording
from tests.recordings.remaining import listed
from tests.recordings.store import Steps

PAIRS = [
    (release, name)
    for release in recording.KIND.recordings.releases()
    for name in recording.KIND.recordings.names(release)
    if name in recording.SCENARIOS
]


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_the_shim_answers_as_the_real_broker_did(release: str, name: str) -> None:
    found = differing(release, name)
    assert bool(found) == ((release, name) in listed("records")), found[:3]


def test_recordings_reach_from_the_oldest_release_to_the_newest() -> None:
    assert {"0.11.0.3", "2.8.2", "3.9.1", "4.3.1"} <= set(recording.KIND.recordings.releases())
    assert len(PAIRS) > 200


def differing(release: str, name: str) -> list[Any]:
    """Steps with other answers; all of them where the recording has other steps."""
    recorded = recording.KIND.recordings.steps(release, name)
    return differences(recorded, played(name, release), unread=(UNREADABLE,))


def played(name: str, release: str) -> Steps:
    return recording.played(
        name, InProcess(release, recording.KIND.mode, recording.KIND.settings_of(release, name))
    )
