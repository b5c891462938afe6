"""Authentication of clients during a playback: a trace has neither passwords nor tokens.

A recorded user is accepted by PLAIN with any password, or with the one that was given for the
user. SCRAM needs the password, since its server has to prove that it knows it. Of a bearer token,
only the subject is used.
"""

import base64
import binascii
import random
import secrets
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.sasl_authenticate_response import SaslAuthenticateResponse
from kafka_shim.shim.sasl.mechanism import SaslFailure
from kafka_shim.shim.sasl.scram import ScramAccount, ScramExchange
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.trace_index import Interaction
from kafka_shim.shim.traffic.traces.sasl_principal import user_in_first_sasl_message

_FAILURE = "Authentication failed: invalid credentials"


class UnplayableAuthenticationError(Exception):
    """The playback cannot authenticate a user; the text says what is needed."""


class PlayedAuthentication:
    """The authentication of a connection; `principal` is None if the client is unknown.

    A client that does not use SASL may have a certificate, which the playback does not see.
    """

    def __init__(self, state: PlaybackState) -> None:
        self._state = state
        self._index = state.index
        self.mechanism = ""
        self._scram: ScramExchange | None = None
        self.expects_token = False
        self.principal: str | None = state.index.principal_without_sasl

    def begin(self, version: int, request: Any, response: Any) -> None:
        """Note a SaslHandshake; after version 0, SASL messages have no header."""
        self.mechanism = request.mechanism
        self._scram = None
        self.expects_token = version == 0 and response.error_code == 0
        if response.error_code == 0:
            self.principal = None

    def respond_to_token(self, token: bytes) -> bytes:
        """Return the next SASL message without a header. Raise ConnectionAbortedError if the
        authentication fails.
        """
        try:
            message, is_finished = self._process_token(token)
        except (SaslFailure, UnplayableAuthenticationError) as error:
            raise ConnectionAbortedError(str(error)) from error
        self.expects_token = not is_finished
        return message

    def respond(self, request: Any) -> SaslAuthenticateResponse:
        """Return the recorded response with a SASL message for this client.

        Raise UnplayableAuthenticationError if the user was never recorded, or if the password is
        needed.
        """
        try:
            message, is_finished = self._process_token(request.auth_bytes)
        except SaslFailure as error:
            return self._take_next_recorded_failure(str(error))
        if not is_finished:
            return SaslAuthenticateResponse(auth_bytes=message, error_message=None)
        for interaction in self._index.of_api(ApiKey.SASL_AUTHENTICATE, 10_000):
            response = self._index.response(interaction)
            if (
                isinstance(response, SaslAuthenticateResponse)
                and response.error_code == 0
                and interaction.principal == self.principal
            ):
                self._state.mark_played_and_count_changes(interaction.id, {})
                return msgspec.structs.replace(response, auth_bytes=message)
        return SaslAuthenticateResponse(auth_bytes=message, error_message=None)

    def _process_token(self, token: bytes) -> tuple[bytes, bool]:
        """Return the server's next message, and whether the authentication is finished."""
        if self.mechanism.startswith("SCRAM-"):
            return self._process_scram_message(token)
        if self.mechanism == "OAUTHBEARER":
            self._set_principal_or_fail_if_unrecorded(_subject_of_bearer_token(token))
            return b"", True
        user = user_in_first_sasl_message(self.mechanism, token)
        if user is None:
            raise UnplayableAuthenticationError(
                f"the mechanism {self.mechanism} cannot be played; use PLAIN, SCRAM or OAUTHBEARER"
            )
        password = self._state.options.users.get(user)
        if password is not None and token.split(b"\0")[2].decode(errors="replace") != password:
            raise SaslFailure(_FAILURE)
        self._set_principal_or_fail_if_unrecorded(user)
        return b"", True

    def _process_scram_message(self, token: bytes) -> tuple[bytes, bool]:
        if self._scram is None:
            mechanism = ScramMechanism[self.mechanism.replace("-", "_")]
            user = user_in_first_sasl_message(self.mechanism, token)
            password = self._state.options.users.get(user or "")
            if user is None or (password is None and self._is_recorded(f"User:{user}")):
                raise UnplayableAuthenticationError(
                    f"a trace has no passwords, and {self.mechanism} needs one: give --user"
                    f" {user or 'NAME'}:PASSWORD"
                )
            account = None
            if password is not None:
                credential = credential_of_password(mechanism, password, secrets.token_bytes(16))
                account = ScramAccount(credential, f"User:{user}")
            self._scram = ScramExchange(mechanism, lambda *_: account, random.SystemRandom())
        reply = self._scram.respond(token)
        if reply.principal is None:
            return reply.message, False
        self._scram = None
        self._set_principal_or_fail_if_unrecorded(reply.principal.removeprefix("User:"))
        return reply.message, True

    def _set_principal_or_fail_if_unrecorded(self, user: str) -> None:
        principal = f"User:{user}"
        if not self._is_recorded(principal):
            raise SaslFailure(_FAILURE)
        self.principal = principal

    def _is_recorded(self, principal: str) -> bool:
        return principal in self._index.principals

    def _take_next_recorded_failure(self, reason: str) -> SaslAuthenticateResponse:
        """Return the next recorded failure. Raise UnplayableAuthenticationError without any."""
        last: Interaction | None = None
        for interaction in self._index.of_api(ApiKey.SASL_AUTHENTICATE, 10_000):
            response = self._index.response(interaction)
            if response is not None and response.error_code:
                last = interaction
                if not self._state.is_played(interaction.id):
                    break
        if last is None:
            raise UnplayableAuthenticationError(
                f"{reason}, and the recording has no failed authentication"
            )
        self._state.mark_played_and_count_changes(last.id, {})
        response = self._index.response(last)
        assert isinstance(response, SaslAuthenticateResponse)
        assert response.error_code != ErrorCode.NONE
        return response


def _subject_of_bearer_token(message: bytes) -> str:
    """Return the subject in a client's OAUTHBEARER message. Raise SaslFailure without one."""
    for part in message.split(b"\x01"):
        scheme, _, token = part.partition(b"=Bearer ")
        if scheme == b"auth":
            try:
                body = token.split(b".")[1]
                claims = msgspec.json.decode(base64.urlsafe_b64decode(body + b"=="))
                return str(claims["sub"])
            except (IndexError, KeyError, TypeError, binascii.Error, msgspec.MsgspecError):
                break
    raise SaslFailure("Authentication failed: the token has no subject")
