"""Log-ins with signed tokens (KIP-768): good ones, and those that a broker must refuse."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.conformance.case import Family
from kafka_shim.shim.conformance.case_context import CaseContext
from kafka_shim.shim.conformance.cases.logins import (
    PRODUCE,
    REFUSED,
    prepare,
    refused,
    token,
    works,
)
from kafka_shim.shim.conformance.fixtures import OTHER_USER, USER, Setup
from kafka_shim.shim.conformance.signing import (
    AUDIENCE,
    ISSUER,
    JWKS_URL,
    UNKNOWN,
    signed,
)
from kafka_shim.shim.state.settings.config_definitions import definitions

_LOGINS = Family("logins")
_HOUR = 3600
_SESSION_S = 5.0
_LATER_S = 0.3
_SKEW_S = "0"
_COMMON: Mapping[str, Any] = {
    "origin": "KIP-768",
    "setup": Setup(has_signed_tokens=True),
    "possible": lambda release: JWKS_URL in definitions(release).broker,
    "is_real": True,
    "is_own": True,
}
_SESSIONS = Setup(
    has_signed_tokens=True,
    properties=(
        ("connections.max.reauth.ms", str(_HOUR * 1000)),
        ("sasl.oauthbearer.clock.skew.seconds", _SKEW_S),
    ),
)
"""A session ends with its token."""


def _claims(context: CaseContext, seconds: float = _HOUR, **claims: Any) -> dict[str, Any]:
    """Return what a good token says; `seconds` from now it expires."""
    now = context.now_ms() / 1000
    times = {"iat": int(now - _HOUR - 1), "exp": int(now + seconds)}
    return {"sub": USER, "iss": ISSUER, "aud": AUDIENCE, **times, **claims}


def _bearer(text: str) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": text}


def _good(context: CaseContext, seconds: float = _HOUR) -> dict[str, Any]:
    return _bearer(signed(_claims(context, seconds)))


def _forged(context: CaseContext) -> str:
    """Return a good token whose claims were replaced after it was signed."""
    header, _, signature = signed(_claims(context, sub=OTHER_USER)).split(".")
    _, claims, _ = signed(_claims(context)).split(".")
    return f"{header}.{claims}.{signature}"


Made = Callable[[CaseContext], str]
_REJECTED: tuple[tuple[str, str, Made], ...] = (
    ("expired", "has expired", lambda s: signed(_claims(s, -60))),
    ("not-yet", "is not valid yet", lambda s: signed(_claims(s, nbf=s.now_ms() // 1000 + 600))),
    ("another-audience", "is for another audience", lambda s: signed(_claims(s, aud="billing"))),
    (
        "another-issuer",
        "comes from another issuer",
        lambda s: signed(_claims(s, iss="https://other.example")),
    ),
    ("another-key", "is signed with an unknown key", lambda s: signed(_claims(s), UNKNOWN)),
    ("changed", "was changed after it was signed", _forged),
    ("unsigned", "has no signature", lambda s: token(s, USER, _HOUR)),
)


async def _works(context: CaseContext) -> None:
    await works({"login": _good(context)}, context)


async def _is_refused(made: Made, context: CaseContext) -> None:
    await refused({"login": _bearer(made(context))}, 58, context)


_LOGINS.add(
    "signed-token.works",
    "a client logs in with a signed token",
    _works,
    response="ok",
    wire="SaslHandshake OAUTHBEARER",
    commands="produce",
    capabilities="oauthbearer",
    **_COMMON,
)
for _name, _what, _made in _REJECTED:
    _LOGINS.add(
        f"signed-token.{_name}",
        f"a signed token that {_what} is an error",
        partial(_is_refused, _made),
        response=REFUSED,
        commands="produce",
        capabilities="oauthbearer",
        **_COMMON,
    )


@_LOGINS.case(
    "signed-token.renewed",
    "a client continues with a new token after the first one has expired",
    response="ok",
    wire="SaslHandshake again, on this connection or on a new one",
    commands="produce set_login",
    capabilities="oauthbearer",
    **{**_COMMON, "setup": _SESSIONS},
)
async def renewed(context: CaseContext) -> None:
    await prepare(context)
    await context.open(client="writer", login=None)  # the first record may take seconds
    await context.done("produce", client="writer", **PRODUCE)
    await context.open(login=_good(context, _SESSION_S))
    await context.done("produce", **PRODUCE)
    await context.done("set_login", login=_good(context))
    ends = time.monotonic() + 2 * _SESSION_S
    while time.monotonic() < ends:
        await context.done("produce", **PRODUCE)
        await asyncio.sleep(_LATER_S)


CASES = _LOGINS.cases
