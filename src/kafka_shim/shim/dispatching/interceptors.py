"""The optional collaborators of the dispatcher: each overrides the hooks that it needs.

Hooks are composed when an interceptor is added or removed: a request calls only the overridden
ones, and a dispatcher without interceptors calls none.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.observing.originators import CURRENT_ORIGINATOR
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.quotas.quota_client import BUSY, FETCHED, PRODUCED

if TYPE_CHECKING:
    from kafka_shim.shim.observing.request_history import History
    from kafka_shim.shim.observing.trace_recorder import TraceRecorder
    from kafka_shim.shim.storage.storage import Storage


_NO_NOTES: Mapping["Interceptor", Any] = MappingProxyType({})


class Exchange(msgspec.Struct, eq=False):
    """A request and its response, as far as they exist when a hook is called.

    `api` is None if the release does not have it in this version; hooks besides `on_header` and
    `on_end` are not called then. `cached_frame` and `errors` are the frame and the error codes of a
    cached response, which is not decoded; None for a new one. `decisions` are those that were not
    reported by `on_end` yet; `notes` are an interceptor's own.
    """

    session: Session
    header: RequestHeader
    frame: bytes
    body_at: int
    api: Any = None
    context: Any = None
    cached_frame: bytes | None = None
    errors: tuple[int, ...] | None = None
    request: Any = None
    response: Any = None
    response_frame: bytes | None = None
    decisions: list[AccessRecord] | tuple[()] = ()
    fault_ids: Sequence[int] = ()
    notes: Mapping["Interceptor", Any] = _NO_NOTES

    def store_interceptor_state(self, interceptor: "Interceptor", note: object) -> None:
        """Keep something of an interceptor until its next hook."""
        self.notes = {**self.notes, interceptor: note}


Handle: TypeAlias = Callable[[Exchange], Any]
Hook: TypeAlias = Callable[[Exchange], None]


class Interceptor:
    """Observes requests, or changes their responses. Hooks are called in the order below."""

    needs_all_decisions = False
    """Whether all decisions of a request are kept, however many."""
    needs_handlers = False
    """Whether responses must come from their handlers, never from the cache."""

    def on_arrival(self, session: Session) -> None:
        """Observe that a frame has arrived; nothing of it was read."""

    def on_header(self, exchange: Exchange) -> None:
        """Observe the header of a request."""

    def on_request(self, exchange: Exchange) -> None:
        """Observe a decoded request with its context."""

    def handle(self, exchange: Exchange, handle: Handle) -> Any:
        """Return the response, with or without calling the handler."""
        return handle(exchange)

    def on_handled(self, exchange: Exchange) -> None:
        """Observe the handler's end. Without a response, the connection is about to be closed."""

    def on_response(self, exchange: Exchange) -> None:
        """Observe or replace a complete response, which is not encoded yet."""

    def on_response_frame(self, exchange: Exchange) -> None:
        """Observe the encoded response."""

    def on_end(self, exchange: Exchange) -> None:
        """Observe the end of dispatching, and later the complete response if it was delayed."""

    def on_disconnect(self, session: Session, reason: str) -> None:
        """Observe the end of a connection; the reason is empty if the client closed it."""


QUOTAS = "quotas"


class InterceptorChain:
    """The interceptors of a dispatcher by name, and their composed hooks.

    `handle` calls the handler of an exchange through the interceptors that override it. The hooks
    of quotas come first, so that others see throttled responses.
    """

    def __init__(self, call_handler: Handle) -> None:
        self._call_handler = call_handler
        self._mapping_schema: dict[str, Interceptor] = {}
        self._compose_hooks()

    def set_interceptor(self, name: str, interceptor: Interceptor | None) -> None:
        """Add an interceptor or replace the one with this name; None removes it."""
        self._mapping_schema.pop(name, None)
        if interceptor is not None:
            self._mapping_schema[name] = interceptor
        self._compose_hooks()

    def _compose_hooks(self) -> None:
        names = sorted(self._mapping_schema, key=lambda name: name != QUOTAS)
        interceptors = [self._mapping_schema[name] for name in names]
        self.are_present = bool(interceptors)
        self.need_all_decisions = any(each.needs_all_decisions for each in interceptors)
        self.need_handlers = any(each.needs_handlers for each in interceptors)

        def hooks(name: str) -> tuple[Any, ...]:
            overriding = (
                each
                for each in interceptors
                if getattr(type(each), name) is not getattr(Interceptor, name)
            )
            return tuple(getattr(each, name) for each in overriding)

        self.on_arrival: tuple[Callable[[Session], None], ...] = hooks("on_arrival")
        self.on_header: tuple[Hook, ...] = hooks("on_header")
        self.on_request: tuple[Hook, ...] = hooks("on_request")
        self.on_handled: tuple[Hook, ...] = hooks("on_handled")
        self.on_response: tuple[Hook, ...] = hooks("on_response")
        self.on_response_frame: tuple[Hook, ...] = hooks("on_response_frame")
        self.on_end: tuple[Hook, ...] = hooks("on_end")
        self.on_disconnect: tuple[Callable[[Session, str], None], ...] = hooks("on_disconnect")
        self.handle = self._call_handler
        for layer in hooks("handle"):
            self.handle = partial(layer, handle=self.handle)


