"""Calls that are wrong in their form: each has an error in JSON, and changes nothing."""

import json
import urllib.error
import urllib.request
from http.client import HTTPConnection
from typing import Any

import pytest

from kafka_shim.shim.control import bodies
from kafka_shim.shim.control.http_server import ControlServer
from kafka_shim.shim.errors import ConfigError
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.plain_http import Http, fails, works
from tests.shim.wire import serving


def raw(broker: KafkaBroker, method: str, path: str, body: bytes) -> tuple[int, Any, Any]:
    """Return status, headers and decoded body of a call with these bytes."""
    connection = HTTPConnection(str(broker.control_url).removeprefix("http://"), timeout=10)
    connection.request(method, path, body)
    response = connection.getresponse()
    try:
        return response.status, response.headers, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("body", [b'{"name": "\xff"}', b"\xff\xfe", b'{"name": "\xed\xa0\x80"}'])
def test_a_body_that_is_not_utf8_is_an_error_in_json(process: KafkaBroker, body: bytes) -> None:
    status, _, content = raw(process, "POST", "/topics", body)
    assert (status, content["error"][:20]) == (400, "the body is not JSON")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/topics", "GET, HEAD, POST"),
        ("PATCH", "/topics/orders", "DELETE"),
        ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/brokers", "GET, HEAD, POST"),
        ("PUT", "/brokers/first/acls", "GET, HEAD, POST"),
    ],
)
def test_a_wrong_method_is_answered_with_the_right_ones(
    process: KafkaBroker, method: str, path: str, allowed: str
) -> None:
    status, headers, content = raw(process, method, path, b"")
    assert (status, headers["Allow"]) == (405, allowed)
    assert "there is no" in content["error"]


def test_a_value_and_its_bytes_exclude_each_other(process: KafkaBroker, api: Http) -> None:
    process.reset()
    process.topics.create("orders")
    for name in ("key", "value"):
        record = {name: "a", f"{name}_hex": "62"}
        fails(api.ask("POST", "/topics/orders/records", record), 400, "exclude each other")
    assert process.topics.list()[0].end_offsets == [0]


@pytest.mark.asyncio
@pytest.mark.parametrize("token", ["schl\xfcssel", "\u9375", "two words", "line\nbreak", ""])
async def test_a_token_that_no_header_can_have_is_refused_where_it_is_set(token: str) -> None:
    async with serving() as broker:
        with pytest.raises(ConfigError, match="visible ASCII characters"):
            ControlServer(broker, "127.0.0.1:0", token)


def test_every_address_of_the_loopback_works() -> None:
    with start(in_process=False) as broker:
        port = str(broker.control_url).rpartition(":")[2]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/health", headers={"Host": f"127.0.0.2:{port}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            assert response.status == 200
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/health", headers={"Host": f"127.0.0.2.evil:{port}"}
        )
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=10)


def test_the_document_has_types_choices_and_what_is_required(api: Http) -> None:
    document = api.ask("GET", "/openapi.json")[1]
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", []):
            if parameter["in"] != "query":
                continue
            name, schema = parameter["name"], parameter["schema"]
            missing_or_wrong = []
            if parameter["required"]:
                missing_or_wrong.append("")
            if schema["type"] == "integer":
                missing_or_wrong.append(f"?{name}=x")
            if "enum" in schema:
                missing_or_wrong.append(f"?{name}=no-such-value")
            for query in missing_or_wrong:
                called = path.replace("{name}", "orders").replace("{broker}", "first") + query
                assert api.ask("GET", called)[0] in (400, 404), called
    works(api.ask("GET", "/requests?limit=5"), bodies.RequestRows)
