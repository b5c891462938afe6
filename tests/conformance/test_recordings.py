"""Real brokers' answers, played against the shim in this process: no Java, no sockets."""

import zlib
from typing import Any

import pytest

from protocol.enums import ApiKey
from shim.dispatch import Pending
from shim.errors import CloseConnection
from tests.conformance import player, scenario
from tests.shim.play import ADMIN, Stage

PARTS = 4
"""Each recording is played in this many tests, so that they share the processors."""


class InProcess:
    """The shim as a peer; `admin` is its super user."""

    def __init__(self, name: str) -> None:
        release, _, mode = name.partition("-")
        self.stage = Stage(
            release,
            authorizer="none" if mode == "none" else "standard",
            allow_everyone_if_no_acl_found=mode == "open",
        )

    def newest(self, api: ApiKey) -> int:
        return self.stage.cluster.apis.advertised[api][1]

    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any:
        principal = ADMIN if user == player.ADMIN else f"User:{user}"
        try:
            answer = self.stage.ask(api, version, request, principal)
            if isinstance(answer, Pending):
                self.stage.clock.advance(60_000)
                answer = self.stage.outcome(api, version, answer)
        except CloseConnection:
            return None
        return answer


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", scenario.recordings())
def test_the_shim_answers_as_the_real_broker_did(name: str, part: int) -> None:
    peer = InProcess(name)
    played = 0
    different = []
    for one in scenario.load(name):
        if zlib.crc32(one.prefix.encode()) % PARTS != part:
            continue
        for step, got in zip(one.steps, player.play(one, peer), strict=True):
            played += 1
            if got != step.answer:
                different.append((one.prefix, step.user, step.api, step.version, step.answer, got))
    assert played > 0
    assert not different, f"{len(different)} of {played} answers differ, first: {different[0]}"


def test_recordings_of_every_era_are_there() -> None:
    assert {"0.11.0.3", "1.1.1", "2.7.2", "2.8.2", "3.9.1", "4.3.1"} <= set(scenario.recordings())
