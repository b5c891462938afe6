"""The inspector over a recording: its page, and rows that do not change, on this machine alone."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.inspector_files import FILES, HEADERS, inspector_file_content
from kafka_shim.shim.control.least_acls_query import least_acls_of_recording
from kafka_shim.shim.control.loopback import is_loopback_host_header
from kafka_shim.text.whole_number import parse_whole_number

HOST = "127.0.0.1"
_PAGE = "/inspector"
_ROWS_MAX = 1000
_NUMBER = itemgetter("number")


class TraceRows(Protocol):
    """The rows of a recording, by number, in the form of the control API."""

    @property
    def name(self) -> str: ...
    @property
    def requests(self) -> list[dict[str, Any]]: ...
    @property
    def decisions(self) -> list[dict[str, Any]]: ...
    @property
    def last(self) -> int: ...
    def request_detail(self, number: int) -> dict[str, Any] | None: ...


class TraceInspectorServer(ThreadingHTTPServer):
    """Serves until it is shut down; `url` is the page's."""

    daemon_threads = True

    def __init__(self, rows: TraceRows, port: int = 0) -> None:
        super().__init__((HOST, port), _RequestHandler)
        self.rows = rows

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}{_PAGE}"

    def control_api_response(self, path: str, query: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the response to a call of the control API; None if a recording has none."""
        rows = self.rows
        if path == "/health":
            return {"recording": rows.name, "requests": len(rows.requests)}
        number = parse_whole_number(path.removeprefix("/requests/"))
        if number is not None:
            return rows.request_detail(number)
        if path == "/least-acls":
            return least_acls_of_recording(rows.decisions, query)
        kinds = {"/requests": rows.requests, "/decisions": rows.decisions}
        if path not in kinds:
            return None
        after, limit = (parse_whole_number(query.get(name, "")) for name in ("after", "limit"))
        rows_of_page, last = _page_of_rows(kinds[path], after or 0, limit or _ROWS_MAX)
        return {path[1:]: rows_of_page, "last": rows.last if last is None else last}


def _page_of_rows(
    rows: list[dict[str, Any]], after: int, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return rows of whole requests, about as many as the limit, and the last number if there are
    more.
    """
    start = bisect_right(rows, after, key=_NUMBER)
    end = start + limit
    if end >= len(rows):
        return rows[start:], None
    last = int(rows[end - 1]["number"])
    return rows[start : bisect_right(rows, last, key=_NUMBER)], last


class _RequestHandler(BaseHTTPRequestHandler):
    server: TraceInspectorServer

    def do_GET(self) -> None:
        """Send the response to a call of the control API, or a file of the page."""
        url = urlsplit(self.path)
        if not self._is_called_from_loopback_page():
            self._send_response(403, b"only this machine may call\n", "text/plain")
            return
        if url.path == "/":
            self._send_response(307, b"", "text/plain", {"Location": _PAGE})
            return
        try:
            response = self.server.control_api_response(url.path, dict(parse_qsl(url.query)))
        except ControlError as error:
            content = json.dumps({"error": str(error)}).encode()
            self._send_response(error.status, content, "application/json")
            return
        if response is not None:
            self._send_response(200, json.dumps(response).encode(), "application/json")
            return
        name = url.path.removeprefix(_PAGE).removeprefix("/") or "index.html"
        if not url.path.startswith(_PAGE) or name not in FILES:
            self._send_response(
                404, b'{"error": "a recording has no such page"}', "application/json"
            )
            return
        self._send_response(200, inspector_file_content(name), FILES[name], HEADERS)

    def _is_called_from_loopback_page(self) -> bool:
        """Return whether the call is not from another site's page, by its Host and Origin."""
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        is_same = origin is None or origin == f"http://{host}"
        return is_loopback_host_header(host) and is_same

    def _send_response(
        self, status: int, body: bytes, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        text = media_type.startswith("text/")
        self.send_header("Content-Type", f"{media_type}; charset=utf-8" if text else media_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
