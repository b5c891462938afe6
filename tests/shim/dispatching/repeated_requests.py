"""Repeat read-only requests of scenarios, and compare cached responses with new ones."""

from collections import deque
from typing import Any

from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.dispatching.response_cache import (
    READ_ONLY_KEYS,
    CachedResponse,
    ResponseCache,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Session

REMEMBERED = 3
TIMES = 2
"""The first time the request is remembered, the second time its response."""


class CheckedResponses(ResponseCache):
    """A cache that returns no response, but compares each that it has with the new one."""

    checked = 0
    expected: CachedResponse | None = None

    def find_and_set_pending_key(self, frame: bytes, session: Session) -> CachedResponse | None:
        assert self.expected is None, (
            "a response was cached for a request whose new response cannot be cached"
        )
        self.expected = super().find_and_set_pending_key(frame, session)
        return None

    def add_if_repeated_and_unchanged(
        self, request: Any, context: RequestContext, response: Any, framed: bytes
    ) -> None:
        kept, self.expected = self.expected, None
        if kept is not None:
            assert kept.frame_for_request(framed) == framed
            assert kept.access_records == context.access.records
            assert kept.context.facts is context.facts
            assert kept.context.access.actor == context.access.actor
            self.checked += 1
        super().add_if_repeated_and_unchanged(request, context, response, framed)


def asked_again(dispatcher: Dispatcher) -> None:
    """Let the dispatcher repeat the last read-only requests after each request."""
    dispatch = dispatcher.dispatch
    last: deque[tuple[bytes, Session]] = deque(maxlen=REMEMBERED)

    def dispatch_and_ask_again(frame: bytes, session: Session) -> Any:
        response = dispatch(frame, session)
        if frame[:2] in READ_ONLY_KEYS:
            last.append((frame, session))
        for _ in range(TIMES):
            for other, its_session in last:
                try:
                    dispatch(other, its_session)
                except CloseConnection:
                    continue
        return response

    dispatcher.dispatch = dispatch_and_ask_again  # type: ignore[method-assign]
