"""A frame's way to its answer: header, codec, handler, codec. The only catch-all of the broker."""

from struct import Struct
from typing import Any

from authorizer.model import Actor
from authorizer.open_apis import OPEN_TO_ALL
from protocol.enums import ApiKey
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError
from protocol.headers import RequestHeader, read_request_header
from shim import audit
from shim.access import Access
from shim.apis import ServedApi
from shim.context import RequestContext
from shim.errors import CloseConnection, Refused
from shim.handlers.api_versions import refuse_version
from shim.logs import Log
from shim.session import Phase, Session
from shim.state.cluster import Cluster
from shim.wait import NoAnswer, Wait

log = Log("shim.dispatch")


class Pending:
    """An answer still to come, with all that is needed to write it then."""

    __slots__ = ("_api", "_context", "_sequence", "wait")

    def __init__(
        self, wait: Wait[Any], api: ServedApi, context: RequestContext, sequence: int
    ) -> None:
        self.wait = wait
        self._api = api
        self._context = context
        self._sequence = sequence

    def frame(self, answer: Any) -> bytes:
        context = self._context
        frame = _respond(self._api, context, answer)
        recorder = context.cluster.recorder
        if recorder is not None:
            recorder.answered(context.session, self._sequence, context.header, (), frame[4:])
        return frame


_START = Struct(">ii")  # the size of a frame, and its correlation id
_READY = Phase.READY  # by itself for the reason that NO_ERROR is
BEFORE_LOGIN = {
    Phase.HANDSHAKE: frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}),
    Phase.TOKENS: frozenset[ApiKey](),
    Phase.AUTHENTICATE: frozenset({ApiKey.SASL_AUTHENTICATE}),
    Phase.FAILED: frozenset[ApiKey](),
}


def dispatch(frame: bytes, session: Session, cluster: Cluster) -> bytes | Pending | NoAnswer:
    """Answer one frame (without its size). Raises CloseConnection where Kafka just closes."""
    try:
        header, body_at = read_request_header(frame)
    except ProtocolError as error:
        raise CloseConnection(f"unreadable request header: {error}") from error
    recorder = cluster.recorder
    if recorder is None:
        return _dispatch(frame, header, body_at, session, cluster)
    session.sequence = sequence = recorder.request(session, header, frame)
    session.decided = ()
    answered = None
    try:
        answer = _dispatch(frame, header, body_at, session, cluster)
        if type(answer) is bytes:
            answered = answer[4:]
    finally:
        recorder.answered(session, sequence, header, session.decided, answered)
    return answer


def _dispatch(
    frame: bytes, header: RequestHeader, body_at: int, session: Session, cluster: Cluster
) -> bytes | Pending | NoAnswer:
    api = cluster.apis.find(header.api_key, header.api_version)
    if session.phase is not _READY or session.expires_at_ms is not None:
        _check_phase(header.api_key, session, cluster)
    if api is None:
        api = _fallback(header, cluster)
        return _frame(api, header, refuse_version(cluster))
    try:
        request = api.read(frame, body_at)
    except ProtocolError as error:
        raise CloseConnection(
            f"unreadable {api.key.wire_name} request, version {header.api_version}: {error}"
        ) from error
    access = Access(cluster.policy, session.node_id, Actor(session.principal, session.host))
    context = RequestContext(header, session, cluster, header.api_version, session.node_id, access)
    if cluster.history is not None:
        context.seen = cluster.history.request(session, header, frame, cluster.clock.now_us())
    if cluster.faults.by_id or cluster.history is not None:
        answer = _answer_in_spite_of_faults(api, request, context, frame, body_at)
    else:
        answer = _answer(api, request, context)
    cluster.counters.requests += 1
    if context.access.records:
        session.decided = context.access.records
        audit.write(context, api.key)
    if isinstance(answer, Wait):
        return Pending(answer, api, context, session.sequence)
    if type(answer) is NoAnswer:  # asked of an enum, isinstance takes longer
        return answer
    return _respond(api, context, answer)


def _answer_in_spite_of_faults(
    api: ServedApi, request: Any, context: RequestContext, frame: bytes, body_at: int
) -> Any:
    """The answer, if no fault on purpose is about this request; else what the faults make of it."""
    cluster = context.cluster
    try:
        if not cluster.faults.by_id:
            return _answer(api, request, context)
        faults = cluster.faults.striking(api.key, context, frame, body_at)
        if not faults:
            return _answer(api, request, context)
        if context.seen is not None:
            context.seen.faults = [fault.fault_id for fault in faults]
        from shim.faults.striking import answer_struck  # noqa: PLC0415 - faults are rare

        return answer_struck(faults, api, request, context, _answer)
    finally:
        if context.seen is not None and cluster.history is not None:
            cluster.history.decided(context.seen, context.access.records)


def _respond(api: ServedApi, context: RequestContext, answer: Any) -> bytes:
    """The frame of an answer; noted in the history, damaged if a fault says so."""
    history = context.cluster.history
    if history is not None and context.seen is not None:
        history.answered(context.seen, answer)
    try:
        frame = _frame(api, context.header, answer)
    except ProtocolError as fault:
        context.cluster.counters.faults += 1
        if context.cluster.raise_faults:
            raise
        log.exception("answer cannot be written", **_where(context.header))
        raise CloseConnection("an answer of ours cannot be written") from fault
    return frame if context.spoil is None else context.spoil(frame)


def _answer(api: ServedApi, request: Any, context: RequestContext) -> Any:
    """The handler's answer; a refusal or a fault of ours in the shape of the API."""
    try:
        answer = api.handle(request, context)
    except Refused as refusal:
        return api.refuse(request, refusal.error, refusal.message)
    except CloseConnection:
        raise
    except Exception:
        context.cluster.counters.faults += 1
        if context.cluster.raise_faults:
            raise
        log.exception("handler failed", **_where(context.header))
        return api.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    if not context.access.asked and api.key not in OPEN_TO_ALL:
        context.cluster.counters.faults += 1
        log.error("handler asked for no access", **_where(context.header))
        return api.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return answer


def _check_phase(api_key: int, session: Session, cluster: Cluster) -> None:
    """Before a log-in only what leads to it; after its lifetime only another one (KIP-368)."""
    if session.phase is not _READY:
        if api_key not in BEFORE_LOGIN[session.phase]:
            raise CloseConnection(f"api key {api_key} before authentication")
        return
    expires_at_ms = session.expires_at_ms
    if expires_at_ms is None or api_key == ApiKey.SASL_HANDSHAKE:
        return
    if cluster.clock.now_ms() > expires_at_ms:
        raise CloseConnection("the log-in has expired and was not renewed")


def _fallback(header: RequestHeader, cluster: Cluster) -> ServedApi:
    """ApiVersions answers every version, in the layout of version 0; all else closes."""
    if header.api_key != ApiKey.API_VERSIONS:
        raise CloseConnection(f"api key {header.api_key} version {header.api_version} not served")
    api = cluster.apis.find(ApiKey.API_VERSIONS, 0)
    assert api is not None
    return api


def _frame(api: ServedApi, header: RequestHeader, answer: Any) -> bytes:
    body = api.write(answer)
    tags = api.response_tags
    return _START.pack(4 + len(tags) + len(body), header.correlation_id) + tags + body


def _where(header: RequestHeader) -> dict[str, Any]:
    return {
        "api_key": header.api_key,
        "api_version": header.api_version,
        "correlation_id": header.correlation_id,
    }
