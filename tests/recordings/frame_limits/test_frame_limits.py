"""Frames with very many tagged fields or elements are accepted or close, as on real brokers."""

from typing import NamedTuple

import pytest

from kafka_shim.testing.broker_start import start
from tests.recordings.frame_limits.recording import CLOSED, KIND, RESPONDED, played

RELEASES = KIND.recordings.releases()


class Peer(NamedTuple):
    """The shim as the peer of a recording."""

    plain: str


def test_recordings_have_both_outcomes() -> None:
    outcomes = {
        outcome
        for release in RELEASES
        for name in KIND.recordings.names(release)
        for _, outcome in KIND.recordings.steps(release, name)
    }
    assert outcomes == {CLOSED, RESPONDED}


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_limits_are_those_of_the_release(release: str) -> None:
    names = KIND.recordings.names(release)
    with start(in_process=True, kafka_version=release) as broker:
        peer = Peer(broker.bootstrap_servers)
        found = {name: played(name, peer) for name in names}
    assert found == {name: KIND.recordings.steps(release, name) for name in names}
