"""Authentication of clients during a playback: a trace has neither passwords nor tokens.

A recorded user is accepted by PLAIN with any password, or with the one that was given for the
user. SCRAM needs the password, since its server has to prove that it knows it. Of a bearer token,
only the subject is used.
"""

import sys

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from kafka_shim.shim.handlers.common.sasl_authentication import (
    new_sasl_exchange,
    process_sasl_message,
)
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.sasl.bearer_token import ValidatedToken, decode_json_part, required_subject
from kafka_shim.shim.sasl.mechanism import SaslExchange, SaslFailure, SaslReply
from kafka_shim.shim.sasl.oauthbearer import BearerExchange
from kafka_shim.shim.sasl.plain import PlainExchange
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import PlaybackState
from kafka_shim.traces.connection_observer import user_in_first_sasl_message

_PASSWORD_AT = 2
"""Of a PLAIN message, whose parts are separated by NULs."""


class _CannotBePlayedError(SaslFailure):
    """The playback can neither accept nor reject a client."""


class PlayedAuthentication:
    """The authentication of a connection: the exchange of its session, of whatever mechanism."""

    def __init__(self, state: PlaybackState, session: Session, cluster: Cluster) -> None:
        self._state = state
        self._session = session
        self._cluster = cluster
        self._exchange: SaslExchange | None = None

    @property
    def principal(self) -> str | None:
        """The client's principal; None if it is unknown.

        A client that does not use SASL may have a certificate, which a trace does not have.
        """
        if self._session.is_authenticated:
            return self._session.principal
        return None if self._session.mechanism else self._state.index.principal_without_sasl

    def begin(self, version: int, mechanism: str) -> None:
        """Begin after SaslHandshake; after version 0, SASL messages have no header."""
        self._exchange = None
        self._session.mechanism, self._session.sasl = mechanism, self
        if version == 0:
            self._session.phase = AuthenticationPhase.TOKENS

    def response(self, token: bytes) -> SaslAuthenticateResponse:
        """Return the recorded response with a SASL message for this client.

        Raise MismatchError if the user was never recorded, or if the password is needed.
        """
        self._session.sasl = self
        try:
            reply = process_sasl_message(token, self._session, self._cluster)
        except _CannotBePlayedError as error:
            raise MismatchError("authentication", str(error)) from error
        except SaslFailure as error:
            failure = self._next_recorded(has_error=True)
            if failure is None:
                reason = f"{error}, and the recording has no failed authentication"
                raise MismatchError("authentication", reason) from error
            return failure
        recorded = None if reply.principal is None else self._next_recorded(has_error=False)
        recorded = recorded or SaslAuthenticateResponse(error_message=None)
        return msgspec.structs.replace(recorded, auth_bytes=reply.message)

    def respond(self, message: bytes) -> SaslReply:
        """Return the server's next message. Raise SaslFailure if the authentication fails."""
        if self._exchange is None:
            self._exchange = self._new_exchange(message)
        reply = self._exchange.respond(message)
        if reply.principal is not None and reply.principal not in self._state.index.principals:
            raise SaslFailure(f"authentication failed: {reply.principal} was not recorded")
        return reply

    def _new_exchange(self, token: bytes) -> SaslExchange:
        mechanism = str(self._session.mechanism)
        if mechanism == "OAUTHBEARER":
            return BearerExchange(_UnverifiedTokens(), lambda: 0)
        user = user_in_first_sasl_message(mechanism, token)
        if user is None:
            reason = f"the mechanism {mechanism} cannot be played"
            raise _CannotBePlayedError(f"{reason}; use PLAIN, SCRAM or OAUTHBEARER")
        if user not in self._state.options.users:
            if mechanism == "PLAIN":
                any_password = token.split(b"\0")[_PASSWORD_AT].decode(errors="replace")
                return PlainExchange({user: any_password})
            if f"User:{user}" in self._state.index.principals:
                reason = f"a trace has no passwords, and {mechanism} needs one"
                raise _CannotBePlayedError(f"{reason}: give --user {user}:PASSWORD")
        return new_sasl_exchange(mechanism, self._session, self._cluster)

    def _next_recorded(self, *, has_error: bool) -> SaslAuthenticateResponse | None:
        """Return the next recorded success of the principal, or failure; the last one again."""
        index = self._state.index
        of_kind = "api_key=? and topic is null and response_position is not null and (error!=0)=?"
        row = index.table.first(
            f"{of_kind} and (error!=0 or principal=?) order by is_played, id * (1 - 2 * is_played)",
            *(ApiKey.SASL_AUTHENTICATE, has_error, self.principal),
        )
        if row is None:
            return None
        index.table.set_played(row)
        response = index.response(row)
        assert isinstance(response, SaslAuthenticateResponse)
        return response


class _UnverifiedTokens:
    """Accepts tokens by their subject: the playback has no keys."""

    def validate(self, token: str, now_ms: int) -> ValidatedToken:  # noqa: ARG002 - the protocol's
        """Return a token's subject. Raise TokenRejectedError if it has none."""
        claims = (*token.split("."), "")[1]
        return ValidatedToken(required_subject(decode_json_part(claims)), sys.maxsize)
