"""Authenticate a connection: start an exchange, feed it, update the session after success.

Shared by SaslAuthenticate and by the raw frames that follow SaslHandshake version 0.
"""

from typing import TYPE_CHECKING, cast

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.sasl.mechanism import BEARER_REFUSAL, SaslExchange, SaslFailure, SaslReply
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password
from kafka_shim.shim.state.authentications import NAME_MAX, claimed_user_name
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.text.logs import Log

if TYPE_CHECKING:  # a mechanism is imported with the first authentication by it
    from kafka_shim.shim.sasl.scram import ScramAccount

log = Log("shim.sasl")

_FAILED_AUTHENTICATION_DELAY = "connection.failed.authentication.delay.ms"
_SCRAM_MECHANISMS = {
    mechanism.wire_name: mechanism
    for mechanism in ScramMechanism
    if mechanism is not ScramMechanism.UNKNOWN
}


def failed_authentication_delay_ms(cluster: Cluster, node_id: int) -> int:
    """Return the delay of the response to a failed authentication in ms; 0 before KIP-306."""
    return int(cluster.configs.effective_broker_value(_FAILED_AUTHENTICATION_DELAY, node_id) or 0)


def begin_sasl_exchange(
    mechanism: str, session: Session, cluster: Cluster, next_phase: AuthenticationPhase
) -> bool:
    """Start an exchange on this connection. Record the failure and return False if the mechanism
    is not enabled.
    """
    session.claimed_name = None
    mechanisms = cluster.mechanisms_by_listener[session.listener.name]
    if mechanism not in mechanisms:
        enabled = ", ".join(sorted(mechanisms))
        error = f"the mechanism is not enabled; enabled are {enabled}"
        _record_authentication(session, cluster, mechanism[:NAME_MAX], error)
        return False
    session.mechanism = mechanism
    session.sasl = new_sasl_exchange(mechanism, session, cluster)
    session.phase = next_phase
    return True


def new_sasl_exchange(mechanism: str, session: Session, cluster: Cluster) -> SaslExchange:
    """Return an exchange of a mechanism with the users of the session's listener."""
    if mechanism == "OAUTHBEARER":
        from kafka_shim.shim.sasl.oauthbearer import BearerExchange  # noqa: PLC0415 - see above

        validator = cluster.token_validators[session.listener.name]
        return BearerExchange(validator, cluster.clock.now_ms)
    if mechanism in _SCRAM_MECHANISMS:
        return _new_scram_exchange(_SCRAM_MECHANISMS[mechanism], session.listener.name, cluster)
    from kafka_shim.shim.sasl.plain import PlainExchange  # noqa: PLC0415 - see above

    drops = cluster.facts.users.plain_ignores_nuls_after_password
    passwords = cluster.users.passwords_of_listener(session.listener.name)
    return PlainExchange(passwords, drops_ending_nuls=drops)


def _new_scram_exchange(kind: ScramMechanism, listener: str, cluster: Cluster) -> SaslExchange:
    from kafka_shim.shim.sasl.scram import ScramAccount, ScramExchange  # noqa: PLC0415 - see above

    def account(name: str, by_token: bool) -> ScramAccount | None:
        if by_token:
            return _delegation_token_account(kind, name, cluster)
        credential = cluster.users.scram_credential(kind, name, listener)
        return None if credential is None else ScramAccount(credential, f"User:{name}")

    nonce_check = cluster.facts.users.scram_nonce_check
    return ScramExchange(kind, account, cluster.secrets, nonce_check)


def _delegation_token_account(
    kind: ScramMechanism, token_id: str, cluster: Cluster
) -> "ScramAccount | None":
    """Return the owner of a delegation token, which is the principal of its authentication
    (KIP-48).
    """
    token = cluster.tokens.find_unexpired(token_id)
    if token is None:
        return None
    from kafka_shim.shim.sasl.scram import ScramAccount  # noqa: PLC0415 - see above

    credential = credential_of_password(kind, token.password, cluster.secrets.randbytes(24))
    return ScramAccount(credential, token.owner, token_id, token.expires_ms)


def process_sasl_message(message: bytes, session: Session, cluster: Cluster) -> SaslReply:
    """Process a message of the exchange, and record its outcome.

    On success, set the session's principal. Raise SaslFailure if authentication failed.
    """
    exchange = cast("SaslExchange", session.sasl)
    mechanism = str(session.mechanism)
    if session.claimed_name is None:
        session.claimed_name = claimed_user_name(mechanism, message)
    try:
        step = exchange.respond(message)
        if step.principal is not None:
            _authenticate_session(step, step.principal, session, cluster)
    except SaslFailure as failure:
        cluster.counters.failed_logins += 1
        log.info(
            "authentication failed",
            mechanism=session.mechanism,
            listener=session.listener.name,
            host=session.host,
            reason=failure.reason,
        )
        if str(failure) != BEARER_REFUSAL:  # which was recorded with its reason
            _record_authentication(session, cluster, mechanism, str(failure))
        raise
    if step.principal is not None:
        session.claimed_name = step.principal.removeprefix("User:")
        _record_authentication(session, cluster, mechanism, None)
    elif step.rejection_reason is not None:
        _record_authentication(session, cluster, mechanism, step.rejection_reason)
    return step


def _record_authentication(
    session: Session, cluster: Cluster, mechanism: str, error: str | None
) -> None:
    cluster.authentications.add(
        cluster.clock.now_ms(),
        listener=session.listener.name,
        host=session.host,
        mechanism=mechanism,
        user=session.claimed_name,
        error=error,
    )


def _authenticate_session(
    step: SaslReply, principal: str, session: Session, cluster: Cluster
) -> None:
    """Set the session's principal and expiry.

    Raise SaslFailure if a re-authentication has another principal (KIP-368).
    """
    if session.is_authenticated and session.principal != principal:
        raise SaslFailure("authentication failed: a connection cannot change its principal")
    now_ms = cluster.clock.now_ms()
    ends = [step.expires_at_ms] if step.expires_at_ms is not None else []
    if cluster.reauthentication_ms > 0:
        ends.append(now_ms + cluster.reauthentication_ms)
    elif not cluster.facts.users.sessions_end_with_their_token:
        ends.clear()
    session.expires_at_ms = min(ends, default=None)
    session.principal = principal
    session.is_authenticated = True
    session.phase = AuthenticationPhase.READY
    session.token_id = step.token_id
    session.sasl = None


def process_raw_sasl_message(frame: bytes, session: Session, cluster: Cluster) -> bytes:
    """Process a raw token and return one; a failure closes, since there is no error field."""
    cluster.state_version.count_possible_change()
    try:
        step = process_sasl_message(frame, session, cluster)
    except SaslFailure as failure:
        session.phase = AuthenticationPhase.FAILED
        raise CloseConnection(str(failure)) from failure
    return len(step.message).to_bytes(4, "big") + step.message
