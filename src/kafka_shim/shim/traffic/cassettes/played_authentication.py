"""Authentication of clients during a playback: a trace has neither passwords nor tokens.

A recorded user is accepted by PLAIN with any password, or with the one that was given for the
user. SCRAM needs the password, since its server has to prove that it knows it. Of a bearer token,
only the subject is used.
"""

import random
import secrets
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.sasl_authenticate_response import SaslAuthenticateResponse
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_token import ValidatedToken, required_subject
from kafka_shim.shim.sasl.mechanism import SaslExchange, SaslFailure
from kafka_shim.shim.sasl.oauthbearer import BearerExchange
from kafka_shim.shim.sasl.plain import PlainExchange
from kafka_shim.shim.sasl.scram import ScramAccount, ScramExchange
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password
from kafka_shim.shim.sasl.unsecured_token import decode_json_part
from kafka_shim.shim.traffic.cassettes.playback_report import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.traces.sasl_principal import user_in_first_sasl_message

_PASSWORD_AT = 2
"""Of a PLAIN message, whose parts are separated by NULs."""


class PlayedAuthentication:
    """The authentication of a connection; `principal` is None if the client is unknown.

    A client that does not use SASL may have a certificate, which the playback does not see.
    """

    def __init__(self, state: PlaybackState) -> None:
        self._state = state
        self.mechanism = ""
        self._exchange: SaslExchange | None = None
        self.expects_token = False
        self.principal: str | None = state.index.principal_without_sasl

    def begin(self, version: int, request: Any, response: Any) -> None:
        """Note a SaslHandshake; after version 0, SASL messages have no header."""
        self.mechanism = request.mechanism
        self._exchange = None
        self.expects_token = version == 0 and response.error_code == 0
        if response.error_code == 0:
            self.principal = None

    def respond_to_token(self, token: bytes) -> bytes:
        """Return the next SASL message without a header. Raise CloseConnection if the
        authentication fails.
        """
        try:
            message, is_finished = self._process_token(token)
        except (SaslFailure, MismatchError) as error:
            raise CloseConnection(str(error)) from error
        self.expects_token = not is_finished
        return message

    def respond(self, token: bytes) -> SaslAuthenticateResponse:
        """Return the recorded response with a SASL message for this client.

        Raise MismatchError if the user was never recorded, or if the password is needed.
        """
        try:
            message, is_finished = self._process_token(token)
        except SaslFailure as error:
            failure = self._next_recorded(has_error=True)
            if failure is None:
                reason = f"{error}, and the recording has no failed authentication"
                raise MismatchError("authentication", reason) from error
            return failure
        recorded = self._next_recorded(has_error=False) if is_finished else None
        recorded = recorded or SaslAuthenticateResponse(error_message=None)
        return msgspec.structs.replace(recorded, auth_bytes=message)

    def _process_token(self, token: bytes) -> tuple[bytes, bool]:
        """Return the server's next message, and whether the authentication is finished."""
        if self._exchange is None:
            self._exchange = self._begin_exchange(token)
        reply = self._exchange.respond(token)
        if reply.principal is None:
            return reply.message, False
        if not self._is_recorded(reply.principal):
            raise SaslFailure(f"authentication failed: {reply.principal} was not recorded")
        self.principal, self._exchange = reply.principal, None
        return reply.message, True

    def _begin_exchange(self, token: bytes) -> SaslExchange:
        if self.mechanism == "OAUTHBEARER":
            return BearerExchange(_UnverifiedTokens(), lambda: 0)
        user = user_in_first_sasl_message(self.mechanism, token)
        if user is None:
            reason = f"the mechanism {self.mechanism} cannot be played"
            raise MismatchError("authentication", f"{reason}; use PLAIN, SCRAM or OAUTHBEARER")
        password = self._state.options.users.get(user)
        if self.mechanism == "PLAIN":
            any_password = token.split(b"\0")[_PASSWORD_AT].decode(errors="replace")
            return PlainExchange({user: password or any_password})
        if password is None and self._is_recorded(f"User:{user}"):
            reason = f"a trace has no passwords, and {self.mechanism} needs one"
            raise MismatchError("authentication", f"{reason}: give --user {user}:PASSWORD")
        mechanism = ScramMechanism[self.mechanism.replace("-", "_")]
        account: ScramAccount | None = None
        if password is not None:
            credential = credential_of_password(mechanism, password, secrets.token_bytes(16))
            account = ScramAccount(credential, f"User:{user}")
        return ScramExchange(mechanism, lambda *_: account, random.SystemRandom())

    def _is_recorded(self, principal: str) -> bool:
        return principal in self._state.index.principals

    def _next_recorded(self, *, has_error: bool) -> SaslAuthenticateResponse | None:
        """Return the next recorded success of the principal, or failure; the last one again."""
        index = self._state.index
        of_kind = "api_key=? and topic is null and response_position is not null and (error!=0)=?"
        row = index.first(
            f"{of_kind} and (error!=0 or principal=?) order by is_played, id * (1 - 2 * is_played)",
            *(ApiKey.SASL_AUTHENTICATE, has_error, self.principal),
        )
        if row is None:
            return None
        index.set_played(row)
        response = index.response(row)
        assert isinstance(response, SaslAuthenticateResponse)
        return response


class _UnverifiedTokens:
    """Accepts tokens by their subject: the playback has no keys."""

    def validate(self, token: str, now_ms: int) -> ValidatedToken:  # noqa: ARG002 - the protocol's
        """Return a token's subject. Raise TokenRejectedError if it has none."""
        claims = (*token.split("."), "")[1]
        return ValidatedToken(required_subject(decode_json_part(claims)), 0)
