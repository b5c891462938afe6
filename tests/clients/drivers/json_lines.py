"""The loop of the Python drivers: a call a line in, an answer a line out, as driver.py has it."""

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class Login(NamedTuple):
    """How a client proves who it is; what its listener and mechanism do not need is empty."""

    protocol: str
    mechanism: str = ""
    username: str = ""
    password: str = ""
    is_token: bool = False
    token: str = ""
    authority: str = ""
    identity: str = ""


class CallError(Exception):
    """An error as it is answered; `code` is Kafka's, None for the client's own."""

    def __init__(self, code: int | None, name: str, text: str) -> None:
        super().__init__(text)
        self.answer = {"code": code, "name": name, "text": text}


Call = Callable[..., Any]


def serve(calls: dict[str, Call], call_error_of: Callable[[Exception], CallError]) -> None:
    """Answer calls until standard input ends. A call gets `servers`, `login` and its arguments."""
    for line in sys.stdin:
        request = json.loads(line)
        login = None if request["login"] is None else Login(**request["login"])
        try:
            result = calls[request["call"]](request["servers"], login, **request["arguments"])
            answer = {"result": result}
        except CallError as error:
            answer = {"error": error.answer}
        except Exception as error:  # noqa: BLE001 -- every error of the client is an answer
            answer = {"error": call_error_of(error).answer}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
