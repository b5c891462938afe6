"""Audit lines are worded as those of a real broker of the same release."""

import logging
import re
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.shim.observing.audit_log import LOGGER_NAME
from tests.cli.conftest import Running, start  # noqa: F401 -- a fixture
from tests.recordings.audit.recording import RELEASES, play, recorded

WAIT_S = 10
_AROUND = re.compile(r"^\[.*?\] [A-Z]+ | \(kafka\.authorizer\.logger\)$")


class Shim(NamedTuple):
    release: str
    plain: str
    sasl: str


def lines_of_alice(caplog: pytest.LogCaptureFixture) -> list[str]:
    texts = [record.getMessage() for record in caplog.records if record.name == LOGGER_NAME]
    return [text for text in texts if "User:alice" in text.partition(" is ")[0]]


@pytest.mark.parametrize("release", RELEASES)
def test_lines_are_worded_as_recorded(
    release: str,
    start: Callable[..., Running],  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    running = start(release=parse_minor_release(release))
    with caplog.at_level(logging.DEBUG, LOGGER_NAME):
        play(Shim(release, running.plaintext, running.sasl))
        lines = recorded(release)
        ends = time.monotonic() + WAIT_S
        while len(lines_of_alice(caplog)) < len(lines) and time.monotonic() < ends:
            time.sleep(0.01)  # a line follows the response
    for line, own in zip(lines, lines_of_alice(caplog), strict=True):
        assert _AROUND.sub("", line) in own
