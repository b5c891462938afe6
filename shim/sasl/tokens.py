"""Raw SASL frames after SaslHandshake version 0, and the step shared with SaslAuthenticate."""

from typing import cast

import structlog

from shim.errors import CloseConnection
from shim.sasl.mechanism import SaslExchange, SaslFailure, SaslStep
from shim.sasl.plain import PlainExchange
from shim.session import Phase, Session
from shim.state.cluster import Cluster

log = structlog.get_logger("shim.sasl")


def begin(mechanism: str, session: Session, cluster: Cluster, next_phase: Phase) -> bool:
    """Start an exchange on this connection; False if the mechanism is not enabled."""
    if mechanism not in cluster.config.mechanisms:
        return False
    session.mechanism = mechanism
    session.sasl = PlainExchange(cluster.users)
    session.phase = next_phase
    return True


def advance(message: bytes, session: Session, cluster: Cluster) -> SaslStep:
    """Feed one message to the exchange; on success the session has its principal."""
    exchange = cast("SaslExchange", session.sasl)
    try:
        step = exchange.step(message)
    except SaslFailure as failure:
        cluster.counters.failed_logins += 1
        log.info(
            "login failed",
            mechanism=session.mechanism,
            listener=session.listener.name,
            host=session.host,
            reason=str(failure),
        )
        raise
    if step.principal is not None:
        session.principal = step.principal
        session.phase = Phase.READY
        session.sasl = None
    return step


def accept_token(frame: bytes, session: Session, cluster: Cluster) -> bytes:
    """A raw token in, a raw token out; a failure can only close (there is no error field)."""
    try:
        step = advance(frame, session, cluster)
    except SaslFailure as failure:
        raise CloseConnection(str(failure)) from failure
    return len(step.reply).to_bytes(4, "big") + step.reply
