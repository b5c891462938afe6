"""How a test reaches its broker: what every way offers, and the way over HTTP."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from http.client import HTTPConnection

TIMEOUT_S = 30
_OK = 200


class BrokerError(Exception):
    """The broker rejected a call, or does not answer; the text says why."""


class Transport(Protocol):
    """A running broker. `listeners` are lists of `host:port` by name; `folder` is its own."""

    listeners: dict[str, list[str]]
    control_url: str | None
    folder: Path

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        """Call the control API. Raise BrokerError if it rejects the call, or the broker has
        stopped.
        """

    def stop(self) -> None:
        """Stop the broker and wait for its end; a second time does nothing."""


class HttpControl:
    """Calls the control API over one persistent connection, from any thread.

    Modules are imported at the first call, so that the first test of a session begins earlier.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self._address = address
        self._connection: HTTPConnection | None = None
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._lock = threading.Lock()
        self.url = f"http://{address}"

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        if query:
            from urllib.parse import urlencode  # noqa: PLC0415 - see the class's docstring

            path = f"{path}?{urlencode(query)}"
        payload = None if body is None else json.dumps(body).encode()
        with self._lock:
            status, content_type, content = self._send(method, path, payload)
        response = json.loads(content) if content_type == "application/json" else content.decode()
        if status != _OK:
            raise BrokerError(response["error"] if isinstance(response, dict) else str(response))
        return response

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _send(self, method: str, target: str, payload: bytes | None) -> tuple[int, str, bytes]:
        """Send a call; retry if the persistent connection was closed meanwhile."""
        from http.client import (  # noqa: PLC0415 - see the class's docstring
            HTTPConnection,
            HTTPException,
            RemoteDisconnected,
        )

        if self._connection is None:
            host, _, port = self._address.rpartition(":")
            self._connection = HTTPConnection(host.strip("[]"), int(port), TIMEOUT_S)
        connection = self._connection
        was_open = connection.sock is not None
        try:
            return self._exchange(connection, method, target, payload)
        except (HTTPException, OSError) as error:
            connection.close()
            closed = (RemoteDisconnected, ConnectionResetError, BrokenPipeError)
            if not was_open or not isinstance(error, closed):
                raise BrokerError(f"the broker does not answer at {self.url}: {error}") from error
        try:
            return self._exchange(connection, method, target, payload)
        except (HTTPException, OSError) as error:
            connection.close()
            raise BrokerError(f"the broker does not answer at {self.url}: {error}") from error

    def _exchange(
        self, connection: "HTTPConnection", method: str, target: str, payload: bytes | None
    ) -> tuple[int, str, bytes]:
        connection.request(method, target, payload, self._headers)
        response = connection.getresponse()
        content_type = (response.getheader("content-type") or "").partition(";")[0]
        return response.status, content_type, response.read()
