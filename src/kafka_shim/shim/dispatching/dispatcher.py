"""A frame's way to its response: cache, decoder, handler, encoder.

The only catch-all of the broker.
"""

import sys
from logging import DEBUG
from struct import Struct
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.requirement import OPEN_TO_ALL
from kafka_shim.protocol.api_versions import unsupported_version_message
from kafka_shim.protocol.codec.chunks import LONG_BYTES, flatten_byte_chunks
from kafka_shim.protocol.codec.runtime import check_tag_count
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import (
    RequestHeader,
    is_kafka_request,
    read_request_header,
)
from kafka_shim.shim.apis import ApiTable, ServedApi
from kafka_shim.shim.dispatching.interceptors import (
    QUOTAS,
    Exchange,
    FaultInterceptor,
    HistoryInterceptor,
    InterceptorChain,
    QuotaInterceptor,
    StorageNotifyingInterceptor,
    TraceInterceptor,
)
from kafka_shim.shim.dispatching.response_cache import ResponseCache
from kafka_shim.shim.errors import CloseConnection, RequestRejected
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.handlers.api_versions import unsupported_version_response
from kafka_shim.shim.observing import audit_log
from kafka_shim.shim.request.access import Access, AccessRecord
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase, Session, check_phase
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
_START = Struct(">hh")  # the API key and version


