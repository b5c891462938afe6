"""The loop of the drivers in Python: one command a line in, one answer a line out."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Command = Callable[..., Any]
ErrorOf = Callable[[Exception], dict[str, Any]]


class UnsupportedError(Exception):
    """The client cannot do this."""


def commands_of(
    kind: type, result: Callable[[Any], Any] = lambda found: found
) -> dict[str, Command]:
    """Return the commands of a class of clients: `open`, and each public method by its name.

    `result` makes an answer of what a method returns, such as of a coroutine.
    """
    clients: dict[str, Any] = {}

    def open_client(client: str, **fields: Any) -> None:
        clients[client] = kind(**fields)

    def close(client: str) -> None:
        result(clients.pop(client).close())

    def method(name: str) -> Command:
        def command(client: str, **fields: Any) -> Any:
            return result(getattr(clients[client], name)(**fields))

        command.__name__ = name
        return command

    found = {name: method(name) for name in dir(kind) if not name.startswith("_")}
    return found | {"open": open_client, "close": close}


def serve(
    name: str,
    version: str,
    commands: Mapping[str, Command],
    error_of: ErrorOf,
    capabilities: Iterable[str] | None = None,
) -> None:
    """Answer commands until standard input ends; a command gets the fields of its line."""
    hello: dict[str, Any] = {"name": name, "version": version, "commands": sorted(commands)}
    if capabilities is not None:
        hello["capabilities"] = list(capabilities)
    for line in sys.stdin:
        asked = json.loads(line)
        number, command = asked.pop("id"), asked.pop("command")
        answer: dict[str, Any]
        try:
            if command == "hello":
                answer = {"ok": hello}
            elif command not in commands:
                answer = {"unsupported": True}
            else:
                answer = {"ok": commands[command](**asked) or {}}
        except UnsupportedError:
            answer = {"unsupported": True}
        except Exception as error:  # noqa: BLE001 - every error of the client is an answer
            answer = {"error": error_of(error)}
        sys.stdout.write(json.dumps({"id": number, **answer}) + "\n")
        sys.stdout.flush()


def items(names: Any, do: Callable[[str], Any], error_of: ErrorOf) -> dict[str, Any]:
    """What came of each of several things: an object, or an error."""
    found = {}
    for name in names:
        try:
            found[name] = do(name) or {}
        except Exception as error:  # noqa: BLE001 - as above
            found[name] = error_of(error)
    return {"items": found}


class Events:
    """What happened to a group member and was not waited for yet."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def add(self, name: str) -> None:
        self._names.append(name)

    def wait(self, wanted: Sequence[str], seconds: float, run: Callable[[float], Any]) -> Any:
        """Let the client `run` for moments, until one of the wanted events has happened."""
        ends = time.monotonic() + seconds
        while not (found := [name for name in self._names if name in wanted]):
            if (left := ends - time.monotonic()) <= 0:
                return {"event": None}
            run(min(left, 0.1))
        self._names = self._names[self._names.index(found[0]) + 1 :]
        return {"event": found[0]}
