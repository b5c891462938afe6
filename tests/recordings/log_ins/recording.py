"""Records the responses of brokers to valid and unusual log-ins."""

import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, Protocol

from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.message_frames import read_response_with_version
from tests.recordings.log_ins.scenarios import SCENARIOS, Ask, Raw, Scenario
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps
from tests.support.commands import split
from tests.support.frames import request_frame, sized

CLOSED: Final = "closed"
SILENT: Final = "silent"
PATIENCE_S: Final = 3
RENEWALS_SINCE: Final = 1
"""The first version of SaslAuthenticate whose sessions may have a lifetime (KIP-368)."""
SESSIONS: Final = {
    "connections.max.reauth.ms": "60000",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
}


class Broker(Protocol):
    """The addresses of a broker, `host:port`."""

    plain: str
    sasl: str


class _Client:
    def __init__(self, address: str) -> None:
        self._socket = socket.create_connection(split(address), PATIENCE_S)
        self._correlation_id = 0

    def take(self, step: Ask | Raw) -> Any:
        """Return the recorded part of the response."""
        try:
            if isinstance(step, Raw):
                self._send(step.payload)
                return f"{len(self._frame())} bytes"
            self._correlation_id += 1
            form = step.version if step.form is None else step.form
            payload = request_frame(step.api, form, step.request, self._correlation_id, "tests")
            self._send(payload[:2] + step.version.to_bytes(2, "big") + payload[4:])
            return _kept(step.api, _read(step.api, form, self._frame()))
        except ConnectionError:
            return CLOSED
        except TimeoutError:
            return SILENT

    def close(self) -> None:
        self._socket.close()

    def _send(self, payload: bytes) -> None:
        self._socket.sendall(sized(payload))

    def _frame(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def _exactly(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise ConnectionError
            parts += part
        return parts


def _read(api: ApiKey, version: int, frame: bytes) -> Any:
    """Decode a response; that to ApiVersions may have version 0 instead of the requested one."""
    try:
        return read_response_with_version(api, version, frame)[0]
    except DecodeError:
        return read_response_with_version(api, 0, frame)[0]


def _kept(api: ApiKey, response: Any) -> Any:
    match api:
        case ApiKey.METADATA:
            return "answered"
        case ApiKey.API_VERSIONS:
            keys = [[row.api_key, row.min_version, row.max_version] for row in response.api_keys]
            return [response.error_code, len(keys) if len(keys) > 1 else keys]
        case ApiKey.SASL_HANDSHAKE:
            return [response.error_code, response.mechanisms]
        case ApiKey.SASL_AUTHENTICATE:
            return [response.error_code, bool(response.error_message), len(response.auth_bytes)]
        case _:
            return response.error_code


def scenarios(release: str) -> list[str]:
    """Return the scenarios whose requests a release supports."""
    ranges = served_versions(parse_minor_release(release))
    return [name for name, scenario in SCENARIOS.items() if _is_known(scenario, ranges)]


def _is_known(scenario: Scenario, ranges: Any) -> bool:
    if scenario.renews and ranges.get(ApiKey.SASL_AUTHENTICATE, (0, -1))[1] < RENEWALS_SINCE:
        return False
    return all(step.api in ranges for step in scenario.steps if isinstance(step, Ask))


def played(name: str, broker: Broker) -> Steps:
    """Return the responses on one connection, up to its end."""
    scenario = SCENARIOS[name]
    client = _Client(broker.sasl if scenario.is_sasl else broker.plain)
    steps: Steps = []
    try:
        for at, step in enumerate(scenario.steps):
            steps.append((str(at), client.take(step)))
            if steps[-1][1] in (CLOSED, SILENT):
                break
    finally:
        client.close()
    return steps


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    scenarios,
    played,
    settings=lambda release: {"connection.failed.authentication.delay.ms": "0"},
    own_settings={name: SESSIONS for name, scenario in SCENARIOS.items() if scenario.renews},
    connect=nullcontext,
)
