"""The shim accepts the same values of settings as real brokers."""

from typing import Any

import pytest

from tests.recordings.comparing import recorded_pairs
from tests.recordings.settings.recording import KIND

PAIRS = recorded_pairs(KIND)


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_the_same_values_are_accepted_as_by_the_real_broker(release: str, name: str) -> None:
    shim = KIND.shim(release, KIND.mode, KIND.settings_of(release, name))
    recorded, played = KIND.recordings.steps(release, name), KIND.play(name, shim)
    assert _cells(played) == _cells(recorded)


def _cells(steps: list[tuple[str, Any]]) -> set[tuple[str, str, str]]:
    return {
        (setting, change, code)
        for setting, codes in steps
        for code, changes in codes.items()
        for change in changes
    }


def test_a_matrix_has_every_setting_of_four_releases() -> None:
    assert KIND.recordings.releases() == ["2.8.2", "3.9.1", "4.3.1", "4.4.0"]
    cells = sum(len(_cells(KIND.recordings.steps(*pair))) for pair in PAIRS)
    assert cells > 35_000
