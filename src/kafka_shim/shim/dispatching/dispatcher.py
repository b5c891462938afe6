"""A frame's way to its response: cache, decoder, handler, encoder.

The only catch-all of the broker.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.authorizer.model import Actor
from kafka_shim.authorizer.open_apis import OPEN_TO_ALL
from kafka_shim.protocol.api_versions import unsupported_version_message
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, is_request_not_sasl_token
from kafka_shim.shim.apis import ApiTable, ServedApi
from kafka_shim.shim.dispatching.interceptors import (
    Exchange,
    FaultInterceptor,
    HistoryInterceptor,
    InterceptorChain,
    QuotaInterceptor,
    StorageNotifyingInterceptor,
    TraceInterceptor,
)
from kafka_shim.shim.dispatching.message_coding import (
    decode_header_or_close_connection,
    decode_request_or_close_connection,
    encode_fetch_frame_appending_rest_if_long,
    encode_response_frame,
)
from kafka_shim.shim.dispatching.response_cache import READ_ONLY_KEYS, CachedResponse, ResponseCache
from kafka_shim.shim.errors import CloseConnection, NeedsTimeSlices, RequestRejected
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.handlers.api_versions import unsupported_version_response
from kafka_shim.shim.observing import audit_log
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.request.authentication_phase import close_unless_allowed_in_phase_and_unexpired
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.settings.static_settings import parse_client_telemetry_enabled
from kafka_shim.shim.wait import NoResponse, PendingResponse
from kafka_shim.text.logs import Log

if TYPE_CHECKING:
    from kafka_shim.shim.observing.request_history import History
    from kafka_shim.shim.observing.trace_recorder import TraceRecorder
    from kafka_shim.shim.storage.storage import Storage

log = Log("shim.dispatch")

_READY = AuthenticationPhase.READY  # module constant: enum attribute lookup is slow on CPython 3.11
_AUTHENTICATE = AuthenticationPhase.AUTHENTICATE
_FETCH = ApiKey.FETCH


class Dispatcher:
    """Responds to the requests to a cluster.

    It has everything that is not the cluster's state: the served APIs, the response cache, injected
    faults, and the interceptors. `recorder`, `history` and `storage` are set by methods.
    """

    handles_requests_on_threads = True
    """Whether large requests may be handled in time slices."""
    _decode_header = staticmethod(decode_header_or_close_connection)
    _decode_request = staticmethod(decode_request_or_close_connection)

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.apis = ApiTable(
            cluster.release,
            accepts_client_metrics=parse_client_telemetry_enabled(cluster.config.properties),
        )
        self.interceptors = InterceptorChain(
            lambda exchange: self._call_handler(exchange.api, exchange.request, exchange.context),
            QuotaInterceptor(cluster),
        )
        self.faults = Faults(self._add_or_remove_fault_interceptor)
        self.response_cache: ResponseCache | None = None
        self.recorder: TraceRecorder | None = None
        self.history: History | None = None
        self.storage: Storage | None = None
        self.may_use_time_slices: Callable[[], bool] = lambda: False  # there is no event loop
        self.raise_errors = False  # tests want internal errors to surface

    def set_recorder(self, recorder: "TraceRecorder | None") -> None:
        """Record requests in a trace."""
        self.recorder = recorder
        self.interceptors.set_interceptor(
            "trace", None if recorder is None else TraceInterceptor(recorder)
        )

    def set_history(self, history: "History") -> None:
        """Add requests to the history that the control API shows."""
        self.history = history
        self.interceptors.set_interceptor("history", HistoryInterceptor(history, self.cluster))

    def set_storage(self, storage: "Storage") -> None:
        """Store changes of the state before their responses are sent."""
        self.storage = storage
        self.interceptors.set_interceptor("storage", StorageNotifyingInterceptor(storage))

    def _add_or_remove_fault_interceptor(self) -> None:
        self.interceptors.set_interceptor(
            "faults", FaultInterceptor(self.faults) if self.faults.by_id else None
        )

    def dispatch(self, frame: bytes, session: Session) -> "bytes | PendingExchange | NoResponse":
        """Return the response to a frame (without its size). Raise CloseConnection where Kafka
        just closes, NeedsTimeSlices if the request takes long.
        """
        cluster = self.cluster
        if (
            self.interceptors.are_present
            or session.slices is not None
            or cluster.throttles is not None
        ):
            return self._dispatch_with_interceptors(frame, session)
        cache = self.response_cache
        if cache is not None and frame[:2] in READ_ONLY_KEYS:
            cached = cache.find_and_set_pending_key(frame, session)
            if cached is not None:
                cache.repeat_side_effects(cached, session)
                return cached.frame_for_request(frame)
        header, body_at = self._decode_header(
            frame, session, limits_tagged_fields=self.apis.request_items_are_limited
        )
        api = self._find_api_allowed_in_phase(frame, header, session)
        if api is None:
            return self._unsupported_version_response(header, session)
        request = self._decode_request(api, frame, body_at, session)
        if api.takes_long is not None and api.takes_long(request, cluster):
            self._raise_if_time_slices_are_usable()
        context = self._new_context(header, session)
        context.request = request
        context.accepts_chunks = api.key is _FETCH and session.following_chunks is not None
        is_cacheable = self._is_cacheable_else_count_change(api)
        count_before = self._topic_change_and_internal_error_count() if is_cacheable else 0
        response = self._call_handler(api, request, context)
        cluster.counters.requests += 1
        if context.access.records:
            audit_log.log_first_decisions_by_log_level(context, api.key)
        if isinstance(response, PendingResponse):
            return PendingExchange(response, self, _unobserved_exchange(api, context))
        if type(response) is NoResponse:  # asked of an enum, isinstance takes longer
            return response
        framed = self._encode_response_or_close_connection(api, context, response)
        if cache is not None and is_cacheable:
            self._cache_or_count_topic_change_or_failure(
                cache, count_before, request, context, response, framed
            )
        return framed

    def _dispatch_with_interceptors(
        self, frame: bytes, session: Session
    ) -> "bytes | PendingExchange | NoResponse":
        """Return the response to a frame with interceptors, quotas or time slices."""
        for hook in self.interceptors.on_arrival:
            hook(session)
        cache: ResponseCache | None = None
        if session.slices is not None:
            with (
                self.cluster.state_version.change_in_progress_counted_at_end()
            ):  # others are answered between the time slices
                return self._dispatch_exchange(frame, session, None)
        if self.cluster.throttles is None and not self.interceptors.need_handlers:
            cache = self.response_cache
        if cache is not None and frame[:2] in READ_ONLY_KEYS:
            cached = cache.find_and_set_pending_key(frame, session)
            if cached is not None and self.interceptors.observe_cached_responses:
                return self._repeat_cached_response(cached, cache, frame, session)
            if cached is not None:
                cache.repeat_side_effects(cached, session)
                return cached.frame_for_request(frame)
        return self._dispatch_exchange(frame, session, cache)

    def _repeat_cached_response(
        self, cached: CachedResponse, cache: ResponseCache, frame: bytes, session: Session
    ) -> bytes:
        """Return a cached response, and show the exchange to the interceptors."""
        interceptors = self.interceptors
        number = int.from_bytes(frame[4:8], "big", signed=True)
        header = msgspec.structs.replace(cached.context.header, correlation_id=number)
        exchange = Exchange(session, header, frame, len(frame))
        exchange.api, exchange.context = (
            self.apis.served_apis_by_frame_start[frame[:4]],
            cached.context,
        )
        exchange.errors, exchange.decisions = cached.error_codes, cached.access_records
        for hook in (*interceptors.on_header, *interceptors.on_request, *interceptors.on_handled):
            hook(exchange)
        exchange.response_frame = response = cached.frame_for_request(frame)
        for hook in (*interceptors.on_response, *interceptors.on_response_frame):
            hook(exchange)
        cache.repeat_side_effects(cached, session)
        for hook in interceptors.on_end:
            hook(exchange)
        return response

    def _dispatch_exchange(
        self, frame: bytes, session: Session, cache: ResponseCache | None
    ) -> "bytes | PendingExchange | NoResponse":
        header, body_at = self._decode_header(
            frame, session, limits_tagged_fields=self.apis.request_items_are_limited
        )
        api = self._find_api_allowed_in_phase(frame, header, session)
        exchange = Exchange(session, header, frame, body_at)
        for hook in self.interceptors.on_header:
            hook(exchange)
        try:
            if api is not None:
                exchange.api = api
                return self._respond_with_interceptors(exchange, cache)
            exchange.response_frame = framed = self._unsupported_version_response(header, session)
            return framed
        finally:
            for hook in self.interceptors.on_end:
                hook(exchange)
            exchange.decisions = ()

    def _respond_with_interceptors(
        self, exchange: Exchange, cache: ResponseCache | None
    ) -> "bytes | PendingExchange | NoResponse":
        api, session, cluster = exchange.api, exchange.session, self.cluster
        request = self._decode_request(api, exchange.frame, exchange.body_at, session)
        is_short = session.slices is None
        if is_short and api.takes_long is not None and api.takes_long(request, cluster):
            self._raise_if_time_slices_are_usable()
        exchange.request = request
        exchange.context = context = self._new_context(exchange.header, session)
        context.request = request
        if self.interceptors.need_all_decisions:
            context.access.records_max = sys.maxsize
        is_cacheable = self._is_cacheable_else_count_change(api)
        count_before = self._topic_change_and_internal_error_count() if is_cacheable else 0
        response = self._handle_with_interceptors(exchange)
        cluster.counters.requests += 1
        if context.access.records:
            exchange.decisions = context.access.records
            audit_log.log_first_decisions_by_log_level(context, api.key)
        if isinstance(response, PendingResponse):
            return PendingExchange(response, self, exchange)
        if type(response) is NoResponse:
            return response
        framed = self.encode_with_interceptors(exchange, response)
        if cache is not None and is_cacheable:
            self._cache_or_count_topic_change_or_failure(
                cache, count_before, request, context, exchange.response, framed
            )
        return framed

    def _handle_with_interceptors(self, exchange: Exchange) -> Any:
        for hook in self.interceptors.on_request:
            hook(exchange)
        try:
            exchange.response = response = self.interceptors.handle(exchange)
        finally:
            for hook in self.interceptors.on_handled:
                hook(exchange)
        return response

    def encode_with_interceptors(self, exchange: Exchange, response: Any) -> bytes:
        """Return the frame of a response, as interceptors have changed it."""
        exchange.response = response
        for hook in self.interceptors.on_response:
            hook(exchange)
        context = exchange.context
        framed = self._encode_response_or_close_connection(exchange.api, context, exchange.response)
        if context.damage_frame is not None:
            framed = context.damage_frame(framed)
        exchange.response_frame = framed
        for hook in self.interceptors.on_response_frame:
            hook(exchange)
        return framed

    def _find_api_allowed_in_phase(
        self, frame: bytes, header: RequestHeader, session: Session
    ) -> ServedApi | None:
        """Return the API of a request; None if the release does not have it in this version. Raise
        CloseConnection if it is not allowed in this phase of the connection, or no request.
        """
        if session.phase is not _READY or session.expires_at_ms is not None:
            close_unless_allowed_in_phase_and_unexpired(header, session, self.cluster, len(frame))
        api = self.apis.served_apis_by_frame_start.get(frame[:4])
        if api is None:
            api = self.apis.find_api(header.api_key, header.api_version)
            if api is None and not is_request_not_sasl_token(header):
                raise CloseConnection(f"a frame of {len(frame)} bytes that is not a request")
        return api

    def _raise_if_time_slices_are_usable(self) -> None:
        """Raise NeedsTimeSlices, unless the request has to be handled in one piece."""
        if self.may_use_time_slices():
            raise NeedsTimeSlices

    def _new_context(self, header: RequestHeader, session: Session) -> RequestContext:
        cluster, node_id = self.cluster, session.node_id
        actor = Actor(session.principal, session.host)
        access = Access(cluster.policy, node_id, actor, slices=session.slices)
        return RequestContext(
            header, session, cluster, header.api_version, node_id, access, cluster.facts
        )

    def _is_cacheable_else_count_change(self, api: ServedApi) -> bool:
        """Return whether responses of an API may be cached; if not, the request may change
        anything, and counts as a change of the state.
        """
        if api.is_read_only and not self.interceptors.need_handlers:
            return True
        self.cluster.state_version.count_possible_change()
        return False

    def _topic_change_and_internal_error_count(self) -> int:
        """Return a count that grows with each new or deleted topic and each internal error."""
        return self.cluster.topics.epoch + self.cluster.counters.internal_errors

    def _cache_or_count_topic_change_or_failure(
        self,
        cache: ResponseCache,
        count_before: int,
        request: Any,
        context: RequestContext,
        response: Any,
        framed: bytes,
    ) -> None:
        """Cache a response, unless topics were created or deleted, or the handler failed."""
        if count_before != self._topic_change_and_internal_error_count():
            self.cluster.state_version.count_possible_change()
        elif cache.pending_key:
            cache.add_if_repeated_and_unchanged(request, context, response, framed)

    def _call_handler(self, api: ServedApi, request: Any, context: RequestContext) -> Any:
        """Return the handler's response; a rejection or an internal error has the API's form."""
        session = context.session
        if session.phase is _AUTHENTICATE and api.key is not ApiKey.SASL_AUTHENTICATE:
            context.is_rejected = True
            session.phase = AuthenticationPhase.FAILED
            return api.error_response(request, ErrorCode.ILLEGAL_SASL_STATE, None)
        try:
            response = api.handle(request, context)
        except RequestRejected as rejected:
            context.is_rejected = True
            return context.offload(api.error_response, request, rejected.error, rejected.message)
        except CloseConnection:
            raise
        except Exception:
            context.is_rejected = True
            self.cluster.counters.internal_errors += 1
            if self.raise_errors:
                raise
            log.exception("handler failed", **_log_fields(context.header))
            return api.error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if not context.access.was_consulted and api.key not in OPEN_TO_ALL:
            self.cluster.counters.internal_errors += 1
            log.error("handler performed no authorization check", **_log_fields(context.header))
            return api.error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return response

    def _encode_response_or_close_connection(
        self, api: ServedApi, context: RequestContext, response: Any
    ) -> bytes:
        """Return the frame of a response. Raise CloseConnection if it cannot be encoded."""
        try:
            if context.accepts_chunks:
                needs_whole_frame = (
                    self.interceptors.are_present or self.cluster.throttles is not None
                )
                chunks = None if needs_whole_frame else context.session.following_chunks
                return encode_fetch_frame_appending_rest_if_long(
                    api, context.header, response, chunks
                )
            return encode_response_frame(api, context.header, response, context.session.slices)
        except ProtocolError as error:
            self.cluster.counters.internal_errors += 1
            if self.raise_errors:
                raise
            log.exception("response cannot be written", **_log_fields(context.header))
            raise CloseConnection("the response cannot be written") from error

    def _unsupported_version_response(self, header: RequestHeader, session: Session) -> bytes:
        """Return the response to an unsupported ApiVersions in version 0. Raise CloseConnection
        for all other APIs.
        """
        if header.api_key != ApiKey.API_VERSIONS:
            raise CloseConnection(
                unsupported_version_message(
                    header.api_key, header.api_version, self.cluster.release
                )
            )
        api = self.apis.find_api(ApiKey.API_VERSIONS, 0)
        assert api is not None
        if session.phase is _AUTHENTICATE:
            session.phase = AuthenticationPhase.FAILED
            response = api.error_response(None, ErrorCode.ILLEGAL_SASL_STATE, None)
            return encode_response_frame(api, header, response)
        has_range = self.cluster.facts.cluster.unsupported_version_returns_range
        versions = self.apis.advertised[ApiKey.API_VERSIONS] if has_range else None
        return encode_response_frame(api, header, unsupported_version_response(versions))

    def on_disconnect(self, session: Session, reason: str) -> None:
        """Note the end of a connection; the reason is empty if the client closed it."""
        for hook in self.interceptors.on_disconnect:
            hook(session, reason)
        self.cluster.end_share_session_on_disconnect(session.node_id, session)


class PendingExchange:
    """A response that is not complete yet, with everything needed to write it."""

    __slots__ = ("_dispatcher", "_exchange", "wait")

    def __init__(
        self, wait: PendingResponse[Any], dispatcher: Dispatcher, exchange: Exchange
    ) -> None:
        self.wait = wait
        self._dispatcher = dispatcher
        self._exchange = exchange

    def cancel(self) -> None:
        """Cancel the response, whose client is gone."""
        self.wait.cancel()

    def encode_frame_and_end_exchange(self, response: Any) -> bytes:
        """Return the frame of the complete response, and show both to the interceptors."""
        framed = self._dispatcher.encode_with_interceptors(self._exchange, response)
        for hook in self._dispatcher.interceptors.on_end:
            hook(self._exchange)
        return framed


def _unobserved_exchange(api: ServedApi, context: RequestContext) -> Exchange:
    """Return the exchange of a request that no interceptor has seen."""
    exchange = Exchange(context.session, context.header, b"", 0)
    exchange.api, exchange.context = api, context
    return exchange


def _log_fields(header: RequestHeader) -> dict[str, Any]:
    return {
        "api_key": header.api_key,
        "api_version": header.api_version,
        "correlation_id": header.correlation_id,
    }
