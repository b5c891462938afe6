"""The client's messages of SCRAM-SHA-256 with a delegation token (KIP-48)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator

DIGEST = "sha256"


def token_messages(token_id: str, token_hmac: bytes) -> Generator[bytes, bytes, None]:
    """Yield the two messages, then an empty one; the server's responses are sent in."""
    nonce = secrets.token_urlsafe(18)
    first = f"n={token_id},r={nonce},tokenauth=true"
    server_first = (yield f"n,,{first}".encode()).decode()
    fields = dict(part.split("=", 1) for part in server_first.split(","))
    password = base64.b64encode(token_hmac)
    salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
    salted = hashlib.pbkdf2_hmac(DIGEST, password, salt, rounds)
    client_key = hmac.digest(salted, b"Client Key", DIGEST)
    last = f"c=biws,r={fields['r']}"
    exchange = f"{first},{server_first},{last}".encode()
    signature = hmac.digest(hashlib.sha256(client_key).digest(), exchange, DIGEST)
    proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
    yield f"{last},p={base64.b64encode(proof).decode()}".encode()
    yield b""
