"""Groups behave as in the recordings of real brokers, release by release."""

import pytest

from tests.recordings.comparing import differing, recorded_pairs
from tests.recordings.groups.recording import KIND, PREVIEW_KIND
from tests.recordings.remaining import listed
from tests.support.generated_files import outdated

UNLIKE: dict[tuple[str, str], str] = {
    **{
        (release, "static-protocol_changes"): "DescribeGroups fails where a member that came back "
        "does not speak the selected protocol"
        for release in ("2.3.1", "2.4.1", "2.5.1")
    },
    **{
        (
            release,
            "share_state-idle",
        ): "no records of share groups are written, or deleted"
        for release in ("4.2.2", "4.3.1", "4.4.0")
    },
}
"""Behaviour of real brokers that the shim does not imitate, by release and scenario."""

PAIRS = recorded_pairs(KIND)


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_responses_equal_those_of_the_real_broker(release: str, name: str) -> None:
    found = differing(KIND, release, name)
    known = UNLIKE.keys() | listed("groups")
    assert bool(found) == ((release, name) in known), (
        *found[:3],
        outdated("tests/golden/remaining_scenarios.txt"),
    )


@pytest.mark.parametrize(("release", "name"), recorded_pairs(PREVIEW_KIND))
def test_previewed_consumer_groups_respond_like_the_real_broker(release: str, name: str) -> None:
    assert differing(PREVIEW_KIND, release, name)[:3] == []


def test_recordings_reach_from_the_oldest_release_to_the_newest() -> None:
    assert {"0.11.0.3", "2.8.2", "3.9.1", "4.3.1"} <= set(KIND.recordings.releases())
    assert len(PAIRS) > 200
