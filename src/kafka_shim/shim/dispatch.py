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
from kafka_shim.shim.errors import CloseConnection, Refused
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.handlers.api_versions import refuse_version
from kafka_shim.shim.kept_answers import KEYS as LOOKING_KEYS, KeptAnswers
from kafka_shim.shim.logs import Log
from kafka_shim.shim.observing import audit
from kafka_shim.shim.pieces import frame_in_pieces, may_be_in_pieces
from kafka_shim.shim.reading import never, read
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.request.before_login import check_phase
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.static_settings import takes_metrics
from kafka_shim.shim.throttling import count_request, throttled
from kafka_shim.shim.wait import NoAnswer, Wait

if TYPE_CHECKING:
    from kafka_shim.shim.observing.history import History, Seen
    from kafka_shim.shim.observing.recorder import Recorder
    from kafka_shim.shim.request.turns import Turns
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
        self.kept: KeptAnswers | None = None
        self.storage: Storage | None = None
        self.may_take_turns: Callable[[], bool] = never
        self.raise_errors = False  # tests want internal errors to surface

    def dispatch(self, frame: bytes, session: Session) -> "bytes | Pending | NoAnswer":
        """Answer one frame (without its size).

        Raises CloseConnection where Kafka just closes, TakesLong if the request needs turns.
        """
        turns = session.turns
        if self.storage is not None:
            self.storage.is_asked = True
        if turns is not None:
            with self.cluster.changes.noted():  # others are answered between the turns
                return self._dispatch_anew(frame, session, turns)
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
        self, frame: bytes, session: Session, turns: "Turns[Any] | None"
    ) -> "bytes | Pending | NoAnswer":
        try:
            header, body_at = (
                read_request_header(frame)
                if turns is None
                else turns.beside(read_request_header, frame)
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
        answered = None
        try:
            answer = self._dispatch(frame, header, body_at, api, session)
            if type(answer) is bytes:
                answered = answer[4:]
        finally:
            recorder.answered(session, sequence, header, session.decided, answered)
            session.decided = ()
        return answer

    def _dispatch(
        self,
        frame: bytes,
        header: RequestHeader,
        body_at: int,
        api: ServedApi | None,
        session: Session,
    ) -> "bytes | Pending | NoAnswer":
        cluster = self.cluster
        if api is None:
            return self._version_refused(header, session)
        request = read(api, frame, body_at, session.turns, self.may_take_turns)
        context = self._context(header, session)
        as_of = self._as_of(api, session)
        seen = None
        if self.history is not None:
            seen = self.history.request(session, header, frame, cluster.clock.now_us())
        if self.faults.by_id or seen is not None or cluster.throttles is not None:
            answer = self._answer_watched(api, request, context, (frame, body_at), seen)
        else:
            answer = self._answer(api, request, context)
        cluster.counters.requests += 1
        if context.access.records:
            if self.recorder is not None:
                session.decided = context.access.records
            audit.write(context, api.key)
        if isinstance(answer, Wait):
            return Pending(answer, self, api, context, seen)
        if type(answer) is NoAnswer:  # asked of an enum, isinstance takes longer
            return answer
        framed = self.respond(api, context, answer, seen)
        kept = self.kept
        if as_of is not None and kept is not None and (kept.asked or as_of != self._made()):
            self._keep(as_of, request, context, answer, framed)
        return framed

    def _keep(
        self, as_of: int, request: Any, context: RequestContext, answer: Any, framed: bytes
    ) -> None:
        """Cache a response, unless it created a topic or failed."""
        if as_of != self._made():
            self.cluster.changes.note()
        elif self.kept is not None:
            self.kept.keep(request, context, answer, framed)

    def _made(self) -> int:
        """Return a number that grows with each new or deleted topic and each internal error."""
        return self.cluster.topics.epoch + self.cluster.counters.internal_errors

    def _context(self, header: RequestHeader, session: Session) -> RequestContext:
        cluster, node_id = self.cluster, session.node_id
        actor = Actor(session.principal, session.host)
        access = Access(cluster.policy, node_id, actor, turns=session.turns)
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
        if self.kept is None or session.turns is not None or cluster.throttles is not None:
            return None
        return self._made()

    def _answer_watched(
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
        answer = self._answer_in_spite_of_faults(api, request, context, body, seen)
        if cluster.throttles is not None:
            busy_us = cluster.clock.now_us() - began_us
            count_request(api, context, len(body[0]), busy_us)
        return answer

    def _answer_in_spite_of_faults(
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
                return self._answer(api, request, context)
            faults = self.faults.striking(api.key, context, *body)
            if not faults:
                return self._answer(api, request, context)
            if seen is not None:
                seen.faults = [fault.fault_id for fault in faults]
            from kafka_shim.shim.faults.striking import answer_struck  # noqa: PLC0415 - faults are rare

            return answer_struck(faults, api, request, context, self._answer)
        finally:
            if seen is not None and self.history is not None:
                self.history.decided(seen, context.access.records)

    def respond(
        self, api: ServedApi, context: RequestContext, answer: Any, seen: "Seen | None"
    ) -> bytes:
        """Return the frame of a response, after the history and faults have processed it."""
        if self.cluster.throttles is not None:
            answer = throttled(api, context, answer)
        if seen is not None and self.history is not None:
            self.history.answered(seen, answer, self.cluster.clock.now_us())
        try:
            turns = context.session.turns
            if context.takes_pieces:
                frame = frame_in_pieces(self, api, context, answer)
            elif turns is None:
                frame = _frame(api, context.header, answer)
            else:
                frame = turns.beside(_frame, api, context.header, answer)
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

    def _answer(self, api: ServedApi, request: Any, context: RequestContext) -> Any:
        """Return the handler's response; a refusal or an internal error has the API's form."""
        session = context.session
        if session.phase is _AUTHENTICATE and api.key is not ApiKey.SASL_AUTHENTICATE:
            session.phase = Phase.FAILED
            return api.refuse(request, ErrorCode.ILLEGAL_SASL_STATE, None)
        try:
            answer = api.handle(request, context)
            if self.storage is not None:
                self.storage.note(api.key)
        except Refused as refusal:
            return context.beside(api.refuse, request, refusal.error, refusal.message)
        except CloseConnection:
            raise
        except Exception:
            self.cluster.counters.internal_errors += 1
            if self.raise_errors:
                raise
            log.exception("handler failed", **_where(context.header))
            return api.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if not context.access.asked and api.key not in OPEN_TO_ALL:
            self.cluster.counters.internal_errors += 1
            log.error("handler performed no authorization check", **_where(context.header))
            return api.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return answer

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
            return _frame(api, header, api.refuse(None, ErrorCode.ILLEGAL_SASL_STATE, None))
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

    def frame(self, answer: Any) -> bytes:
        context = self._context
        frame = self._dispatcher.respond(self._api, context, answer, self._seen)
        recorder = self._dispatcher.recorder
        if recorder is not None:
            recorder.answered(context.session, self._sequence, context.header, (), frame[4:])
        return frame


def _frame(api: ServedApi, header: RequestHeader, answer: Any) -> bytes:
    body = api.write(answer)
    return api.pack_start(api.start_bytes + len(body), header.correlation_id) + body


def _where(header: RequestHeader) -> dict[str, Any]:
    return {
        "api_key": header.api_key,
        "api_version": header.api_version,
        "correlation_id": header.correlation_id,
    }
