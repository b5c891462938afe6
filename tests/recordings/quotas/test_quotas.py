"""Throttle times of clients are close to those of real brokers."""

import pytest

from tests.recordings.comparing import recorded_pairs
from tests.recordings.quotas.recording import KIND, played

NEAR_MS, FAR_MS = 60, 2_500
"""Tolerance: first requests have an exact time; on a busy real broker, later ones came late."""


@pytest.mark.parametrize(("release", "name"), recorded_pairs(KIND))
def test_clients_wait_as_long_as_at_the_real_broker(release: str, name: str) -> None:
    shim = KIND.shim(release, KIND.mode, KIND.settings_of(release, name))
    recorded, found = KIND.recordings.steps(release, name), played(name, shim)
    within = NEAR_MS if name == "precedence" else FAR_MS
    assert [(label, code) for label, (code, _) in found] == [
        (label, code) for label, (code, _) in recorded
    ]
    for (label, (_, ours)), (_, (_, real)) in zip(found, recorded, strict=True):
        assert bool(ours) == bool(real), label
        assert abs((ours or 0) - (real or 0)) <= within, label
