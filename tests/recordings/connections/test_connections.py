"""Limits of connections are those of real brokers, release by release."""

import pytest

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.network.connection_quotas import ConnectionQuotas
from kafka_shim.shim.state.cluster import Cluster
from tests.recordings.connections import recording
from tests.recordings.connections.recording import ANSWERED, CLOSED, LEFT, WAITS
from tests.recordings.connections.scenarios import (
    PLAIN,
    SCENARIOS,
    Leave,
    Limit,
    Look,
    Open,
    Step,
    Use,
)
from tests.recordings.store import Steps
from tests.shim.wire import PLAIN as PLAIN_LISTENER, SASL as SASL_LISTENER

PAIRS = [
    (release, name)
    for release in recording.KIND.recordings.releases()
    for name in recording.KIND.recordings.names(release)
]
_NODE = 1
_ITSELF = "127.0.0.1"
_STEP_MS = 10


class _Client:
    """A connection to the shim's quotas; a disconnect is noticed only while it is served."""

    def __init__(self, listener: str, host: str) -> None:
        self.node_id = _NODE
        self.listener_name = listener
        self.host = host
        self.last_used_ms = 0
        self.is_served = False
        self.state = WAITS

    def on_admitted(self) -> None:
        self.is_served = True
        if self.state == WAITS:
            self.state = ANSWERED

    def close(self, reason: str) -> None:
        assert reason
        if self.state != LEFT:
            self.state = CLOSED


class _Stage:
    """The quotas of a broker, and its clients."""

    def __init__(self, release: str, name: str) -> None:
        self._clock = ManualClock()
        config = Config(
            listeners=(PLAIN_LISTENER, SASL_LISTENER),
            release=parse_minor_release(release),
            properties=SCENARIOS[name].settings,
        )
        self._cluster = Cluster(config, self._clock)
        self._quotas = ConnectionQuotas(self._cluster)
        self._clients: list[_Client] = []
        self.steps: Steps = []
        if release.startswith("2."):  # the broker's controller connects to itself
            self._quotas.admit(_Client(PLAIN, _ITSELF))
        self._clock.advance(recording.QUIET_S * 1000)
        self._began_ms = self._clock.now_ms()

    def take(self, step: Step) -> None:
        match step:
            case Open():
                for _ in range(step.times):
                    client = _Client(step.listener, step.host)
                    client.last_used_ms = self._clock.now_ms()
                    self._clients.append(client)
                    self._quotas.admit(client)
            case Use():
                self._clients[step.number].last_used_ms = self._clock.now_ms()
            case Leave():
                self._clients[step.number].state = LEFT
            case Limit():
                limits = {"connection_creation_rate": step.per_second}
                self._cluster.quotas.alter_limits([({"ip": step.host}, limits)])
            case Look():
                self._look(step.at_ms)
        self._notice()

    def _look(self, at_ms: int) -> None:
        while self._clock.now_ms() < self._began_ms + at_ms:
            self._clock.advance(_STEP_MS)
            self._notice()
        self.steps.append((f"at {at_ms}", [client.state for client in self._clients]))

    def _notice(self) -> None:
        """Notice disconnects of the connections that are served."""
        for client in self._clients:
            if client.is_served and client.state in (LEFT, CLOSED):
                client.is_served = False
                self._quotas.remove(client)


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_connections_end_as_on_the_real_broker(release: str, name: str) -> None:
    stage = _Stage(release, name)
    for step in SCENARIOS[name].steps:
        stage.take(step)
    assert stage.steps == recording.KIND.recordings.steps(release, name)


def test_releases_of_both_kinds_were_recorded() -> None:
    assert {"2.8.2", "4.3.1"} <= set(recording.KIND.recordings.releases())
    assert len(PAIRS) >= 2 * len(SCENARIOS)
