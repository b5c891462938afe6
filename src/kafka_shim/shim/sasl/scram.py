"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, KIP-84): two messages each way, no password sent."""

import base64
import binascii
import hashlib
import hmac
import random
from collections.abc import Callable

from kafka_shim.protocol.releases.users import NonceCheck
from kafka_shim.shim.sasl.mechanism import SaslFailure, SaslReply
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism

INVALID = "authentication failed during authentication due to invalid credentials"
NONCE_BYTES = 24


class ScramAccount:
    """The account of a credential: a user, or the owner of a delegation token."""

    __slots__ = ("credential", "expires_at_ms", "principal", "token_id")

    def __init__(
        self,
        credential: ScramCredential,
        principal: str,
        token_id: str | None = None,
        expires_at_ms: int | None = None,
    ) -> None:
        self.credential = credential
        self.principal = principal
        self.token_id = token_id
        self.expires_at_ms = expires_at_ms


AccountLookup = Callable[[str, bool], ScramAccount | None]
"""Account by user name (or by token id, when the flag says so); None if there is none."""


class ScramExchange:
    """An authentication. Releases check the final message's nonce differently (CVE-2024-56128),
    and some clients send a wrong one.
    """

    def __init__(
        self,
        mechanism: ScramMechanism,
        lookup: AccountLookup,
        rng: random.Random,
        nonce_check: NonceCheck = NonceCheck.WHOLE,
    ) -> None:
        self._nonce_check = nonce_check
        self._mechanism = mechanism
        self._lookup = lookup
        self._random = rng
        self._account: ScramAccount | None = None
        self._client_first_bare = ""
        self._server_first = ""
        self._nonce = ""
        self._header = ""

    def respond(self, message: bytes) -> SaslReply:
        """Respond to the client's first or final message. Raise SaslFailure if one is invalid."""
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise SaslFailure("authentication failed: SCRAM message is not UTF-8") from None
        return (
            self._respond_to_client_first(text)
            if self._account is None
            else self._verify_client_final(text, self._account)
        )

    def _respond_to_client_first(self, text: str) -> SaslReply:
        parts = text.split(",", 2)
        if len(parts) != 3 or parts[0] != "n":
            raise SaslFailure("authentication failed: SCRAM first message is malformed")
        self._header, self._client_first_bare = f"{parts[0]},{parts[1]},", parts[2]
        fields = _parse_attributes(parts[2])
        if "n" not in fields or not fields.get("r"):
            raise SaslFailure("authentication failed: SCRAM first message lacks a name or a nonce")
        name = fields["n"].replace("=2C", ",").replace("=3D", "=")
        by_token = fields.get("tokenauth", "").lower() == "true"
        account = self._lookup(name, by_token)
        if account is None or parts[1] not in ("", f"a={fields['n']}"):
            raise SaslFailure(INVALID)
        self._account = account
        ours = base64.b64encode(self._random.randbytes(NONCE_BYTES)).decode()
        self._nonce = fields["r"] + ours
        salt = base64.b64encode(account.credential.salt).decode()
        self._server_first = f"r={self._nonce},s={salt},i={account.credential.iterations}"
        return SaslReply(self._server_first.encode())

    def _verify_client_final(self, text: str, account: ScramAccount) -> SaslReply:
        without_proof, comma, proof_text = text.rpartition(",p=")
        fields = _parse_attributes(without_proof)
        binding = base64.b64encode(self._header.encode()).decode()
        if not comma or not self._accepts_nonce(fields.get("r", "")):
            raise SaslFailure("authentication failed: SCRAM final nonce is not the expected one")
        if fields.get("c") != binding:
            raise SaslFailure("authentication failed: SCRAM channel binding differs")
        exchange = f"{self._client_first_bare},{self._server_first},{without_proof}".encode()
        self._verify_client_proof(account.credential, exchange, proof_text)
        signature = hmac.digest(account.credential.server_key, exchange, self._mechanism.digest)
        reply = f"v={base64.b64encode(signature).decode()}"
        return SaslReply(reply.encode(), account.principal, account.expires_at_ms, account.token_id)

    def _accepts_nonce(self, nonce: str) -> bool:
        match self._nonce_check:
            case NonceCheck.NONE:
                return True
            case NonceCheck.ENDING:
                return nonce.endswith(self._nonce)
            case NonceCheck.WHOLE:
                return nonce == self._nonce

    def _verify_client_proof(
        self, credential: ScramCredential, auth_message: bytes, proof_text: str
    ) -> None:
        try:
            proof = base64.b64decode(proof_text, validate=True)
        except (binascii.Error, ValueError):
            raise SaslFailure(INVALID) from None
        digest = self._mechanism.digest
        signature = hmac.digest(credential.stored_key, auth_message, digest)
        if len(proof) != len(signature):
            raise SaslFailure(INVALID)
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        stored = hashlib.new(digest, client_key).digest()
        if not hmac.compare_digest(stored, credential.stored_key):
            raise SaslFailure(INVALID)


def _parse_attributes(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)