class Dispatcher:
    """Responds to the requests to a cluster.

    It has everything that is not the cluster's state: the served APIs, the response cache, injected
    faults, and the interceptors. `recorder`, `history` and `storage` are set by methods.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.apis = ApiTable(
            cluster.release,
            accepts_client_metrics=parse_client_telemetry_enabled(cluster.config.properties),
        )
        self._apis_by_frame_start: dict[bytes, ServedApi] = {}
        """Those that were requested already, by the key and version that a frame begins with."""
        self.interceptors = InterceptorChain(self._call_handler)
        self.faults = Faults(self._set_fault_interceptor)
        cluster.when_throttles_changed = self._set_quota_interceptor
        self._set_quota_interceptor()
        self.response_cache: ResponseCache | None = None
        self.recorder: TraceRecorder | None = None
        self.history: History | None = None
        self.storage: Storage | None = None
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

    def _set_quota_interceptor(self) -> None:
        self.interceptors.set_interceptor(
            QUOTAS, None if self.cluster.throttles is None else QuotaInterceptor(self.cluster)
        )

    def _set_fault_interceptor(self) -> None:
        self.interceptors.set_interceptor(
            "faults", FaultInterceptor(self.faults) if self.faults.by_id else None
        )

    def dispatch(self, frame: bytes, session: Session) -> "bytes | PendingExchange | NoResponse":
        """Return the response to a frame (with its size). Raise CloseConnection where Kafka just
        closes.

        A repeated response comes from the cache instead of the handler; for the interceptors it is
        a response like others.
        """
        hooks = self.interceptors
        for on_arrival in hooks.on_arrival:
            on_arrival(session)
        api = self._apis_by_frame_start.get(frame[:4]) or self._find_api(frame)
        is_cacheable = api is not None and api.is_cacheable and not hooks.need_handlers
        cache = self.response_cache if is_cacheable else None
        cached = None if cache is None else cache.find(frame, session)
        if cached is None:
            exchange = self._begin_exchange(frame, session, api)
        elif hooks.are_present:
            exchange = cached.exchange(frame, session)
        else:  # nobody sees the exchange, which would double the time
            cached.repeat_side_effects(session)
            self._finish_request(cached.context, cached.api)
            return cached.frame_for(frame)
        for hook in hooks.on_header:
            hook(exchange)
        try:
            if exchange.api is None:
                exchange.response_frame = self._unsupported_version_response(exchange)
                return exchange.response_frame
            if cached is None:
                self._decode(exchange)
            for hook in hooks.on_request:
                hook(exchange)
            try:
                if cached is None:
                    exchange.response = self._handle(exchange, is_cacheable=is_cacheable)
                else:
                    cached.repeat_side_effects(session)
            finally:
                for hook in hooks.on_handled:
                    hook(exchange)
            exchange.decisions = self._finish_request(exchange.context, exchange.api)
            response = exchange.response
            if isinstance(response, PendingResponse):
                return PendingExchange(response, self, exchange)
            if type(response) is NoResponse:  # asked of an enum, isinstance takes longer
                return response
            framed = self.encode(exchange, response)
            if cache is not None and cached is None:
                cache.add(exchange, framed)
            return framed
        finally:
            for hook in hooks.on_end:
                hook(exchange)
            exchange.decisions = ()

    def _begin_exchange(self, frame: bytes, session: Session, api: ServedApi | None) -> Exchange:
        """Return the exchange of a request. Raise CloseConnection if its header is unreadable, or
        has more tagged fields than Kafka accepts since 4.2.2; if it is not allowed in this phase of
        the connection, or is not a request.
        """
        try:
            header, body_at = read_request_header(frame)
            if header.unknown_tags and self.apis.request_items_are_limited:
                check_tag_count(len(header.unknown_tags))
        except ProtocolError as error:
            raise self._unreadable_error("request header", error, frame, session) from error
        if session.phase is not _READY or session.expires_at_ms is not None:
            self._check_authentication_phase(frame, header, session)
        if api is None and not is_kafka_request(header):
            raise CloseConnection(f"a frame of {len(frame)} bytes that is not a request")
        return Exchange(session, header, frame, body_at, api)

    def _unreadable_error(
        self,
        what: str,
        error: ProtocolError,
        frame: bytes,  # noqa: ARG002 - for recordings
        session: Session,  # noqa: ARG002 - for recordings
    ) -> CloseConnection:
        return CloseConnection(f"unreadable {what}: {error}")

    def _check_authentication_phase(
        self, frame: bytes, header: RequestHeader, session: Session
    ) -> None:
        check_phase(header, session, self.cluster, len(frame))

    def _find_api(self, frame: bytes) -> ServedApi | None:
        """Return the API of a frame; None if the release does not have it in this version."""
        if len(frame) < _START.size:
            return None
        api = self._resolve_api(*_START.unpack_from(frame))
        if api is not None:
            self._apis_by_frame_start[frame[:4]] = api
        return api

    def _resolve_api(self, key: int, version: int) -> ServedApi | None:
        return self.apis.find_api(key, version)

    def _decode(self, exchange: Exchange) -> None:
        """Decode the request, and create its context. Raise CloseConnection if it is unreadable."""
        api, session, header, cluster = (
            exchange.api,
            exchange.session,
            exchange.header,
            self.cluster,
        )
        try:
            exchange.request = request = api.decode_request(exchange.frame, exchange.body_at)
        except ProtocolError as error:
            what = f"{api.key.wire_name} request, version {api.version}"
            raise self._unreadable_error(what, error, exchange.frame, session) from error
        session.sent_apis |= 1 << header.api_key
        policy, node_id, facts = cluster.policy, session.node_id, cluster.facts
        access = Access(policy, node_id, session.actor)
        exchange.context = context = RequestContext(
            header, session, cluster, header.api_version, node_id, access, facts, request
        )
        hooks = self.interceptors
        if api.key is _FETCH and not hooks.are_present:
            context.accepts_chunks = session.following_chunks is not None
        if hooks.need_all_decisions:
            access.records_max = sys.maxsize

    def _handle(self, exchange: Exchange, *, is_cacheable: bool) -> Any:
        """Return the response of the handler or of an interceptor. Unless it can be cached, the
        request may have changed anything; otherwise only topics that it has created.
        """
        cluster = self.cluster
        if not is_cacheable:
            cluster.state_version.number += 1
            return self.interceptors.handle(exchange)
        counters = cluster.counters
        count = cluster.topics.epoch + counters.internal_errors
        response = self.interceptors.handle(exchange)
        if count != cluster.topics.epoch + counters.internal_errors:
            cluster.state_version.number += 1
        return response

    def _finish_request(
        self, context: RequestContext, api: ServedApi
    ) -> "list[AccessRecord] | tuple[()]":
        """Count a handled request, log its decisions, and return them."""
        self.cluster.counters.requests += 1
        access = context.access
        if not access.records:
            return ()
        if access.has_loggable_denials or audit_log.logger.isEnabledFor(DEBUG):
            audit_log.log_decisions(context, api.key)
        return access.records

    def encode(self, exchange: Exchange, response: Any) -> bytes:
        """Return the frame of a response, as interceptors have changed it. Raise CloseConnection if
        it cannot be encoded.
        """
        hooks, context = self.interceptors, exchange.context
        exchange.response = response
        for hook in hooks.on_response:
            hook(exchange)
        framed = exchange.cached_frame
        if framed is None:
            try:
                framed = self._encode_response(exchange)
            except ProtocolError as error:
                self.cluster.counters.internal_errors += 1
                if self.raise_errors:
                    raise
                log.exception("response cannot be written", **_log_fields(context.header))
                raise CloseConnection("the response cannot be written") from error
            if context.damage_frame is not None:
                framed = context.damage_frame(framed)
        exchange.response_frame = framed
        for hook in hooks.on_response_frame:
            hook(exchange)
        return framed

    def _encode_response(self, exchange: Exchange) -> bytes:
        """Return the frame of a response. Of a long Fetch response, return only the start, and
        append the rest to the session's `following_chunks`: records go from the log to the socket
        without being copied together.
        """
        api, number = exchange.api, exchange.header.correlation_id
        if not exchange.context.accepts_chunks:
            body: bytes = api.encode_response(exchange.response)
            return api.pack_response_start(api.response_start_bytes + len(body), number) + body  # type: ignore[no-any-return]
        chunks = api.encode_response_in_chunks(exchange.response)
        size = sum(map(len, chunks))
        start: bytes = api.pack_response_start(api.response_start_bytes + size, number)
        following = exchange.session.following_chunks
        if size < LONG_BYTES or following is None or self.interceptors.are_present:
            return b"".join((start, *flatten_byte_chunks(chunks)))
        following.extend(flatten_byte_chunks(chunks))
        return start

    def _call_handler(self, exchange: Exchange) -> Any:
        """Return the handler's response; a rejection or an internal error has the API's form."""
        api, request, context = exchange.api, exchange.request, exchange.context
        session = exchange.session
        if session.phase is _AUTHENTICATE and api.key is not ApiKey.SASL_AUTHENTICATE:
            context.is_rejected = True
            session.phase = AuthenticationPhase.FAILED
            return api.error_response(request, ErrorCode.ILLEGAL_SASL_STATE, None)
        try:
            response = api.handle(request, context)
        except RequestRejected as rejected:
            context.is_rejected = True
            return api.error_response(request, rejected.error, rejected.message)
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

    def _unsupported_version_response(self, exchange: Exchange) -> bytes:
        """Return the response to an unsupported ApiVersions in version 0. Raise CloseConnection
        for all other APIs.
        """
        header, session = exchange.header, exchange.session
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
        else:
            has_range = self.cluster.facts.cluster.unsupported_version_returns_range
            versions = self.apis.advertised[ApiKey.API_VERSIONS] if has_range else None
            response = unsupported_version_response(versions)
        body = api.encode_response(response)
        size = api.response_start_bytes + len(body)
        return api.pack_response_start(size, header.correlation_id) + body

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

    def finish(self, response: Any) -> bytes:
        """Return the frame of the complete response, and show both to the interceptors."""
        framed = self._dispatcher.encode(self._exchange, response)
        for hook in self._dispatcher.interceptors.on_end:
            hook(self._exchange)
        return framed


def _log_fields(header: RequestHeader) -> dict[str, Any]:
    return {
        "api_key": header.api_key,
        "api_version": header.api_version,
        "correlation_id": header.correlation_id,
    }
