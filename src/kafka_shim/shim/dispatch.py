"""A frame's way to its answer: header, codec, handler, codec. The only catch-all of the broker."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.model import Actor
from kafka_shim.authorizer.open_apis import OPEN_TO_ALL
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, is_request, read_request_header
from kafka_shim.shim.apis import ApiTable, ServedApi
from kafka_shim.shim.chunked_responses import frame_in_pieces, may_be_in_pieces
from kafka_shim.shim.errors import CloseConnection, RequestRejected
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.handlers.api_versions import refuse_version
from kafka_shim.shim.logs import Log
from kafka_shim.shim.observing import audit
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.request.before_login import check_phase
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.request_decoding import never, read
from kafka_shim.shim.response_cache import KEYS as LOOKING_KEYS, ResponseCache
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.settings.static_settings import takes_metrics
from kafka_shim.shim.throttling import count_request, throttled
from kafka_shim.shim.wait import NoResponse, Wait

if TYPE_CHECKING:
    from kafka_shim.shim.observing.history import History, Seen
    from kafka_shim.shim.observing.recorder import Recorder
    from kafka_shim.shim.request.time_slices import TimeSlices
    from kafka_shim.shim.storage.storage import Storage

log = Log("shim.dispatch")

_READY = Phase.READY  # by itself for the reason that NO_ERROR is
_AUTHENTICATE = Phase.AUTHENTICATE


class Dispatcher:
    """Answers the requests to a cluster.

    It has everything that is not the cluster's state: the served APIs, injected faults, and the
    recorders of requests.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.apis = ApiTable(
            cluster.release, takes_metrics=takes_metrics(cluster.config.properties)
        )
        self.faults = Faults()
        self.recorder: Recorder | None = None
        self.history: History | None = None  # what the control API shows
        self.kept: ResponseCache | None = None
        self.storage: Storage | None = None
        self.may_take_turns: Callable[[], bool] = never
        self.raise_errors = False  # tests want internal errors to surface

    def dispatch(self, frame: bytes, session: Session) -> "bytes | Pending | NoResponse":
        """Answer one frame (without its size).

        Raises CloseConnection where Kafka just closes, TakesLong if the request needs turns.
        """
        slices = session.slices
        if self.storage is not None:
            self.storage.is_asked = True
        if slices is not None:
            with self.cluster.changes.noted():  # others are answered between the turns
                return self._dispatch_anew(frame, session, slices)
        if self.kept is not None and frame[:2] in LOOKING_KEYS and self.cluster.throttles is None:
            kept = self.kept.find(frame, session)
            if kept is not None and not self.faults.by_id:
                return self.kept.give(kept, frame, session, self.recorder, self.history)
        return self._dispatch_anew(frame, session, None)

    def disconnected(self, session: Session, reason: str) -> None:
        """Record the end of a connection; the reason is empty if the client closed it."""
        if self.recorder is not None:
            self.recorder.closed(session, reason)
        self.cluster.disconnected(session.node_id, session)

    def _dispatch_anew(
        self, frame: bytes, session: Session, slices: "TimeSlices[Any] | None"
    ) -> "bytes | Pending | NoResponse":
        try:
            header, body_at = (
                read_request_header(frame)
                if slices is None
                else slices.offload(read_request_header, frame)
            )
        except ProtocolError as error:
            raise CloseConnection(f"unreadable request header: {error}") from error
        if session.phase is not _READY or session.expires_at_ms is not None:
            check_phase(header, session, self.cluster, len(frame))
        api = self.apis.by_start.get(frame[:4])
        if api is None:
            api = self.apis.find(header.api_key, header.api_version)
            if api is None and not is_request(header):
                raise CloseConnection(f"a frame of {len(frame)} bytes that is not a request")
        recorder = self.recorder
        if recorder is None:
            return self._dispatch(frame, header, body_at, api, session)
        session.sequence = sequence = recorder.request(session, header, frame)
        session.decided = ()
        responded = None
        try:
            response = self._dispatch(frame, header, body_at, api, session)
            if type(response) is bytes:
                responded = response[4:]
        finally:
            recorder.responded(session, sequence, header, session.decided, responded)
            session.decided = ()
        return response

    def _dispatch(
        self,
        frame: bytes,
        header: RequestHeader,
        body_at: int,
        api: ServedApi | None,
        session: Session,
    ) -> "bytes | Pending | NoResponse":
        cluster = self.cluster
        if api is None:
            return self._version_refused(header, session)
        request = read(api, frame, body_at, session.slices, self.may_take_turns)
        context = self._context(header, session)
        as_of = self._as_of(api, session)
        seen = None
        if self.history is not None:
            seen = self.history.request(session, header, frame, cluster.clock.now_us())
        if self.faults.by_id or seen is not None or cluster.throttles is not None:
            response = self._respond_watched(api, request, context, (frame, body_at), seen)
        else:
            response = self._response(api, request, context)
        cluster.counters.requests += 1
        if context.access.records:
            if self.recorder is not None:
                session.decided = context.access.records
            audit.write(context, api.key)
        if isinstance(response, Wait):
            return Pending(response, self, api, context, seen)
        if type(response) is NoResponse:  # asked of an enum, isinstance takes longer
            return response
        framed = self.respond(api, context, response, seen)
        kept = self.kept
        if as_of is not None and kept is not None and (kept.asked or as_of != self._made()):
            self._keep(as_of, request, context, response, framed)
        return framed

    def _keep(
        self, as_of: int, request: Any, context: RequestContext, response: Any, framed: bytes
    ) -> None:
        """Cache a response, unless it created a topic or failed."""
        if as_of != self._made():
            self.cluster.changes.note()
        elif self.kept is not None:
            self.kept.keep(request, context, response, framed)

    def _made(self) -> int:
        """Return a number that grows with each new or deleted topic and each internal error."""
        return self.cluster.topics.epoch + self.cluster.counters.internal_errors

    def _context(self, header: RequestHeader, session: Session) -> RequestContext:
        cluster, node_id = self.cluster, session.node_id
        actor = Actor(session.principal, session.host)
        access = Access(cluster.policy, node_id, actor, slices=session.slices)
        if self.recorder is not None or self.history is not None:
            access.records_max = sys.maxsize
        context = RequestContext(
            header, session, cluster, header.api_version, node_id, access, cluster.facts
        )
        if session.pieces is not None and header.api_key == ApiKey.FETCH:
            context.takes_pieces = may_be_in_pieces(self, context)
        return context

    def _as_of(self, api: ServedApi, session: Session) -> int | None:
        """Return what must not change if the response to a read-only request may be cached; None if
        it may not.
        """
        cluster = self.cluster
        if not api.looks or self.faults.by_id:
            cluster.changes.note()
            return None
        if self.kept is None or session.slices is not None or cluster.throttles is not None:
            return None
        return self._made()

    def _respond_watched(
        self,
        api: ServedApi,
        request: Any,
        context: RequestContext,
        body: tuple[bytes, int],
        seen: "Seen | None",
    ) -> Any:
        """Answer with quotas, faults or the history."""
        cluster = self.cluster
        began_us = 0 if cluster.throttles is None else cluster.clock.now_us()
        response = self._respond_with_faults(api, request, context, body, seen)
        if cluster.throttles is not None:
            busy_us = cluster.clock.now_us() - began_us
            count_request(api, context, len(body[0]), busy_us)
        return response

    def _respond_with_faults(
        self,
        api: ServedApi,
        request: Any,
        context: RequestContext,
        body: tuple[bytes, int],
        seen: "Seen | None",
    ) -> Any:
        """Return the response, or what matching faults make of it."""
        try:
            if not self.faults.by_id:
                return self._response(api, request, context)
            faults = self.faults.striking(api.key, context, *body)
            if not faults:
                return self._response(api, request, context)
            if seen is not None:
                seen.faults = [fault.fault_id for fault in faults]
            from kafka_shim.shim.faults.striking import response_with_faults  # noqa: PLC0415 - faults are rare

            return response_with_faults(faults, api, request, context, self._response)
        finally:
            if seen is not None and self.history is not None:
                self.history.decided(seen, context.access.records)

    def respond(
        self, api: ServedApi, context: RequestContext, response: Any, seen: "Seen | None"
    ) -> bytes:
        """Return the frame of a response, after the history and faults have processed it."""
        if self.cluster.throttles is not None:
            response = throttled(api, context, response)
        if seen is not None and self.history is not None:
            self.history.responded(seen, response, self.cluster.clock.now_us())
        try:
            slices = context.session.slices
            if context.takes_pieces:
                frame = frame_in_pieces(self, api, context, response)
            elif slices is None:
                frame = _frame(api, context.header, response)
            else:
                frame = slices.offload(_frame, api, context.header, response)
        except ProtocolError as error:
            self.cluster.counters.internal_errors += 1
            if self.raise_errors:
                raise
            log.exception("response cannot be written", **_where(context.header))
            raise CloseConnection("the response cannot be written") from error
        if context.spoil is not None:
            frame = context.spoil(frame)
        if seen is not None and self.history is not None:
            self.history.framed(seen, frame)
        return frame

    def _response(self, api: ServedApi, request: Any, context: RequestContext) -> Any:
        """Return the handler's response; a refusal or an internal error has the API's form."""
        session = context.session
        if session.phase is _AUTHENTICATE and api.key is not ApiKey.SASL_AUTHENTICATE:
            session.phase = Phase.FAILED
            return api.error_response(request, ErrorCode.ILLEGAL_SASL_STATE, None)
        try:
            response = api.handle(request, context)
            if self.storage is not None:
                self.storage.note(api.key)
        except RequestRejected as refusal:
            return context.offload(api.error_response, request, refusal.error, refusal.message)
        except CloseConnection:
            raise
        except Exception:
            self.cluster.counters.internal_errors += 1
            if self.raise_errors:
                raise
            log.exception("handler failed", **_where(context.header))
            return api.error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if not context.access.asked and api.key not in OPEN_TO_ALL:
            self.cluster.counters.internal_errors += 1
            log.error("handler performed no authorization check", **_where(context.header))
            return api.error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return response

    def _version_refused(self, header: RequestHeader, session: Session) -> bytes:
        """Answer an unsupported ApiVersions in version 0; close for all other APIs."""
        if header.api_key != ApiKey.API_VERSIONS:
            raise CloseConnection(
                f"api key {header.api_key} version {header.api_version} not served"
            )
        api = self.apis.find(ApiKey.API_VERSIONS, 0)
        assert api is not None
        if session.phase is _AUTHENTICATE:
            session.phase = Phase.FAILED
            return _frame(api, header, api.error_response(None, ErrorCode.ILLEGAL_SASL_STATE, None))
        is_told = self.cluster.facts.cluster.refused_version_tells_range
        known = self.apis.advertised[ApiKey.API_VERSIONS] if is_told else None
        return _frame(api, header, refuse_version(known))


