"""Repeat read-only requests of scenarios, and compare cached responses with new ones."""

from collections import deque
from typing import Any

from kafka_shim.shim.apis import APIS_WITH_HANDLER, import_handler
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.dispatching.interceptors import Exchange
from kafka_shim.shim.dispatching.response_cache import CachedResponse, ResponseCache
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session

CACHED_APIS = [key for key in APIS_WITH_HANDLER if hasattr(import_handler(key), "CACHED_SINCE")]
CACHED_KEYS = frozenset(key.to_bytes(2, "big") for key in CACHED_APIS)
"""The first two bytes of their frames."""

REMEMBERED = 3
TIMES = 2
"""The first time the request is remembered, the second time its response."""


class CheckedResponses(ResponseCache):
    """A cache that returns no response, but compares each that it has with the new one."""

    checked = 0
    expected: CachedResponse | None = None

    def find(self, frame: bytes, session: Session) -> CachedResponse | None:
        assert self.expected is None, (
            "a response was cached for a request whose new response cannot be cached"
        )
        self.expected = super().find(frame, session)
        return None

    def add(self, exchange: Exchange, framed: bytes) -> None:
        kept, self.expected = self.expected, None
        if kept is not None:
            context, cached = exchange.context, kept.exchange(framed, exchange.session).context
            assert kept.exchange(framed, exchange.session).cached_frame == framed
            assert cached.access.records == context.access.records
            assert cached.facts is context.facts
            assert cached.access.actor == context.access.actor
            self.checked += 1
        super().add(exchange, framed)


def asked_again(dispatcher: Dispatcher) -> None:
    """Let the dispatcher repeat the last read-only requests after each request."""
    dispatch = dispatcher.dispatch
    last: deque[tuple[bytes, Session]] = deque(maxlen=REMEMBERED)

    def dispatch_and_ask_again(frame: bytes, session: Session) -> Any:
        response = dispatch(frame, session)
        if frame[:2] in CACHED_KEYS:
            last.append((frame, session))
        for _ in range(TIMES):
            for other, its_session in last:
                try:
                    dispatch(other, its_session)
                except CloseConnection:
                    continue
        return response

    dispatcher.dispatch = dispatch_and_ask_again  # type: ignore[method-assign]
