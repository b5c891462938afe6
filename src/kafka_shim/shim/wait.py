"""Results of a handler other than a response: a later response, or none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Generic, TypeVar

Response = TypeVar("Response")


class ChangeNotifier:
    """An event that responses wait for: its watchers are called back at each change."""

    __slots__ = ("_watchers",)

    def __init__(self) -> None:
        self._watchers: dict[int, Callable[[], None]] = {}

    @property
    def has_watchers(self) -> bool:
        """Return whether somebody waits for a change."""
        return bool(self._watchers)

    def add_watcher(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at every change; return a function that removes the watcher."""
        token = id(callback)
        self._watchers[token] = callback
        return lambda: self._watchers.pop(token, None) and None

    @contextmanager
    def deferring_notification(self) -> Iterator[None]:
        """Call back once after all changes in the block."""
        watchers, self._watchers = self._watchers, {}
        try:
            yield
        finally:
            self._watchers = watchers
        self.notify()

    def notify(self) -> None:
        """Call back all watchers after a change."""
        if self._watchers:
            for callback in list(self._watchers.values()):
                callback()


class WaitResources:
    """The watchers and timers of one waiting request, which are released together."""

    __slots__ = ("_stops",)

    def __init__(self) -> None:
        self._stops: list[Callable[[], None]] = []

    def watch_changes(self, watched: ChangeNotifier, callback: Callable[[], None]) -> None:
        """Call a function at each change of what is watched, until `release`."""
        self._stops.append(watched.add_watcher(callback))

    def add_timer(self, cancel_timer: Callable[[], None]) -> None:
        """Let `release` cancel a timer."""
        self._stops.append(cancel_timer)

    def release(self) -> None:
        """Remove the watchers and cancel the timers; more than once does nothing."""
        for stop in self._stops:
            stop()
        self._stops.clear()


class PendingResponse(Generic[Response]):
    """Returned by a handler instead of a response; completed later, exactly once.

    It can be completed at any time; completing or cancelling twice does nothing, so that a
    timer and an event can race.
    """

    __slots__ = ("_done", "_on_cancel", "_on_response", "_response")

    def __init__(self, on_cancel: Callable[[], None] | None = None) -> None:
        self._done = False
        self._response: Response | None = None
        self._on_response: Callable[[Response], None] | None = None
        self._on_cancel = on_cancel

    @property
    def is_finished(self) -> bool:
        return self._done

    def complete(self, response: Response) -> None:
        """Set the response; it is written immediately if the connection already waits for it."""
        if self._done:
            return
        self._done = True
        self._response = response
        if self._on_response is not None:
            self._on_response(response)

    def set_response_callback(self, callback: Callable[[Response], None]) -> None:
        """Call back with the response, immediately if there is one. For the connection only."""
        self._on_response = callback
        if self._done and self._response is not None:
            callback(self._response)

    def cancel(self) -> None:
        """Cancel the wait, as the connection is closed."""
        if self._done:
            return
        self._done = True
        if self._on_cancel is not None:
            self._on_cancel()


class NoResponse(Enum):
    """The result of a handler if the protocol has no response (Produce with acks=0)."""

    SILENT = "silent"
    CLOSE = "close"  # Kafka's only way to say that such a request failed
