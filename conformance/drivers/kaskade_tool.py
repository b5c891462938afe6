"""The driver of kaskade, a user interface in the terminal: what its two main tables show.

`python kaskade_tool.py`, with a Python that has kaskade. The tables are of topics and of groups;
there are none of brokers and ACLs.
"""

import asyncio
from importlib.metadata import version
from typing import Any

import line_loop
from confluent_kafka import KafkaException
from kaskade.services import TopicService

clients: dict[str, Any] = {}
NOT_SHOWN = {"class": "NotShown", "code": None, "text": "the table has no row for it"}


def error_of(error: Exception) -> dict[str, Any]:
    found = error.args[0] if isinstance(error, KafkaException) else None
    code = None if found is None or found.code() < -1 else found.code()
    return {"class": type(error).__name__, "code": code, "text": str(error)}


def start(client: str, servers: str, login: Any, **_: Any) -> None:
    config = {"bootstrap.servers": servers, "socket.timeout.ms": 3000}
    if login is not None:
        config |= {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": login["mechanism"]}
        config |= {"sasl.username": login["user"], "sasl.password": login["password"]}
    clients[client] = TopicService(config)


def stop(client: str) -> None:
    del clients[client]


def groups(service: Any) -> list[str]:
    """Return the groups in the table, which is empty if there is any error."""
    snapshot = asyncio.run(service.load_groups())
    if snapshot.errors:
        raise snapshot.errors[0]
    return [group.group_id for group in snapshot.descriptions]


def show_list(client: str, kind: str) -> Any:
    match kind:
        case "topics":
            return {"names": sorted(asyncio.run(clients[client].metadata()))}
        case "groups":
            return {"names": groups(clients[client])}
    raise line_loop.UnsupportedError


def describe(client: str, kind: str, names: list[str]) -> Any:
    shown, service = show_list(client, kind)["names"], clients[client]

    def details(name: str) -> Any:
        if name not in shown:
            return NOT_SHOWN
        return {"settings": len(service.describe_configs(name))} if kind == "topics" else {}

    return line_loop.items(names, details)


def change(client: str, names: list[str], setting: str, value: str) -> Any:
    return line_loop.items(names, lambda name: clients[client].edit(name, {setting: value}))


if __name__ == "__main__":
    commands = {"open": start, "close": stop, "list": show_list, "describe": describe}
    line_loop.serve("kaskade", version("kaskade"), commands | {"change": change}, error_of)
