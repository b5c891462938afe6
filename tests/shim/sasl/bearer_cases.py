"""Log-ins with valid and invalid tokens, played against a real broker and the shim.

Each case is the client's first SASL message. Its times are relative to now, and so far from each
limit that a running clock does not matter. `python -m tests.oracle.bearer 4.4.0` records the
responses of a real broker.
"""

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from joserfc import jws
from joserfc.jwk import ECKey, Key, OctKey, RSAKey

from kafka_shim.client.client import Client, ClientError
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.protocol.releases.facts import facts_of_release

HALF_A_CHARACTER = "a subject of half a character"
ISSUER, AUDIENCE = "https://issuer.test", "kafka"
SETTINGS = {
    "sasl.oauthbearer.expected.issuer": ISSUER,
    "sasl.oauthbearer.expected.audience": f"{AUDIENCE},other",
    "sasl.oauthbearer.sub.claim.name": "user",
    "sasl.oauthbearer.scope.claim.name": "roles",
}
"""Settings of the strict broker besides the URL of its keys; the clock skew is 30 s (default)."""

EXPECTED_ISSUER = "sasl.oauthbearer.expected.issuer"
EXPECTED_AUDIENCE = "sasl.oauthbearer.expected.audience"
ANY_ISSUER = "sasl.oauthbearer.allow.unverified.issuer"
ANY_AUDIENCE = "sasl.oauthbearer.allow.unverified.audience"

LENIENT = facts_of_release("4.3").access
"""Facts of a release that accepts tokens of any issuer and audience by default."""

