"""Authentications with signed tokens (KIP-768): good ones, and those that a broker must refuse."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import CaseContext
from kafka_shim.conformance.cases.logins import (
    PRODUCE,
    REFUSED,
    create_permitted_topic,
    expect_login_error,
    expect_login_succeeds,
    unsecured_jwt,
)
from kafka_shim.conformance.fixtures import OTHER_USER, USER, ClusterSetup
from kafka_shim.conformance.token_signing import (
    AUDIENCE,
    ISSUER,
    JWKS_URL,
    UNKNOWN,
    sign_jwt,
)
from kafka_shim.shim.state.settings.config_definitions import definitions_of_release

_LOGINS = CaseFamily("logins")
_HOUR = 3600
_SESSION_S = 5.0
_LATER_S = 0.3
_SKEW_S = "0"
_COMMON: Mapping[str, Any] = {
    "origin": "KIP-768",
    "setup": ClusterSetup(has_signed_tokens=True),
    "supports_release": lambda release: JWKS_URL in definitions_of_release(release).broker,
    "runs_on_real_cluster": True,
    "needs_cluster_control": True,
}
_SESSIONS = ClusterSetup(
    has_signed_tokens=True,
    properties=(
        ("connections.max.reauth.ms", str(_HOUR * 1000)),
        ("sasl.oauthbearer.clock.skew.seconds", _SKEW_S),
    ),
)
"""A session ends with its token."""


def _valid_claims(context: CaseContext, seconds: float = _HOUR, **claims: Any) -> dict[str, Any]:
    """Return what a good token says; `seconds` from now it expires."""
    now = context.now_ms() / 1000
    times = {"iat": int(now - _HOUR - 1), "exp": int(now + seconds)}
    return {"sub": USER, "iss": ISSUER, "aud": AUDIENCE, **times, **claims}


def _oauthbearer_login_fields(text: str) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": text}


def _valid_token_login_fields(context: CaseContext, seconds: float = _HOUR) -> dict[str, Any]:
    return _oauthbearer_login_fields(sign_jwt(_valid_claims(context, seconds)))


def _forged_token(context: CaseContext) -> str:
    """Return a good token whose claims were replaced after it was signed."""
    header, _, signature = sign_jwt(_valid_claims(context, sub=OTHER_USER)).split(".")
    _, claims, _ = sign_jwt(_valid_claims(context)).split(".")
    return f"{header}.{claims}.{signature}"


TokenFactory = Callable[[CaseContext], str]
_REJECTED: tuple[tuple[str, str, TokenFactory], ...] = (
    ("expired", "has expired", lambda s: sign_jwt(_valid_claims(s, -60))),
    (
        "not-yet",
        "is not valid yet",
        lambda s: sign_jwt(_valid_claims(s, nbf=s.now_ms() // 1000 + 600)),
    ),
    (
        "another-audience",
        "is for another audience",
        lambda s: sign_jwt(_valid_claims(s, aud="billing")),
    ),
    (
        "another-issuer",
        "comes from another issuer",
        lambda s: sign_jwt(_valid_claims(s, iss="https://other.example")),
    ),
    (
        "another-key",
        "is signed with an unknown key",
        lambda s: sign_jwt(_valid_claims(s), UNKNOWN),
    ),
    ("changed", "was changed after it was signed", _forged_token),
    ("unsigned", "has no signature", lambda s: unsecured_jwt(s, USER, _HOUR)),
)


async def expect_signed_token_login_succeeds(context: CaseContext) -> None:
    await expect_login_succeeds({"login": _valid_token_login_fields(context)}, context)


async def expect_signed_token_rejected(make_token: TokenFactory, context: CaseContext) -> None:
    await expect_login_error({"login": _oauthbearer_login_fields(make_token(context))}, 58, context)


_LOGINS.add_case(
    "signed-token.works",
    "a client logs in with a signed token",
    expect_signed_token_login_succeeds,
    expected_requests="SaslHandshake OAUTHBEARER",
    commands="produce",
    capabilities="oauthbearer",
    **_COMMON,
)
for _name, _what, _make_token in _REJECTED:
    _LOGINS.add_case(
        f"signed-token.{_name}",
        f"a signed token that {_what} is an error",
        partial(expect_signed_token_rejected, _make_token),
        expected_response=REFUSED,
        commands="produce",
        capabilities="oauthbearer",
        **_COMMON,
    )


@_LOGINS.case(
    "signed-token.renewed",
    "a client continues with a new token after the first one has expired",
    expected_requests="SaslHandshake again, on this connection or on a new one",
    commands="produce set_login",
    capabilities="oauthbearer",
    **{**_COMMON, "setup": _SESSIONS},
)
async def expect_success_with_renewed_token(context: CaseContext) -> None:
    await create_permitted_topic(context)
    await context.open_client(client="writer", login=None)  # the first record may take seconds
    await context.run_successfully("produce", client="writer", **PRODUCE)
    await context.open_client(login=_valid_token_login_fields(context, _SESSION_S))
    await context.run_successfully("produce", **PRODUCE)
    await context.run_successfully("set_login", login=_valid_token_login_fields(context))
    deadline = time.monotonic() + 2 * _SESSION_S
    while time.monotonic() < deadline:
        await context.run_successfully("produce", **PRODUCE)
        await asyncio.sleep(_LATER_S)


CASES = _LOGINS.cases
