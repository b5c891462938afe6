"""The requests of a case with their responses, reported one by one if wanted."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import error_name_or_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.shim.client.client import CLIENT_ID
from kafka_shim.shim.observing.history import History, HistoryEntry
from kafka_shim.shim.request.session import Session

FrameListener = Callable[[str], None]
TEXT_MAX = 600


class Frame(msgspec.Struct, frozen=True):
    """A request and its response as JSON text without null and empty fields, shortened."""

    api: str
    version: int
    request: str
    response: str | None
    errors: tuple[str, ...] = ()
    is_struck: bool = False
    """Whether an injected fault changed the response."""

    def __str__(self) -> str:
        errors = ", ".join(self.errors) or ("no response" if self.response is None else "ok")
        return f"{self.api} v{self.version} {self.request} -> {errors}"


class HistoryWithResponses(History):
    """A history that also keeps responses; `tell` is called with a line for each message."""

    def __init__(self, on_frame: FrameListener | None = None) -> None:
        super().__init__()
        self._tell = on_frame
        self._responses: dict[int, msgspec.Struct] = {}

    def request(
        self, session: Session, header: RequestHeader, frame: bytes, time_us: int
    ) -> HistoryEntry:
        seen = super().request(session, header, frame, time_us)
        if self._tell is not None:
            self._tell(f"  {_head(seen)} {_text(seen.row()['request'])}")
        return seen

    def add_response(self, seen: HistoryEntry, response: msgspec.Struct, now_us: int) -> None:
        super().add_response(seen, response, now_us)
        self._responses[seen.number] = response
        if self._tell is not None:
            self._tell(
                f"  {' ' * len(_head(seen))} -> {_text(message_json(response, seen.version))}"
            )

    def forget(self) -> None:
        super().forget()
        self._responses.clear()

    def frame(self, seen: HistoryEntry) -> Frame:
        """Return a request with its response."""
        response = self._responses.get(seen.number)
        return Frame(
            seen.api.wire_name,
            seen.version,
            _text(seen.row()["request"]),
            None if response is None else _text(message_json(response, seen.version)),
            tuple(error_name_or_code(code) for code in seen.errors or ()),
            bool(seen.faults),
        )

    def response_of(self, seen: HistoryEntry) -> Any:
        """Return the response to a request; None if it had none."""
        return self._responses.get(seen.number)

    def different(self) -> frozenset[str]:
        """Return all different responses as API, version and errors, such as `Fetch v17 ok`.

        The suite's own requests do not count, nor ApiVersions, whose refusals a shim does not keep.
        """
        found = {
            (each.api, each.version, each.errors)
            for each in self
            if each.errors is not None
            and each.client_id != CLIENT_ID
            and each.api is not ApiKey.API_VERSIONS
        }
        return frozenset(
            f"{api.wire_name} v{version} {', '.join(map(error_name_or_code, errors)) or 'ok'}"
            for api, version, errors in found
        )


def _head(seen: HistoryEntry) -> str:
    return f"{seen.principal} {seen.api.wire_name} v{seen.version}"


def _text(content: Any) -> str:
    text = msgspec.json.encode(_short(content)).decode()
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


def _short(content: Any) -> Any:
    """Remove fields that are null or empty, and shorten lists."""
    if isinstance(content, Mapping):
        return {name: short for name, short in _fields(content) if short not in (None, "", [], {})}
    if isinstance(content, list):
        return [_short(row) for row in content[:ROWS_MAX]]
    return content


def _fields(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        yield name, _short(value)


ROWS_MAX = 20
