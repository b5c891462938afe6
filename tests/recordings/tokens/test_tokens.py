"""Tokens with very long lifetimes expire as in the recordings of real brokers."""

import pytest

from tests.recordings.comparing import differing
from tests.recordings.tokens.recording import KIND

PAIRS = [
    (release, name)
    for release in KIND.recordings.releases()
    for name in KIND.recordings.written(release)
]


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_tokens_end_as_on_the_real_broker(release: str, name: str) -> None:
    assert differing(KIND, release, name) == []
