"""Limits of the control port: its connections, and the time for the headers of a request."""

import asyncio
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MAX = 512
HEADERS_TIMEOUT_S = 10.0


class LimitedHttpProtocol(H11Protocol):
    """A connection that is closed if there are too many, or if headers take too long.

    Between two requests, Uvicorn's own timeout closes it.
    """

    _headers_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            self._close_with_status(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._start_headers_timer()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel_headers_timer()
        elif self._headers_timer is None:
            self._start_headers_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_headers_timer()
        super().connection_lost(exc)

    def _start_headers_timer(self) -> None:
        self._headers_timer = self.loop.call_later(
            HEADERS_TIMEOUT_S, self._close_with_status, HTTPStatus.REQUEST_TIMEOUT
        )

    def _cancel_headers_timer(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None

    def _close_with_status(self, status: HTTPStatus) -> None:
        """Send a response without a body, and close the connection."""
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        self.transport.write(f"{head}Connection: close\r\nContent-Length: 0\r\n\r\n".encode())
        self.transport.close()