class Pending:
    """A response that is not complete yet, with everything needed to write it."""

    __slots__ = ("_api", "_context", "_dispatcher", "_seen", "_sequence", "wait")

    def __init__(
        self,
        wait: Wait[Any],
        dispatcher: Dispatcher,
        api: ServedApi,
        context: RequestContext,
        seen: "Seen | None",
    ) -> None:
        self.wait = wait
        self._dispatcher = dispatcher
        self._api = api
        self._context = context
        self._seen = seen
        self._sequence = context.session.sequence

    def cancel(self) -> None:
        """Cancel the response, whose client is gone."""
        self.wait.cancel()

    def frame(self, response: Any) -> bytes:
        context = self._context
        frame = self._dispatcher.respond(self._api, context, response, self._seen)
        recorder = self._dispatcher.recorder
        if recorder is not None:
            recorder.responded(context.session, self._sequence, context.header, (), frame[4:])
        return frame


def _frame(api: ServedApi, header: RequestHeader, response: Any) -> bytes:
    body = api.write(response)
    return api.pack_start(api.start_bytes + len(body), header.correlation_id) + body


def _where(header: RequestHeader) -> dict[str, Any]:
    return {
        "api_key": header.api_key,
        "api_version": header.api_version,
        "correlation_id": header.correlation_id,
    }
