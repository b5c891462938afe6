"""The loop of the drivers in Python: a command a line in, an answer a line out."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Command = Callable[..., Any]


def serve(
    name: str,
    version: str,
    commands: Mapping[str, Command],
    error_of: Callable[[Exception], dict[str, Any]],
) -> None:
    """Answer commands until standard input ends; a command gets the fields of its line."""
    for line in sys.stdin:
        asked = json.loads(line)
        number, command = asked.pop("id"), asked.pop("command")
        answer: dict[str, Any]
        if command == "hello":
            answer = {"ok": {"name": name, "version": version, "commands": sorted(commands)}}
        elif command not in commands:
            answer = {"unsupported": True}
        else:
            try:
                answer = {"ok": commands[command](**asked) or {}}
            except Exception as error:  # noqa: BLE001 - every error of the client is an answer
                answer = {"error": error_of(error)}
        sys.stdout.write(json.dumps({"id": number, **answer}) + "\n")
        sys.stdout.flush()


def items(
    names: Any, do: Callable[[str], Any], error_of: Callable[[Exception], dict[str, Any]]
) -> dict[str, Any]:
    """What came of each of several things: an object, or an error."""
    found = {}
    for name in names:
        try:
            found[name] = do(name) or {}
        except Exception as error:  # noqa: BLE001 - as above
            found[name] = error_of(error)
    return {"items": found}
