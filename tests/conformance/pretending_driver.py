"""A driver that pretends: it reports success for every command, with empty results.

`pretending_driver.py nothing` never opens a connection. `connects` logs in and asks for metadata
when a client is opened, and then pretends as well. `denies` reports a denial for every command.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from kafka_shim.client import client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.conformance.commands import COMMANDS
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.config import SecurityProtocol

EMPTY: dict[str, Any] = {
    "array": [],
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "object": {},
    "null": None,
}


def pretended_ok(command: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the smallest valid `ok` of a command, with an item for each requested name."""
    schema = COMMANDS[command].ok_schema()
    ok = {name: empty(schema["properties"][name]) for name in schema.get("required", ())}
    if "items" in ok:
        item = schema["properties"]["items"].get("additionalProperties", {})
        fields = item.get("anyOf", [item])[0]
        ok["items"] = {name: empty(fields) for name in requested_names(request)}
    return ok


def empty(shape: dict[str, Any]) -> Any:
    if "anyOf" in shape:
        return None if {"type": "null"} in shape["anyOf"] else empty(shape["anyOf"][0])
    if "$ref" in shape:
        return {}
    if shape["type"] == "object":
        fields = shape.get("properties", {})
        return {name: empty(fields[name]) for name in shape.get("required", ())}
    return EMPTY[shape["type"]]


def requested_names(request: dict[str, Any]) -> list[str]:
    for field in ("names", "topics", "partitions", "users", "passwords"):
        if field in request:
            return list(request[field])
    return [str(at) for at, _ in enumerate(request.get("acls") or request.get("filters") or [])]


def connect(request: dict[str, Any]) -> None:
    """Log in and list topics, as another program than the suite."""
    client.CLIENT_ID = "pretender"
    login = request["login"] or {}
    config = ClientConfig()
    if "password" in login:
        credentials = Login(login["mechanism"], login["user"], login["password"])
        config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, credentials)
    address = request["servers"].partition(",")[0]
    with suppress(client.ClientError, OSError), client.connect(address, config) as connection:
        connection.send_request(ApiKey.METADATA, MetadataRequest(topics=None))


def main() -> None:
    mode = sys.argv[1]
    for line in sys.stdin:
        request = json.loads(line)
        command = request["command"]
        response: dict[str, Any] = {"ok": {}}
        if command == "hello":
            response = {"ok": {"name": mode, "version": "1", "commands": list(COMMANDS)}}
        elif mode == "denies" and command not in ("open", "close"):
            denial = {"class": "Denied", "code": 29, "text": "denied"}
            response = {"error": denial}
        else:
            if mode == "connects" and command == "open":
                connect(request)
            response = {"ok": pretended_ok(command, request)}
        sys.stdout.write(json.dumps({"id": request["id"], **response}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