RSA = RSAKey.generate_key(2048, {"kid": "rsa", "alg": "RS256", "use": "sig"})
ANY_RSA = RSAKey.generate_key(2048, {"kid": "any"})
RSA_FREED = RSAKey.import_key(RSA.as_pem(private=True))
"""The same key as RSA, without algorithm and use."""
EC = ECKey.generate_key("P-256", {"kid": "ec", "alg": "ES256"})
NAMELESS = ECKey.generate_key("P-384")
OCT = OctKey.generate_key(256, {"kid": "oct", "alg": "HS256"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa", "alg": "RS256"})

Claims = dict[str, Any]


def key_set() -> str:
    """Return the JSON web key set that the broker reads."""
    keys = [key.as_dict(private=False) for key in (RSA, ANY_RSA, EC)]
    keys.append(NAMELESS.as_dict(private=False))
    return json.dumps({"keys": [*keys, OCT.as_dict(private=True)]})


def message(token: str, who: str = "", more: str = "") -> bytes:
    return f"n,{who},\x01auth=Bearer {token}{more}\x01\x01".encode()


def _text(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def unsecured(claims: object, header: object = None, signature: str = "") -> str:
    return f"{_text(header or {'alg': 'none'})}.{_text(claims)}.{signature}"


def signed(claims: Any, key: Key = RSA, alg: str = "RS256", kid: str | None = "rsa") -> str:
    header = {"alg": alg} if kid is None else {"alg": alg, "kid": kid}
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return jws.serialize_compact(header, payload, key, algorithms=[alg])


def signed_with_header(claims: Claims, **header: object) -> str:
    """Return a token with header parameters that joserfc does not write."""
    encoded = f"{_text({'alg': 'RS256', 'kid': 'rsa', **header})}.{_text(claims)}"
    return f"{encoded}.{_text(jws.JWSRegistry.algorithms['RS256'].sign(encoded.encode(), RSA))}"


def _at(now: int, **claims: Any) -> Claims:
    found = {"sub": "alice", "exp": now + 600, "iat": now - 10, **claims}
    return {name: value for name, value in found.items() if value is not None}


def _strict(now: int, **claims: Any) -> Claims:
    given = {"sub": None, "user": "alice", "iss": ISSUER, "aud": AUDIENCE, "roles": "a", **claims}
    return _at(now, **given)


Case = Callable[[int], bytes]
"""Builds the client's first message for the current time (seconds since 1970)."""


def unsecured_cases() -> Mapping[str, Case]:
    """Return cases for a broker whose validator accepts unsecured tokens."""
    return {
        "good": lambda now: message(unsecured(_at(now))),
        "good without iat": lambda now: message(unsecured(_at(now, iat=None))),
        "the same authorization id": lambda now: message(unsecured(_at(now)), "a=alice"),
        "another authorization id": lambda now: message(unsecured(_at(now)), "a=admin"),
        "an extension": lambda now: message(unsecured(_at(now)), more="\x01traceId=1"),
        "an extension named auth twice": lambda now: message(
            unsecured(_at(now)), more="\x01auth=x"
        ),
        "no subject": lambda now: message(unsecured(_at(now, sub=None))),
        "an empty subject": lambda now: message(unsecured(_at(now, sub=""))),
        "a blank subject": lambda now: message(unsecured(_at(now, sub=" "))),
        "a subject surrounded by spaces": lambda now: message(unsecured(_at(now, sub=" alice "))),
        "a subject surrounded by spaces, trimmed as authorization id": lambda now: message(
            unsecured(_at(now, sub=" alice ")), "a=alice"
        ),
        "a subject that is a number": lambda now: message(unsecured(_at(now, sub=1))),
        "no expiry": lambda now: message(unsecured(_at(now, exp=None))),
        "expired": lambda now: message(unsecured(_at(now, exp=now - 2))),
        "an expiry that is text": lambda now: message(unsecured(_at(now, exp="soon"))),
        "an expiry with a fraction": lambda now: message(unsecured(_at(now, exp=now + 600.5))),
        "issued in the future": lambda now: message(unsecured(_at(now, iat=now + 60))),
        "expires before it was issued": lambda now: message(
            unsecured(_at(now, iat=now + 900, exp=now + 800))
        ),
        "not valid yet": lambda now: message(unsecured(_at(now, nbf=now + 60))),
        "signed": lambda now: message(signed(_at(now))),
        "a signature without an algorithm": lambda now: message(
            unsecured(_at(now), signature="abc")
        ),
        "an algorithm without a signature": lambda now: message(
            unsecured(_at(now), {"alg": "RS256"})
        ),
        "no algorithm": lambda now: message(unsecured(_at(now), {"typ": "JWT"})),
        "claims that are a list": lambda _: message(unsecured([1])),
        "claims that are not JSON": lambda _: message(unsecured(b"{")),
        "not base64": lambda _: message("!.!."),
        "two parts": lambda _: message("a.b"),
        "no token": lambda _: b"n,,\x01auth=Bearer \x01\x01",
        "another scheme": lambda _: b"n,,\x01auth=Basic abc\x01\x01",
        "no auth": lambda _: b"n,,\x01other=1\x01\x01",
        "a scheme in capitals": lambda now: message(unsecured(_at(now))).replace(
            b"Bearer", b"BEARER"
        ),
        "another header": lambda now: message(unsecured(_at(now))).replace(b"n,,", b"y,,"),
        "no final separator": lambda now: message(unsecured(_at(now)))[:-1],
        "empty": lambda _: b"",
    }


def signed_cases() -> Mapping[str, Case]:
    """Return cases for a broker with the keys of `key_set` and no further settings."""
    return {
        "good": lambda now: message(signed(_at(now))),
        "good by EC": lambda now: message(signed(_at(now), EC, "ES256", "ec")),
        "good by a shared secret": lambda now: message(signed(_at(now), OCT, "HS256", "oct")),
        "good by a key for any algorithm": lambda now: message(
            signed(_at(now), ANY_RSA, "PS384", "any")
        ),
        "good without iat": lambda now: message(signed(_at(now, iat=None))),
        "a key for another algorithm": lambda now: message(signed(_at(now), RSA_FREED, "RS512")),
        "no key id": lambda now: message(signed(_at(now), kid=None)),
        "a key id of null": lambda now: message(signed_with_header(_at(now), kid=None)),
        "a key id that is a number": lambda now: message(signed_with_header(_at(now), kid=1)),
        "a header of one's own": lambda now: message(signed_with_header(_at(now), nonce="x")),
        "a type that is a number": lambda now: message(signed_with_header(_at(now), typ=1)),
        "a thumbprint that is a number": lambda now: message(signed_with_header(_at(now), x5t=1)),
        "an address of keys that is none": lambda now: message(
            signed_with_header(_at(now), jku="x")
        ),
        "a critical header that is unknown": lambda now: message(
            signed_with_header(_at(now), crit=["nonce"], nonce="x")
        ),
        "a key without an id": lambda now: message(signed(_at(now), NAMELESS, "ES384", "x")),
        "an unknown key id": lambda now: message(signed(_at(now), kid="none")),
        "another's key": lambda now: message(signed(_at(now), STRANGER)),
        "unsecured": lambda now: message(unsecured(_at(now))),
        "a signature cut off": lambda now: message(signed(_at(now)).rpartition(".")[0] + "."),
        "two parts": lambda now: message(signed(_at(now)).rpartition(".")[0]),
        "not base64": lambda _: message("!.!.!"),
        "claims that are not JSON": lambda _: message(signed(b"{")),
        "claims that are a list": lambda _: message(signed([1])),
        "no subject": lambda now: message(signed(_at(now, sub=None))),
        "a blank subject": lambda now: message(signed(_at(now, sub=" "))),
        "a subject surrounded by spaces": lambda now: message(signed(_at(now, sub=" alice "))),
        "a subject surrounded by spaces, trimmed as authorization id": lambda now: message(
            signed(_at(now, sub=" alice ")), "a=alice"
        ),
        "a subject that is a number": lambda now: message(signed(_at(now, sub=1))),
        "no expiry": lambda now: message(signed(_at(now, exp=None))),
        "an expiry that is text": lambda now: message(signed(_at(now, exp="soon"))),
        "an expiry that is a number as text": lambda now: message(
            signed(_at(now, exp=str(now + 600)))
        ),
        "an expiry with a fraction": lambda now: message(signed(_at(now, exp=now + 600.5))),
        "expired within the skew": lambda now: message(signed(_at(now, exp=now - 5))),
        "expired": lambda now: message(signed(_at(now, iat=now - 99, exp=now - 45))),
        "issued in the future": lambda now: message(signed(_at(now, iat=now + 60))),
        "expires before it was issued": lambda now: message(
            signed(_at(now, iat=now + 900, exp=now + 800))
        ),
        "not valid yet": lambda now: message(signed(_at(now, nbf=now + 60))),
        "not valid yet within the skew": lambda now: message(signed(_at(now, nbf=now + 10))),
        "an audience though none is expected": lambda now: message(signed(_at(now, aud="x"))),
        "scopes in a list": lambda now: message(signed(_at(now, scope=["a", "b"]))),
        "scopes twice": lambda now: message(signed(_at(now, scope=["a", "a"]))),
        "an empty scope": lambda now: message(signed(_at(now, scope=""))),
        "scopes that are a number": lambda now: message(signed(_at(now, scope=1))),
        "another authorization id": lambda now: message(signed(_at(now)), "a=admin"),
    }


def odd_claim_cases() -> Mapping[str, Case]:
    """Return cases with claims of unusual values, for a broker with the keys of `key_set`."""
    return {
        "scopes that are an object": lambda now: message(signed(_at(now, scope={}))),
        "scopes that are a number": lambda now: message(signed(_at(now, scope=1))),
        "valid since the distant past": lambda now: message(signed(_at(now, nbf=-1e308))),
        "valid since the least long": lambda now: message(signed(_at(now, nbf=-(2**63)))),
        "valid in the distant future": lambda now: message(signed(_at(now, nbf=1e308))),
        "expires in the distant future": lambda now: message(signed(_at(now, exp=1e308))),
        "expires beyond 64 bits": lambda now: message(signed(_at(now, exp=2**63))),
        "expires beyond 64 bits in milliseconds": lambda now: message(signed(_at(now, exp=2**54))),
        "expires never": lambda now: message(signed(_raw(now, '"exp":Infinity'))),
        "expires at no number": lambda now: message(signed(_raw(now, '"exp":NaN'))),
        "expires beyond a double": lambda now: message(signed(_raw(now, '"exp":1e999'))),
        "expires twice": lambda now: message(
            signed(_raw(now, f'"exp":{now + 60},"exp":{now + 99}'))
        ),
        "issued beyond 64 bits in milliseconds": lambda now: message(
            signed(_at(now, iat=-(2**54)))
        ),
        "issued beyond 64 bits": lambda now: message(signed(_at(now, iat=-(10**400)))),
        "a subject twice": lambda now: message(signed(_raw(now, f'"exp":{now + 60},"sub":"bob"'))),
        HALF_A_CHARACTER: lambda now: message(signed(_at(now, sub="a\ud800b"))),
        "half a character elsewhere": lambda now: message(signed(_at(now, jti="a\ud800b"))),
        "a subject with a control character": lambda now: message(signed(_at(now, sub="a\nb"))),
    }


def _raw(now: int, claims: str) -> bytes:
    """Return the text of claims that `json` would not write."""
    return f'{{"sub":"alice","iat":{now - 10},{claims}}}'.encode()


def strict_cases() -> Mapping[str, Case]:
    """Return cases for a broker with the keys of `key_set` and with `SETTINGS`."""
    return {
        "good": lambda now: message(signed(_strict(now))),
        "one audience of several": lambda now: message(signed(_strict(now, aud=["x", "other"]))),
        "another audience": lambda now: message(signed(_strict(now, aud="x"))),
        "no audience": lambda now: message(signed(_strict(now, aud=None))),
        "another issuer": lambda now: message(signed(_strict(now, iss="x"))),
        "no issuer": lambda now: message(signed(_strict(now, iss=None))),
        "no claim of the configured name": lambda now: message(
            signed(_strict(now, user=None, sub="alice"))
        ),
        "no scope": lambda now: message(signed(_strict(now, roles=None))),
        "scopes twice": lambda now: message(signed(_strict(now, roles=["a", "a "]))),
    }


def _without(name: str) -> dict[str, str]:
    return {key: value for key, value in SETTINGS.items() if key != name}


class CaseSet(NamedTuple):
    """Cases for one broker: whether it has keys, and its other settings."""

    cases: Mapping[str, Case]
    has_keys: bool
    settings: Mapping[str, str]


UNSECURED = CaseSet(unsecured_cases(), has_keys=False, settings={})
SIGNED = CaseSet(signed_cases(), has_keys=True, settings={})
ODD_CLAIMS = CaseSet(odd_claim_cases(), has_keys=True, settings={})
STRICT = CaseSet(strict_cases(), has_keys=True, settings=SETTINGS)
UNVERIFIED = CaseSet(
    signed_cases(),
    has_keys=True,
    settings={ANY_AUDIENCE: "true", ANY_ISSUER: "true"},
)
ORIGINS = {
    title: case
    for title, case in strict_cases().items()
    if "audience" in title or "issuer" in title
}
WITHOUT_ISSUER = CaseSet(
    ORIGINS, has_keys=True, settings={**_without(EXPECTED_ISSUER), ANY_ISSUER: "true"}
)
WITHOUT_AUDIENCE = CaseSet(
    ORIGINS, has_keys=True, settings={**_without(EXPECTED_AUDIENCE), ANY_AUDIENCE: "true"}
)
BOTH = CaseSet(
    ORIGINS, has_keys=True, settings={**SETTINGS, ANY_AUDIENCE: "true", ANY_ISSUER: "true"}
)
SETS: Mapping[str, Mapping[str, CaseSet]] = {
    "4.3.1": {"unsecured": UNSECURED, "signed": SIGNED, "odd claims": ODD_CLAIMS, "strict": STRICT},
    "4.4.0": {
        "unverified": UNVERIFIED,
        "without issuer": WITHOUT_ISSUER,
        "without audience": WITHOUT_AUDIENCE,
        "both": BOTH,
    },
}
"""Sets of cases by release and name."""

STARTS = "starts"
"""Key in the recording: whether a broker starts with each of the settings in `IMPOSSIBLE`."""

IMPOSSIBLE: Mapping[str, Mapping[str, str]] = {
    "neither issuer nor audience": {},
    "no issuer": _without(EXPECTED_ISSUER),
    "no audience": _without(EXPECTED_AUDIENCE),
    "no issuer, unverified ones forbidden": {**_without(EXPECTED_ISSUER), ANY_ISSUER: "false"},
    "no issuer, unverified audiences allowed": {**_without(EXPECTED_ISSUER), ANY_AUDIENCE: "true"},
    "not a boolean": {**SETTINGS, ANY_ISSUER: "maybe"},
}
"""Settings with which a 4.4 broker that has keys does not start."""

CLOSED = "closed"


def outcome(address: str, case: Case) -> list[Any]:
    """Return the responses: `[error code, reply, whether the session expires]` each, or CLOSED.

    The reply to the client's final `\\x01` is the error message.
    """
    host, _, port = address.rpartition(":")
    said: list[Any] = []
    with Client(host, int(port)) as client:
        client.send_request(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("OAUTHBEARER"), 1)
        text = case(int(datetime.now(UTC).timestamp()))
        try:
            response = client.send_request(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(text))
            lasts = response.session_lifetime_ms > 0
            said.append([response.error_code, response.auth_bytes.decode(), lasts])
            if response.auth_bytes:
                response = client.send_request(
                    ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(b"\x01")
                )
                said.append([response.error_code, response.error_message, False])
        except ClientError:
            said.append(CLOSED)
    return said
