"""Requests at the limits of brokers get the responses of real brokers, release by release."""

import pytest

from tests.recordings.comparing import differing, recorded_pairs
from tests.recordings.limits import record_scenarios
from tests.recordings.limits.recording import KIND

PAIRS = recorded_pairs(KIND)
LARGE = ("controller-client_quotas", "controller-scram_credentials")
"""Scenarios with ten thousand rows; the newest release plays them also in a test below."""
UNLIKE = {*record_scenarios.OWN_SETTINGS, "controller-large_acls"}
"""Scenarios whose requests exceed the size of a coordinator's batch or of the metadata log's, which
the shim does not limit (docs/explanation/differences.md).
"""


@pytest.mark.parametrize(
    ("release", "name"),
    [pytest.param(*pair, marks=[pytest.mark.slow] if pair[1] in LARGE else []) for pair in PAIRS],
)
def test_responses_equal_those_of_the_real_broker(release: str, name: str) -> None:
    found = differing(KIND, release, name)
    if name not in UNLIKE:
        assert not found, found[:3]


@pytest.mark.parametrize("name", LARGE)
def test_ten_thousand_changes_are_the_limit(name: str) -> None:
    assert not differing(KIND, "4.4.0", name)


@pytest.mark.parametrize("release", ["2.8.2", "4.4.0"])
def test_batches_of_coordinators_are_not_limited(release: str) -> None:
    found = differing(KIND, release, "record-batches")
    assert found[0][0] == "commit: 2 offsets"


def test_batches_of_the_metadata_log_are_not_limited() -> None:
    found = differing(KIND, "4.4.0", "controller-large_acls")
    assert found[0] == ("300", {"real": {"-1": 300}, "ours": {"0": 300}})
