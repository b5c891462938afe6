"""The driver of kaskade, a user interface in the terminal: what its two main tables show.

`python kaskade_tool.py`, with a Python that has kaskade.
"""

import asyncio
from importlib.metadata import version
from typing import Any

import line_loop
from confluent_kafka_driver import error_of
from kaskade.services import TopicService


class Kaskade(line_loop.Tool):
    def __init__(self, servers: str, login: Any, **_: Any) -> None:
        config = {"bootstrap.servers": servers, "socket.timeout.ms": 3000}
        if login is not None:
            config |= {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": login["mechanism"]}
            config |= {"sasl.username": login["user"], "sasl.password": login["password"]}
        self._service = TopicService(config)

    def _topics(self) -> list[str]:
        return sorted(asyncio.run(self._service.metadata()))

    def _groups(self) -> list[str]:
        snapshot = asyncio.run(self._service.load_groups())
        if snapshot.errors:  # then the table is empty
            raise snapshot.errors[0]
        return [group.group_id for group in snapshot.descriptions]

    def _describe(self, kind: str, name: str) -> Any:
        return {"settings": len(self._service.describe_configs(name))} if kind == "topics" else {}

    def _set(self, name: str, setting: str, value: str) -> Any:
        self._service.edit(name, {setting: value})


if __name__ == "__main__":
    line_loop.serve("kaskade", version("kaskade"), line_loop.commands_of(Kaskade), error_of)