class QuotaInterceptor(Interceptor):
    """Counts the bytes and time of requests against client quotas, and throttles responses: they
    have the throttle time, and the connection is not read meanwhile (KIP-219).
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def on_request(self, exchange: Exchange) -> None:
        exchange.store_interceptor_state(self, self._cluster.clock.now_us())

    def on_handled(self, exchange: Exchange) -> None:
        """Count the request's bytes, and the time that it took."""
        throttles, context = self._cluster.throttles, exchange.context
        started_us = exchange.notes.get(self)
        if throttles is None or started_us is None or exchange.response is None:
            return
        if not exchange.session.is_ready:
            return
        client, busy_us = context.quota_client, self._cluster.clock.now_us() - started_us
        wait_ms = throttles.record_usage(BUSY, client, busy_us / 10_000)
        if exchange.api.key is ApiKey.PRODUCE:
            wait_ms = max(wait_ms, throttles.record_usage(PRODUCED, client, len(exchange.frame)))
        context.throttle_ms = max(context.throttle_ms, wait_ms)
        context.session.throttle_pause_ms = context.throttle_ms

    def on_response(self, exchange: Exchange) -> None:
        """Set the response's throttle time, if there is one; a Fetch then has no records."""
        throttles, context, response = self._cluster.throttles, exchange.context, exchange.response
        if throttles is None:
            return
        if exchange.api.key is ApiKey.FETCH:
            size, client = len(exchange.api.encode_response(response)), context.quota_client
            throttle_ms = throttles.record_usage(FETCHED, client, size)
            context.throttle_ms = max(context.throttle_ms, throttle_ms)
            if context.throttle_ms:
                throttles.undo_last_record(FETCHED, client, size)
                response = type(response)(session_id=response.session_id, responses=[])
        context.session.throttle_pause_ms = context.throttle_ms
        if context.throttle_ms and hasattr(response, "throttle_time_ms"):
            response = msgspec.structs.replace(response, throttle_time_ms=context.throttle_ms)
        exchange.response = response


class FaultInterceptor(Interceptor):
    """Applies injected faults; present while there are any."""

    needs_handlers = True

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def handle(self, exchange: Exchange, handle: Handle) -> Any:
        api, context = exchange.api, exchange.context
        faults = self._faults.fire_matching(api.key, context, exchange.frame, exchange.body_at)
        if not faults:
            return handle(exchange)
        from kafka_shim.shim.faults.fault_effects import response_with_faults  # noqa: PLC0415 - faults are rare

        exchange.fault_ids = [fault.fault_id for fault in faults]
        return response_with_faults(
            faults, api, exchange.request, context, lambda: handle(exchange)
        )


class HistoryInterceptor(Interceptor):
    """Adds requests to the history that the control API shows."""

    needs_all_decisions = True

    def __init__(self, history: "History", cluster: Cluster) -> None:
        self._history = history
        self._clock = cluster.clock

    def on_request(self, exchange: Exchange) -> None:
        entry = self._history.add_request(
            exchange.session, exchange.header, exchange.frame, self._clock.now_us()
        )
        exchange.store_interceptor_state(self, entry)
        CURRENT_ORIGINATOR.set(entry)

    def on_handled(self, exchange: Exchange) -> None:
        CURRENT_ORIGINATOR.set(None)
        entry = exchange.notes.get(self)
        if entry is not None:
            entry.faults = list(exchange.fault_ids)
            self._history.set_decisions(entry, exchange.context)

    def on_response(self, exchange: Exchange) -> None:
        entry = exchange.notes.get(self)
        if entry is None:  # the request came before the history
            return
        if exchange.errors is None:
            self._history.add_response(entry, exchange.response, self._clock.now_us())
        else:
            self._history.set_errors(entry, exchange.errors, self._clock.now_us())

    def on_response_frame(self, exchange: Exchange) -> None:
        entry = exchange.notes.get(self)
        if entry is not None and exchange.response_frame is not None:
            self._history.add_short_frame(entry, exchange.response_frame)


class TraceInterceptor(Interceptor):
    """Records requests, decisions and responses in a trace."""

    needs_all_decisions = True

    def __init__(self, recorder: "TraceRecorder") -> None:
        self._recorder = recorder

    def on_header(self, exchange: Exchange) -> None:
        exchange.store_interceptor_state(
            self, self._recorder.record_request(exchange.session, exchange.header, exchange.frame)
        )

    def on_end(self, exchange: Exchange) -> None:
        sequence, frame = exchange.notes.get(self), exchange.response_frame
        if sequence is None:  # the request came before the recorder
            return
        response = None if frame is None else frame[4:]
        self._recorder.record_outcome(
            exchange.session, sequence, exchange.header, exchange.decisions, response
        )

    def on_disconnect(self, session: Session, reason: str) -> None:
        self._recorder.record_close(session, reason)


class StorageNotifyingInterceptor(Interceptor):
    """Lets the storage know what may have to be written before responses are sent."""

    def __init__(self, storage: "Storage") -> None:
        self._storage = storage

    def on_arrival(self, session: Session) -> None:  # noqa: ARG002 - the hook's
        self._storage.is_request_in_progress = True

    def on_handled(self, exchange: Exchange) -> None:
        if not exchange.context.is_rejected:
            self._storage.mark_handled_request(exchange.api.key)
