"""The requests of a case with their responses, reported one by one if wanted."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kafka_shim.client.client import CLIENT_ID
from kafka_shim.protocol.code_names import error_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.shim.observing.request_history import History, HistoryEntry
from kafka_shim.shim.request.session import Session

FrameListener = Callable[[str], None]
JSON_LENGTH_MAX = 600


class ReportedExchange(msgspec.Struct, frozen=True):
    """A request and its response as JSON text without null and empty fields, shortened."""

    api: str
    version: int
    request: str
    response: str | None
    errors: tuple[str, ...] = ()
    has_injected_fault: bool = msgspec.field(name="is_struck", default=False)
    """Whether an injected fault changed the response."""

    def __str__(self) -> str:
        errors = ", ".join(self.errors) or ("no response" if self.response is None else "ok")
        return f"{self.api} v{self.version} {self.request} -> {errors}"


class HistoryWithResponses(History):
    """A history that also keeps responses; `on_frame` is called with a line for each message."""

    def __init__(self, on_frame: FrameListener | None = None) -> None:
        super().__init__()
        self._on_frame = on_frame
        self._responses: dict[int, msgspec.Struct] = {}
        self._frames_after_faults: dict[int, bytes] = {}

    def add_request(
        self, session: Session, header: RequestHeader, frame: bytes, time_us: int
    ) -> HistoryEntry:
        entry = super().add_request(session, header, frame, time_us)
        if self._on_frame is not None:
            shown = _abridged_json(entry.request_row()["request"])
            self._on_frame(f"  {_request_identity(entry)} {shown}")
        return entry

    def add_response(self, entry: HistoryEntry, response: msgspec.Struct, now_us: int) -> None:
        super().add_response(entry, response, now_us)
        self._responses[entry.number] = response
        if self._on_frame is not None:
            indent = " " * len(_request_identity(entry))
            content = message_json(response, entry.version)
            self._on_frame(f"  {indent} -> {_abridged_json(content)}")

    def add_short_frame(self, entry: HistoryEntry, frame: bytes) -> None:
        super().add_short_frame(entry, frame)
        if entry.faults:
            self._frames_after_faults[entry.number] = frame

    def drop_requests_keeping_totals(self) -> None:
        super().drop_requests_keeping_totals()
        self._responses.clear()
        self._frames_after_faults.clear()

    def reported_exchange(self, entry: HistoryEntry) -> ReportedExchange:
        """Return a request with its response."""
        return ReportedExchange(
            entry.api.wire_name,
            entry.version,
            _abridged_json(entry.request_row()["request"]),
            self._received_response_text(entry),
            tuple(error_name(code) for code in entry.errors or ()),
            bool(entry.faults),
        )

    def _received_response_text(self, entry: HistoryEntry) -> str | None:
        """Return the response that the client got: a fault may have changed or dropped it."""
        response = self._responses.get(entry.number)
        if entry.faults:
            if entry.response is None:
                size = entry.response_bytes
                return None if size is None else f"{size} bytes"
            try:
                response = _decoded_response(entry, entry.response)
            except ProtocolError as error:
                return f"{entry.response_bytes} bytes that cannot be decoded: {error}"
        return None if response is None else _abridged_json(message_json(response, entry.version))

    def usable_response(self, entry: HistoryEntry) -> Any:
        """Return the response that the client could use.

        It is None if the client got none, or bytes that are no response to the request.
        """
        if not entry.faults:
            return self._responses.get(entry.number)
        frame = self._frames_after_faults.get(entry.number, b"")
        is_whole = int.from_bytes(frame[:4], "big") == len(frame) - 4
        if not is_whole or int.from_bytes(frame[4:8], "big") != entry.correlation_id:
            return None
        try:
            return _decoded_response(entry, frame)
        except ProtocolError:
            return None

    def distinct_responses_except_api_versions(self) -> frozenset[str]:
        """Return all different responses as API, version and errors, such as `Fetch v17 ok`.

        The suite's own requests do not count, nor ApiVersions, whose refusals a shim does not keep.
        """
        distinct = {
            (each.api, each.version, each.errors)
            for each in self
            if each.errors is not None
            and each.client_id != CLIENT_ID
            and each.api is not ApiKey.API_VERSIONS
        }
        return frozenset(
            f"{api.wire_name} v{version} {', '.join(map(error_name, errors)) or 'ok'}"
            for api, version, errors in distinct
        )


def _decoded_response(entry: HistoryEntry, frame: bytes) -> Any:
    return read_response_with_version(entry.api, entry.version, frame[4:])[0]


def _request_identity(entry: HistoryEntry) -> str:
    return f"{entry.principal} {entry.api.wire_name} v{entry.version}"


def _abridged_json(content: Any) -> str:
    text = msgspec.json.encode(_abridged(content)).decode()
    return text if len(text) <= JSON_LENGTH_MAX else f"{text[:JSON_LENGTH_MAX]}…"


def _abridged(content: Any) -> Any:
    """Remove fields that are null or empty, and shorten lists."""
    if isinstance(content, Mapping):
        return {
            name: short
            for name, short in _abridged_items(content)
            if short not in (None, "", [], {})
        }
    if isinstance(content, list):
        return [_abridged(row) for row in content[:LISTED_ROWS_MAX]]
    return content


def _abridged_items(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        yield name, _abridged(value)


LISTED_ROWS_MAX = 20
