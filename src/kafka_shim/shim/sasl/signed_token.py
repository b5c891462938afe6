"""Signed JSON web tokens, checked with keys from a file (KIP-768); signatures by joserfc.

As Kafka's validator has it: `exp`, `iat` and a subject are needed, `iat` may lie ahead, an audience
is refused where none is expected (up to 4.3), and a key may be used with any algorithm of its type.
"""

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.sasl.bearer_token import (
    TokenRejectedError,
    ValidatedToken,
    check_int64_times,
    check_millisecond_range,
    parse_json_object,
    required_subject,
    time_claim_s_or_none,
)
from kafka_shim.text.extras import requires

try:
    from joserfc import jws
    from joserfc.errors import JoseError
    from joserfc.jwk import GuestProtocol, JWKRegistry, Key
    from joserfc.registry import HeaderParameter
except ImportError as error:
    raise ConfigError(requires("checking signed tokens", "oauth")) from error

KEY_TYPES = {"HS": "oct", "RS": "RSA", "PS": "RSA", "ES": "EC"}
"""The keys that algorithms are used with, by the letters they begin with."""
ALGORITHMS = [f"{letters}{bits}" for letters in KEY_TYPES for bits in (256, 384, 512)]

_ABOUT_USE = ("alg", "use", "key_ops")


def _check_optional_text(value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise ValueError("must be text or null")


def _accept_any(_: Any) -> None:
    """Accept the value of a header that Kafka does not look at."""


_HEADER_RULES = jws.JWSRegistry(
    {
        "kid": HeaderParameter("key id", _check_optional_text),
        "typ": HeaderParameter("type", _accept_any),
        "jku": HeaderParameter("address of keys", _accept_any),
    },
    algorithms=ALGORITHMS,
    strict_check_header=False,  # issuers add headers of their own
)


class ExpectedClaims(msgspec.Struct, frozen=True):
    """The required claims of tokens; an empty one is not checked.

    `skew_s` is the accepted difference of clocks. `takes_any_audience`: if no audience is required,
    a token may have one.
    """

    issuer: str = ""
    audiences: tuple[str, ...] = ()
    takes_any_audience: bool = False
    subject_claim: str = "sub"
    scope_claim: str = "scope"
    skew_s: int = 30


class _VerificationKey(msgspec.Struct, frozen=True):
    """A key with its id and algorithm; None: the entry has none."""

    key: Key
    key_id: str | None
    algorithm: str | None


class SignedTokenValidator:
    """Validates tokens by the keys at `url`, a `file:` URL. Raise ConfigError without keys."""

    def __init__(self, url: str, expected: ExpectedClaims) -> None:
        self._keys = _load_json_web_keys(url)
        self._expected = expected

    def validate(self, token: str, now_ms: int) -> ValidatedToken:
        """Check signature, issuer and audience, scope, times and subject (RFC 7515, RFC 7519)."""
        try:
            found = jws.deserialize_compact(token, self._find_key, registry=_HEADER_RULES)
        except (JoseError, ValueError, RecursionError) as error:
            raise TokenRejectedError(str(error)) from error
        parse_json_object(urlsafe_b64decode(f"{token.partition('.')[0]}=="), names_are_unique=True)
        claims = parse_json_object(found.payload, names_are_unique=True)
        _check_issuer_audience(claims, self._expected)
        _check_scopes(claims.get(self._expected.scope_claim))
        check_int64_times(claims, "exp", "iat", "nbf")
        expires = _validated_expiry_s(claims, now_ms / 1000, self._expected.skew_s)
        check_millisecond_range(claims, "exp", "iat")
        subject = required_subject(claims, self._expected.subject_claim)
        return ValidatedToken(subject.strip(), int(expires * 1000))

    def _find_key(self, token: GuestProtocol) -> Key:
        """Return the first key with the token's key id and algorithm type."""
        header = token.headers()
        algorithm = str(header["alg"])
        requested_key_id = header.get("kid")
        fitting = [
            key
            for key in self._keys
            if key.key.key_type == KEY_TYPES.get(algorithm[:2])
            and (requested_key_id is None or key.key_id == requested_key_id)
        ]
        fitting = [key for key in fitting if key.algorithm in (None, algorithm)] or fitting
        if not fitting:
            raise ValueError("no key in the set matches it")
        return fitting[0].key


def _load_json_web_keys(url: str) -> list[_VerificationKey]:
    parts = urlsplit(url)
    if parts.scheme != "file":
        raise ConfigError(
            f"sasl.oauthbearer.jwks.endpoint.url `{url}`: keys are read from files only, file:///PATH"
        )
    path = Path(url2pathname(parts.path))
    try:
        entries = json.loads(path.read_bytes())["keys"]
        known = [
            _import_verification_key(entry)
            for entry in entries
            if entry.get("kty") in KEY_TYPES.values()
        ]
    except OSError as error:
        raise ConfigError(f"cannot read the keys in `{path}`: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError, ValueError, JoseError) as error:
        raise ConfigError(f"`{path}` is not a JSON web key set (RFC 7517): {error}") from error
    if not known:
        raise ConfigError(f"`{path}` has no usable key: expected RSA, EC or oct")
    return known


def _import_verification_key(entry: Mapping[str, Any]) -> _VerificationKey:
    bare = {name: value for name, value in entry.items() if name not in _ABOUT_USE}
    return _VerificationKey(JWKRegistry.import_key(bare), entry.get("kid"), entry.get("alg"))


def _check_issuer_audience(claims: Mapping[str, Any], expected: ExpectedClaims) -> None:
    """Check issuer and audience."""
    if expected.issuer and claims.get("iss") != expected.issuer:
        raise TokenRejectedError("it has another issuer")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if not expected.audiences and (audience is None or expected.takes_any_audience):
        return
    if not set(expected.audiences) & {name for name in audiences if isinstance(name, str)}:
        raise TokenRejectedError("it is for another audience")


def _check_scopes(scope: object) -> None:
    """Check the scope: a text, or a list of distinct texts that are not
    empty; others are ignored.
    """
    scopes = [scope] if isinstance(scope, str) else scope if isinstance(scope, list) else []
    texts = [text.strip() for text in scopes if isinstance(text, str)]
    if len(texts) < len(scopes) or not all(texts) or len(set(texts)) < len(texts):
        raise TokenRejectedError("its scopes are empty or duplicate")


def _validated_expiry_s(claims: Mapping[str, Any], now_s: float, skew_s: int) -> float:
    """Check the times; return when the token expires, in seconds since 1970."""
    expires, issued, begins = (time_claim_s_or_none(claims, name) for name in ("exp", "iat", "nbf"))
    if expires is None or issued is None:
        raise TokenRejectedError("its claims iat (issued at) and exp (expires) are missing")
    if now_s - skew_s >= expires:
        raise TokenRejectedError("it has expired")
    if expires < issued or (begins is not None and (expires < begins or now_s + skew_s < begins)):
        raise TokenRejectedError("it is not valid yet, or can never be")
    return expires
