"""The same random frames each time, and those that failed before; `tests.fuzz` has more."""

from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.state.coordinators import Coordinators
from tests.fuzz.frames import Frames, stage_of
from tests.fuzz.judging import (
    FOUND,
    GROWN_BYTES_MAX,
    LONG_S,
    Failure,
    fuzz,
    judge,
    replay,
    session_of,
)
from tests.support.frames import request_frame

SPREAD = [RELEASES[0], "2.4", "2.8", "3.6", RELEASES[-1]]
BUSY = 40
"""Factor for the time of a request: other tests run at the same time, maybe with coverage."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", SPREAD)
def test_every_frame_is_answered_or_closes(release: str, tmp_path: Path) -> None:
    report = fuzz(f"test {release}", [release], 4000)
    for failure in report.failures:
        failure.save(tmp_path)
    assert [failure.why for failure in report.failures] == []
    assert report.frames == report.responded + report.closed == 4000
    assert min(report.responded, report.closed) > 1000
    assert report.grown_bytes is not None
    assert report.grown_bytes < GROWN_BYTES_MAX
    assert max((slow.seconds for slow in report.slow), default=0) < BUSY * LONG_S


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.frame")), ids=lambda path: path.stem)
def test_frames_that_failed_before_are_handled(path: Path) -> None:
    assert replay(path) == ""


def share_state_frame() -> bytes:
    topics = [MetadataRequestTopic(name="__share_group_state")]
    message = MetadataRequest(topics=topics, allow_auto_topic_creation=True)
    return request_frame(ApiKey.METADATA, 12, message, 7, "fuzz")


def test_a_failure_is_noticed_and_can_be_replayed_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Coordinators, "uses_broker_settings", lambda _, name: bool(name))
    stage = stage_of("3.9")
    frame = share_state_frame()
    outcome, why = judge(stage, frame, session_of("User:admin"))
    assert (outcome, "AssertionError" in why) == ("closed", True)
    path = Failure("3.9", "standard", "User:admin", frame, why).save(tmp_path)
    assert "AssertionError" in replay(path)
    monkeypatch.undo()
    assert replay(path) == ""


def test_a_seed_repeats_its_frames() -> None:
    advertised = stage_of("4.3").dispatcher.apis.advertised
    ids = [bytes(16)]

    def frames(seed: str) -> list[bytes]:
        made = Frames(seed, advertised)
        return [made.frame(number, ids) for number in range(50)]

    assert frames("a") == frames("a")
    assert frames("a") != frames("b")
