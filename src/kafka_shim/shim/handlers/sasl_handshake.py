"""17 SaslHandshake, versions 0-1. Chooses the mechanism; later it gets ILLEGAL_SASL_STATE (34).

A mechanism that is not enabled gets UNSUPPORTED_SASL_MECHANISM (33) with the enabled ones; since
1.0 the connection is then closed. DEVIATION: GSSAPI (Kerberos) cannot be enabled.

After version 0 the client sends raw tokens, after version 1 SaslAuthenticate requests (KIP-152). On
a connection whose session has a lifetime it begins a re-authentication (KIP-368), at most once a
second. A re-authentication must use the same mechanism: with another enabled one, the next request
closes the connection; with one that is not enabled, the connection is closed immediately.
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common import sasl_authentication
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase

_RENEWAL_PAUSE_MS = 1000
_BEFORE = frozenset({AuthenticationPhase.HANDSHAKE, AuthenticationPhase.MECHANISM})


def handle(request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    session = context.session
    mechanisms = list(context.cluster.mechanisms_by_listener[session.listener.name])
    if _may_reauthenticate(context):
        return _begin_reauthentication(request, context)
    if session.phase not in _BEFORE:
        listed_mechanisms = (
            mechanisms if context.facts.users.late_handshake_lists_mechanisms else []
        )
        return SaslHandshakeResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=listed_mechanisms
        )
    if not sasl_authentication.begin_sasl_exchange(
        request.mechanism, session, context.cluster, _next_phase(context)
    ):
        if context.facts.users.unknown_sasl_mechanism_closes_connection:
            session.phase = AuthenticationPhase.FAILED
        return SaslHandshakeResponse(
            error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=mechanisms
        )
    return SaslHandshakeResponse(mechanisms=mechanisms)


def _next_phase(context: RequestContext) -> AuthenticationPhase:
    return AuthenticationPhase.TOKENS if context.version == 0 else AuthenticationPhase.AUTHENTICATE


def _may_reauthenticate(context: RequestContext) -> bool:
    session = context.session
    if session.phase is not AuthenticationPhase.READY or session.expires_at_ms is None:
        return False
    last_ms = session.renewed_at_ms
    return last_ms is None or context.cluster.clock.now_ms() - last_ms >= _RENEWAL_PAUSE_MS


def _begin_reauthentication(
    request: SaslHandshakeRequest, context: RequestContext
) -> SaslHandshakeResponse:
    session, cluster = context.session, context.cluster
    session.renewed_at_ms = cluster.clock.now_ms()
    mechanisms = cluster.mechanisms_by_listener[session.listener.name]
    if request.mechanism not in mechanisms:
        raise CloseConnection(f"re-authentication with `{request.mechanism}`, which is not enabled")
    if request.mechanism == session.mechanism:
        sasl_authentication.begin_sasl_exchange(
            request.mechanism, session, cluster, _next_phase(context)
        )
    else:
        session.phase = AuthenticationPhase.MECHANISM_CHANGED
    return SaslHandshakeResponse(mechanisms=list(mechanisms))


error_response = mirroring_error_builder(SaslHandshakeResponse)
