"""The loop of the Python drivers: reads calls and writes answers, as driver.py defines them."""

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class Login(NamedTuple):
    """A client's log-in; fields that the listener and mechanism do not need are empty."""

    protocol: str
    mechanism: str = ""
    username: str = ""
    password: str = ""
    is_token: bool = False
    token: str = ""
    authority: str = ""
    identity: str = ""


class CallError(Exception):
    """An error in an answer; `code` is Kafka's error code, None for the client's own errors."""

    def __init__(self, code: int | None, name: str, text: str) -> None:
        super().__init__(text)
        self.response = {"code": code, "name": name, "text": text}


Call = Callable[..., Any]


def serve(calls: dict[str, Call], call_error_of: Callable[[Exception], CallError]) -> None:
    """Answer calls until standard input ends; pass `servers`, `login` and the arguments to each."""
    for line in sys.stdin:
        request = json.loads(line)
        login = None if request["login"] is None else Login(**request["login"])
        try:
            result = calls[request["call"]](request["servers"], login, **request["arguments"])
            response = {"result": result}
        except CallError as error:
            response = {"error": error.response}
        except Exception as error:  # noqa: BLE001 -- every error of the client is answered
            response = {"error": call_error_of(error).response}
        sys.stdout.write(json.dumps(response) + "\n")
        sys.stdout.flush()
