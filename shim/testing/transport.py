"""How a test reaches its broker: what every way offers, and the way over HTTP."""

import http.client
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

TIMEOUT_S = 30


class BrokerError(Exception):
    """The broker refused what a test asked of it, or does not answer; the text says why."""


class Transport(Protocol):
    """A running broker. `listeners` are lists of `host:port` by name; `folder` is its own."""

    listeners: dict[str, list[str]]
    control_url: str | None
    folder: Path

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        """Ask the control API; BrokerError if it refuses, or the broker has stopped."""

    def stop(self) -> None:
        """Stop the broker and wait for its end; a second time does nothing."""


class HttpControl:
    """Calls of the control API over one connection that is kept, from any thread."""

    def __init__(self, address: str, token: str | None = None) -> None:
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPConnection(host.strip("[]"), int(port), TIMEOUT_S)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._lock = threading.Lock()
        self.url = f"http://{address}"

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        target = f"{path}?{urlencode(query)}" if query else path
        payload = None if body is None else json.dumps(body).encode()
        with self._lock:
            status, kind, raw = self._ask(method, target, payload)
        answer = json.loads(raw) if kind == "application/json" else raw.decode()
        if status != http.client.OK:
            raise BrokerError(answer["error"] if isinstance(answer, dict) else str(answer))
        return answer

    def close(self) -> None:
        self._connection.close()

    def _ask(self, method: str, target: str, payload: bytes | None) -> tuple[int, str, bytes]:
        """Ask, once more if a connection that was kept has been closed meanwhile."""
        was_open = self._connection.sock is not None
        try:
            return self._ask_once(method, target, payload)
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            if not was_open or not isinstance(error, _CLOSED):
                raise BrokerError(f"the broker does not answer at {self.url}: {error}") from error
        try:
            return self._ask_once(method, target, payload)
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            raise BrokerError(f"the broker does not answer at {self.url}: {error}") from error

    def _ask_once(self, method: str, target: str, payload: bytes | None) -> tuple[int, str, bytes]:
        self._connection.request(method, target, payload, self._headers)
        response = self._connection.getresponse()
        kind = (response.getheader("content-type") or "").partition(";")[0]
        return response.status, kind, response.read()


_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
