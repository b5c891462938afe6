"""Records how real brokers limit connections, one file per release."""

import contextlib
import select
import socket
import time
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.oracle.real_kafka import RealKafka, numbers
from tests.recordings.connections.scenarios import (
    PLAIN,
    SASL,
    SCENARIOS,
    Leave,
    Limit,
    Look,
    Open,
    Step,
    Use,
)
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps
from tests.support.frames import request_frame, sized

ANSWERED, WAITS, CLOSED, LEFT = "answered", "waits", "closed", "left"
QUIET_S: Final = 12
"""Pause after which connections made to check that the broker runs count for no rate."""
_QUOTA_S: Final = 0.4
_RATES_SINCE: Final = (2, 7)


class _Client:
    """A connection that sends requests."""

    def __init__(self, address: str, host: str) -> None:
        to_host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((to_host, int(port)), 20, (host, 0))
        self._asked = 0
        self.state = WAITS
        self.ask()

    def ask(self) -> None:
        """Send ApiVersions first and SaslHandshake later, which need no log-in."""
        api = ApiKey.SASL_HANDSHAKE if self._asked else ApiKey.API_VERSIONS
        request = SaslHandshakeRequest("PLAIN") if self._asked else ApiVersionsRequest()
        self._asked += 1
        payload = request_frame(api, 0, request, self._asked, "tests")
        with contextlib.suppress(ConnectionError):  # the broker has closed it
            self._socket.sendall(sized(payload))

    def look(self) -> None:
        """Receive the responses that have arrived."""
        while self.state in (ANSWERED, WAITS) and select.select([self._socket], [], [], 0)[0]:
            try:
                self.state = ANSWERED if self._socket.recv(65536) else CLOSED
            except ConnectionError:
                self.state = CLOSED

    def leave(self) -> None:
        self._socket.close()
        self.state = LEFT


class _Stage:
    """The connections of one scenario."""

    def __init__(self, kafka: RealKafka) -> None:
        self._addresses = {PLAIN: kafka.plain, SASL: kafka.sasl}
        self._began_s: float | None = None
        self.clients: list[_Client] = []
        self.steps: Steps = []

    def take(self, step: Step) -> None:
        match step:
            case Open():
                if self._began_s is None:
                    self._began_s = time.monotonic()
                address = self._addresses[step.listener]
                self.clients += [_Client(address, step.host) for _ in range(step.times)]
            case Use():
                self.clients[step.number].ask()
            case Leave():
                self.clients[step.number].leave()
            case Limit():
                self._limit(step)
            case Look():
                self._look(step.at_ms)

    def _look(self, at_ms: int) -> None:
        assert self._began_s is not None
        time.sleep(max(0, self._began_s + at_ms / 1000 - time.monotonic()))
        for client in self.clients:
            client.look()
        self.steps.append((f"at {at_ms}", [client.state for client in self.clients]))

    def _limit(self, limit: Limit) -> None:
        value = limit.per_second or 0.0
        change = OpData("connection_creation_rate", value, limit.per_second is None)
        entry = RequestEntryData([RequestEntityData("ip", limit.host)], [change])
        with connect(self._addresses[PLAIN]) as admin:
            request = AlterClientQuotasRequest([entry])
            response = admin.send_request(ApiKey.ALTER_CLIENT_QUOTAS, request)
        assert response.entries[0].error_code == 0, response
        time.sleep(_QUOTA_S)


def played(name: str, kafka: RealKafka) -> Steps:
    """Return the states of all connections at every look."""
    time.sleep(QUIET_S)
    stage = _Stage(kafka)
    try:
        for step in SCENARIOS[name].steps:
            stage.take(step)
    finally:
        for client in stage.clients:
            client.leave()
    return stage.steps


def scenarios(release: str) -> Collection[str]:
    """Return the scenarios for a release; old releases have no connection rates."""
    has_rates = numbers(release) >= _RATES_SINCE
    return [name for name in SCENARIOS if has_rates or not name.startswith("rate")]


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    scenarios,
    played,
    own_settings={name: scenario.settings for name, scenario in SCENARIOS.items()},
    connect=nullcontext,
)
