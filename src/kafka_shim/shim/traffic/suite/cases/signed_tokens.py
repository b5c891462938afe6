"""Log-ins with signed tokens (KIP-768): good ones, and those that a broker must refuse."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.state.settings.config_definitions import definitions
from kafka_shim.shim.traffic.suite.case import Family
from kafka_shim.shim.traffic.suite.cases.logins import (
    PRODUCE,
    REFUSED,
    prepare,
    refused,
    token,
    works,
)
from kafka_shim.shim.traffic.suite.signing import (
    AUDIENCE,
    ISSUER,
    JWKS_URL,
    UNKNOWN,
    signed,
)
from kafka_shim.shim.traffic.suite.situation import Situation
from kafka_shim.shim.traffic.suite.stages import OTHER_USER, USER, Setup

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


def _claims(situation: Situation, seconds: float = _HOUR, **claims: Any) -> dict[str, Any]:
    """Return what a good token says; `seconds` from now it expires."""
    now = situation.now_ms() / 1000
    times = {"iat": int(now - _HOUR - 1), "exp": int(now + seconds)}
    return {"sub": USER, "iss": ISSUER, "aud": AUDIENCE, **times, **claims}


def _bearer(text: str) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": text}


def _good(situation: Situation, seconds: float = _HOUR) -> dict[str, Any]:
    return _bearer(signed(_claims(situation, seconds)))


def _forged(situation: Situation) -> str:
    """Return a good token whose claims were replaced after it was signed."""
    header, _, signature = signed(_claims(situation, sub=OTHER_USER)).split(".")
    _, claims, _ = signed(_claims(situation)).split(".")
    return f"{header}.{claims}.{signature}"


Made = Callable[[Situation], str]
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


async def _works(situation: Situation) -> None:
    await works({"login": _good(situation)}, situation)


async def _is_refused(made: Made, situation: Situation) -> None:
    await refused({"login": _bearer(made(situation))}, 58, situation)


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
async def renewed(situation: Situation) -> None:
    await prepare(situation)
    await situation.open(client="writer", login=None)  # the first record may take seconds
    await situation.done("produce", client="writer", **PRODUCE)
    await situation.open(login=_good(situation, _SESSION_S))
    await situation.done("produce", **PRODUCE)
    await situation.done("set_login", login=_good(situation))
    ends = time.monotonic() + 2 * _SESSION_S
    while time.monotonic() < ends:
        await situation.done("produce", **PRODUCE)
        await asyncio.sleep(_LATER_S)


CASES = _LOGINS.cases
