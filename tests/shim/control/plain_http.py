"""A plain HTTP client for the control API, and checks of its responses."""

import http.client
import json
from typing import Any

import msgspec


class Http:
    """Calls the control API with the standard library's HTTP client."""

    def __init__(self, url: str) -> None:
        self.address = url.removeprefix("http://")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address, timeout=20)
        payload = body if isinstance(body, bytes | None) else json.dumps(body)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, payload, given)
        response = connection.getresponse()
        raw = response.read().decode()
        connection.close()
        is_json = (response.getheader("content-type") or "").startswith("application/json")
        return response.status, json.loads(raw) if is_json else raw


def works(response: tuple[int, Any], shape: type[msgspec.Struct]) -> Any:
    """Check the status and that the body has exactly the fields of `shape`; return the body."""
    status, body = response
    assert status == 200, body
    shaped = msgspec.convert(body, shape)
    assert set(body) == set(shaped.__struct_fields__)
    return body


def fails(response: tuple[int, Any], status: int, text: str) -> None:
    assert response[0] == status
    assert text in response[1]["error"]
