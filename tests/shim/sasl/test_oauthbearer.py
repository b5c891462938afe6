"""shim.sasl.oauthbearer: unsecured tokens, what they must say, and what is refused."""

import base64
import json

import pytest

from shim.sasl.mechanism import SaslFailure
from shim.sasl.oauthbearer import BearerExchange

NOW_MS = 1_700_000_000_000
NOW = NOW_MS // 1000


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def message(claims: object, alg: str = "none", signature: str = "", who: str = "") -> bytes:
    token = f"{encoded({'alg': alg})}.{encoded(claims)}.{signature}"
    return f"n,{who},\x01auth=Bearer {token}\x01\x01".encode()


def exchange() -> BearerExchange:
    return BearerExchange(lambda: NOW_MS)


def test_a_token_gives_its_subject_and_its_end() -> None:
    step = exchange().step(message({"sub": "alice", "exp": NOW + 60, "iat": NOW - 1}))
    assert step.principal == "User:alice"
    assert step.expires_at_ms == (NOW + 60) * 1000
    assert step.reply == b""


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW + 60},
        {"sub": "alice"},
        {"sub": "alice", "exp": NOW},
        {"sub": "alice", "exp": NOW + 60, "iat": NOW + 5},
    ],
    ids=["no subject", "no expiry", "expired", "from the future"],
)
def test_a_refused_token_is_told_then_the_log_in_fails(claims: object) -> None:
    server = exchange()
    step = server.step(message(claims))
    assert step.principal is None
    assert json.loads(step.reply) == {"status": "invalid_token"}
    with pytest.raises(SaslFailure):
        server.step(b"\x01")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"n,,\x01auth=Basic abc\x01\x01",
        b"n,,\x01auth=Bearer a.b\x01\x01",
        b"n,,\x01auth=Bearer !.!.\x01\x01",
        message({"sub": "alice", "exp": NOW + 60}, alg="RS256"),
        message({"sub": "alice", "exp": NOW + 60}, signature="abc"),
        message({"sub": "alice", "exp": NOW + 60}, who="a=admin"),
    ],
)
def test_what_is_no_unsecured_token_of_this_user_fails(text: bytes) -> None:
    with pytest.raises(SaslFailure):
        exchange().step(text)
