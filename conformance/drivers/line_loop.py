"""The loop of the Python drivers: reads commands and writes answers, one line of JSON each.

It also has the common parts of Python clients. An exception in an answer becomes an `error`.
"""

import base64
import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

Command = Callable[..., Any]
ErrorOf = Callable[[Exception], dict[str, Any]]

ACL_FIELDS = (
    *("resource_type", "name", "pattern_type", "principal", "host", "operation", "permission"),
)


NOT_SHOWN = {"class": "NotShown", "code": None, "text": "the tool shows nothing about it"}
"""The error of an item that a tool leaves out."""


class UnsupportedError(Exception):
    """The client does not support the command."""


def commands_of(
    kind: type, result: Callable[[Any], Any] = lambda found: found
) -> dict[str, Command]:
    """Return the commands of a client class: `open`, `close`, and its public methods by name.

    `result` turns the return value of a method, e.g. a coroutine, into the command's result.
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


class Tool:
    """The commands of a tool: a subclass has a method for each view and change that the tool has.

    Views are named by their kind (`_topics`, `_groups`, `_brokers`, `_acls`) and return what the
    tool lists. `_describe` returns the details of an item, and `_set` changes a setting of a topic.
    """

    def list(self, kind: str) -> Any:
        return {"names": list(self._part(kind)())}

    def describe(self, kind: str, names: Sequence[str]) -> Any:
        shown, details = self.list(kind)["names"], self._part("describe")
        return items(names, lambda name: details(kind, name) if name in shown else NOT_SHOWN)

    def change(self, names: Sequence[str], setting: str, value: str) -> Any:
        change = self._part("set")
        return items(names, lambda name: change(name, setting, value))

    def close(self) -> None:
        """Stop the tool, if it runs."""

    def _part(self, name: str) -> Callable[..., Any]:
        part: Callable[..., Any] | None = getattr(self, f"_{name}", None)
        if part is None:
            raise UnsupportedError
        return part


def plain_error(error: Exception) -> dict[str, Any]:
    """Return an error of which only the text is known."""
    return {"class": type(error).__name__, "code": None, "text": str(error)}


def serve(
    name: str,
    version: str,
    commands: Mapping[str, Command],
    error_of: ErrorOf = plain_error,
    capabilities: Collection[str] | None = None,
) -> None:
    """Answer commands until standard input ends; the fields of a line are a command's arguments."""
    hello: dict[str, Any] = {"name": name, "version": version, "commands": sorted(commands)}
    if capabilities is not None:
        hello["capabilities"] = list(capabilities)
    knows_operations = capabilities is None or "authorized-operations" in capabilities
    for line in sys.stdin:
        asked = json.loads(line)
        number, command = asked.pop("id"), asked.pop("command")
        response: dict[str, Any]
        try:
            if command == "hello":
                response = {"ok": hello}
            elif command not in commands or (asked.get("operations") and not knows_operations):
                response = {"unsupported": True}
            else:
                response = {"ok": commands[command](**asked) or {}}
        except UnsupportedError:
            response = {"unsupported": True}
        except Exception as error:  # noqa: BLE001 - every error of the client is answered
            response = {"error": error}
        sys.stdout.write(json.dumps({"id": number, **response}, default=error_of) + "\n")
        sys.stdout.flush()


