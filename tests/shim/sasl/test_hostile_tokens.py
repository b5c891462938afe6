"""Tokens forged without a private or secret key are rejected."""

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_settings import build_token_validator
from kafka_shim.shim.sasl.bearer_token import (
    TokenRejectedError,
    TokenValidator,
    UnsecuredTokenValidator,
)
from tests.shim.sasl.bearer_cases import EC, LENIENT, NAMELESS, OCT, RSA, STRANGER, key_set, signed

NOW_S = 1_700_000_000
CLAIMS = {"sub": "alice", "iat": NOW_S - 10, "exp": NOW_S + 600}


@pytest.fixture
def public_only(tmp_path: Path) -> TokenValidator:
    """Return a validator with two public keys."""
    keys = [key.as_dict(private=False) for key in (RSA, EC)]
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": keys}))
    return build_token_validator(
        {"sasl.oauthbearer.jwks.endpoint.url": path.as_uri()}, "SASL_PLAINTEXT", LENIENT
    )


@pytest.fixture
def with_a_secret(tmp_path: Path) -> TokenValidator:
    """Return a validator whose key set includes a shared secret for HS256."""
    path = tmp_path / "keys.json"
    path.write_text(key_set())
    return build_token_validator(
        {"sasl.oauthbearer.jwks.endpoint.url": path.as_uri()}, "SASL_PLAINTEXT", LENIENT
    )


def encoded(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def by_public_key(key: bytes) -> str:
    """Return a token signed with HS256, with a public key as the secret."""
    body = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(CLAIMS)}"
    return f"{body}.{encoded(hmac.digest(key, body.encode(), hashlib.sha256))}"


def unsigned(algorithm: object, signature: str = "") -> str:
    return f"{encoded({'alg': algorithm, 'kid': 'rsa'})}.{encoded(CLAIMS)}.{signature}"


PUBLIC = (RSA.as_pem(private=False), RSA.as_der(private=False), json.dumps(RSA.as_dict()).encode())
ALGORITHMS: tuple[object, ...] = ("none", "None", "NONE", "", None, 0, [])
HOSTILE: dict[str, str] = {
    **{f"HS256 by the public key {at}": by_public_key(key) for at, key in enumerate(PUBLIC)},
    "HS256 by the public key of another form": by_public_key(PUBLIC[0].strip()),
    "HS256 by an empty secret": by_public_key(b""),
    **{f"algorithm {name!r}": unsigned(name) for name in ALGORITHMS},
    "none with a signature": unsigned("none", "AAAA"),
    "RS256 without a signature": unsigned("RS256"),
    "an unknown key id": signed(CLAIMS, RSA, kid="other"),
    "a key id that is a path": signed(CLAIMS, STRANGER, kid="../../../../dev/null"),
    "a stranger's key under a known id": signed(CLAIMS, STRANGER, kid="rsa"),
    "a stranger's key without an id": signed(CLAIMS, STRANGER, kid=None),
    "another curve": signed(CLAIMS, NAMELESS, alg="ES384", kid="ec"),
    "changed claims": signed(CLAIMS).replace(
        encoded(CLAIMS), encoded(CLAIMS | {"sub": "admin"})
    ),
    "its own key in the header": (
        f"{encoded({'alg': 'RS256', 'jwk': STRANGER.as_dict(private=False)})}.{encoded(CLAIMS)}"
        f".{signed(CLAIMS, STRANGER).rpartition('.')[2]}"
    ),
    "a URL of keys in the header": (
        f"{encoded({'alg': 'RS256', 'kid': 'rsa', 'jku': 'http://127.0.0.1:1/keys'})}"
        f".{encoded(CLAIMS)}.{signed(CLAIMS, STRANGER).rpartition('.')[2]}"
    ),
    "deeply nested claims": signed(b'{"sub":' + b"[" * 100_000, RSA),
    "a subject twice": signed(
        b'{"sub":"alice","sub":"admin","iat":%d,"exp":%d}' % (NOW_S - 10, NOW_S + 600)
    ),
    "a subject with half a character": signed(CLAIMS | {"sub": "a\ud800b"}),
    "one part": "x",
    "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("token", HOSTILE.values(), ids=HOSTILE)
def test_a_forged_token_is_refused(public_only: TokenValidator, token: str) -> None:
    with pytest.raises(TokenRejectedError):
        public_only.validate(token, NOW_S * 1000)


@pytest.mark.parametrize("token", HOSTILE.values(), ids=HOSTILE)
def test_a_forged_token_is_refused_by_a_key_set_with_a_secret(
    with_a_secret: TokenValidator, token: str
) -> None:
    with pytest.raises(TokenRejectedError):
        with_a_secret.validate(token, NOW_S * 1000)


def test_valid_tokens_are_accepted(with_a_secret: TokenValidator) -> None:
    tokens = (
        signed(CLAIMS),
        signed(CLAIMS, OCT, "HS256", "oct"),
        signed(CLAIMS, EC, "ES256", "ec"),
    )
    for token in tokens:
        assert with_a_secret.validate(token, NOW_S * 1000).subject == "alice"


@pytest.mark.parametrize(
    ("claims", "taken"),
    [
        ({"exp": NOW_S - 29}, True),
        ({"exp": NOW_S - 30}, False),
        ({"nbf": NOW_S + 30}, True),
        ({"nbf": NOW_S + 31}, False),
        ({"exp": 1e308}, False),
        ({"iat": -1e308}, False),
        ({"exp": 2**63}, False),
        ({"exp": 10**400}, False),
        ({"nbf": -(10**400)}, False),
        ({"exp": 2**63 // 1000}, True),
        ({"exp": float("inf")}, False),
        ({"exp": float("nan")}, False),
        ({"exp": NOW_S + 600, "iat": NOW_S + 601}, False),
    ],
)
def test_clocks_may_differ_by_the_skew(
    public_only: TokenValidator, claims: dict[str, float], taken: bool
) -> None:
    """The skew is 30 s in both directions; huge numbers and NaN are rejected, or close."""
    given = {**CLAIMS, "iat": NOW_S - 600, **claims}
    try:
        found = public_only.validate(signed(given), NOW_S * 1000)
    except (TokenRejectedError, CloseConnection):
        assert not taken
    else:
        assert taken
        assert found.expires_ms < 2**63


@pytest.mark.parametrize(
    ("claims", "taken"),
    [
        (b'{"sub":"x","sub":"alice","exp":%d}', True),  # Jackson takes the last of equal names
        (b'{"sub":"alice","exp":1e308,"x":%d}', True),
        (b'{"sub":"alice","x":%d,"exp":Infinity}', False),
        (b'{"sub":"a\\ud800b","exp":%d}', False),
        (b'{"sub":"a\\ud83d\\ude00b","exp":%d}', True),
    ],
)
def test_unsecured_tokens_are_parsed_as_by_jackson(claims: bytes, taken: bool) -> None:
    token = f"{encoded({'alg': 'none'})}.{encoded(claims % (NOW_S + 600))}."
    try:
        subject = UnsecuredTokenValidator().validate(token, NOW_S * 1000).subject
    except TokenRejectedError:
        assert not taken
    else:
        assert taken
        assert subject in {"alice", "a\U0001f600b"}
