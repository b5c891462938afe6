"""Responses of real brokers about records and transactions, release by release."""

import pytest

from tests.recordings.comparing import differing, recorded_pairs
from tests.recordings.records.recording import KIND
from tests.recordings.remaining import listed
from tests.support.generated_files import outdated

PAIRS = recorded_pairs(KIND)


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_responses_equal_those_of_the_real_broker(release: str, name: str) -> None:
    found = differing(KIND, release, name)
    assert bool(found) == ((release, name) in listed("records")), (
        *found[:3],
        outdated("tests/golden/remaining_scenarios.txt"),
    )


def test_recordings_reach_from_the_oldest_release_to_the_newest() -> None:
    assert {"0.11.0.3", "2.8.2", "3.9.1", "4.3.1"} <= set(KIND.recordings.releases())
    assert len(PAIRS) > 200