def items(names: Iterable[Any], do: Callable[[Any], Any]) -> dict[str, Any]:
    """Return items: for each name the result of `do`, or the error that it returns or raises."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            found[name] = do(name) or {}
        except Exception as error:  # noqa: BLE001 - as above
            found[name] = error
    return {"items": found}


def place_of(text: str) -> tuple[str, int]:
    """Split `topic-partition` into the topic and the number."""
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def offset_or_null(offset: int) -> dict[str, Any]:
    """Return a committed offset, or None for a negative one, which means that none is committed."""
    return {"offset": offset if offset >= 0 else None}


def security_protocol(login: Any, tls: Any) -> str:
    return ("SASL_" if login else "") + ("SSL" if tls else "PLAINTEXT")


def python_settings(
    servers: str, settings: Mapping[str, str], login: Mapping[str, Any] | None, tls: Any
) -> dict[str, Any]:
    """Return the settings of kafka-python or aiokafka, which lack KIP-848 and delegation tokens."""
    login = login or {}
    if settings.get("group.protocol") == "consumer" or login.get("is_delegation_token"):
        raise UnsupportedError
    found = {name.replace(".", "_"): _typed(value) for name, value in settings.items()}
    if found.get("compression_type") == "none":
        del found["compression_type"]
    found["bootstrap_servers"] = servers.split(",")
    found["security_protocol"] = security_protocol(login, tls)
    names = {"mechanism": "mechanism", "user": "plain_username", "password": "plain_password"}
    return found | {f"sasl_{names[name]}": login[name] for name in names if name in login}


def _typed(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.removeprefix("-").isdigit() else value


def token_expires(token: str) -> float:
    """Return the expiry of a JSON web token, in seconds since the epoch."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return float(claims["exp"])


def acl_values(acl: Mapping[str, Any], kinds: Mapping[str, Any]) -> list[Any]:
    """Return the fields of an ACL, in order; names become members of the client's enums."""
    return [kinds[name][acl[name]] if name in kinds else acl[name] for name in ACL_FIELDS]


def acl_of(values: Iterable[Any]) -> dict[str, Any]:
    """Return the ACL of the contract with these field values, in the same order."""
    rows = zip(ACL_FIELDS, values, strict=True)
    return {field: getattr(value, "name", value) for field, value in rows}


class Inbox:
    """The values and events of a consumer that no command has taken yet."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.events: list[str] = []
        self.error: Exception | None = None

    def failed(self, error: Exception) -> None:
        """Keep an error that was reported outside of a call."""
        self.error = error
        self.events.append("error")

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.events.append("assigned")

    def on_partitions_revoked(self, revoked: Any) -> None:
        if revoked:
            self.events.append("revoked")

    def on_partitions_lost(self, lost: Any) -> None:
        self.events.append("lost")

    def take_values(self, count: int) -> dict[str, Any]:
        values, self.values = self.values[:count], self.values[count:]
        return {"values": values}

    def take_event(self, wanted: Sequence[str]) -> str | None:
        """Remove and return the first of the wanted events; earlier events are dropped."""
        for index, event in enumerate(self.events):
            if event in wanted:
                del self.events[: index + 1]
                return event
        return None


class PolledClient(ABC):
    """The commands of a client whose consumer reads and rebalances only while it is polled."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._source: list[str] = []

    @abstractmethod
    def _subscribe(self, topics: list[str]) -> None: ...

    @abstractmethod
    def _assign(self, partitions: list[str]) -> None: ...

    @abstractmethod
    def _poll(self, seconds: float) -> None:
        """Poll the consumer, and add the values to the inbox."""

    def consume(self, topics: list[str], count: int, seconds: float) -> Any:
        return self._read(self._subscribe, topics, count, seconds)

    def consume_assigned(self, partitions: list[str], count: int, seconds: float) -> Any:
        return self._read(self._assign, partitions, count, seconds)

    def _read(self, begin: Any, source: list[str], count: int, seconds: float) -> Any:
        if self._source != source:
            begin(source)
            self._source = source
        ends = time.monotonic() + seconds
        while len(self._inbox.values) < count and (left := ends - time.monotonic()) > 0:
            self._poll(left)
        return self._inbox.take_values(count)

    def wait(self, events: list[str], seconds: float) -> Any:
        ends = time.monotonic() + seconds
        while not (event := self._inbox.take_event(events)):
            if (left := ends - time.monotonic()) <= 0:
                break
            try:
                self._poll(min(left, 0.1))
            except Exception as error:  # noqa: BLE001 - as above
                return {"event": "error", "error": error}
        return {"event": event, "error": self._inbox.error if event == "error" else None}
