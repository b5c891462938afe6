"""Log-ins that are rejected, expire, or change to another user or password."""

import asyncio
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    expect_error,
)
from kafka_shim.shim.conformance.denial import supports_api
from kafka_shim.shim.conformance.denial_rows import WITH_TOKENS
from kafka_shim.shim.conformance.driver import Response
from kafka_shim.shim.conformance.fixtures import OTHER_USER, PASSWORD, USER, Setup

_LOGINS = Family("logins")
TOPIC = "orders"
WRONG = "wrong-secret"
_UNKNOWN_CODE = 9999
ATTEMPTS = 25
"""Number of log-ins within the deadline that is too high after a rejected one."""
_SESSION_MS = 1500
_SHORT = Setup(properties=(("connections.max.reauth.ms", str(_SESSION_MS)),))
PRODUCE: Mapping[str, Any] = {"topic": TOPIC, "values": ["a"]}
_HAS_SESSIONS = supports_api(ApiKey.SASL_AUTHENTICATE, 1)
_HAS_CODES = supports_api(ApiKey.SASL_AUTHENTICATE)


def error_or(code: int) -> str:
    return f"{error_name_with_code(code)}, or an error without a code"


REFUSED = error_or(ErrorCode.SASL_AUTHENTICATION_FAILED)


def token(context: CaseContext, user: str, seconds: float) -> str:
    """Return an unsecured token that expires after `seconds`; negative: it has expired."""
    now = context.now_ms() / 1000
    claims = {"sub": user, "iat": now - 3600, "exp": now + seconds}
    parts = (urlsafe_b64encode(msgspec.json.encode(part)) for part in ({"alg": "none"}, claims))
    return ".".join(part.decode().rstrip("=") for part in parts) + "."


def login(mechanism: str, user: str = USER, password: str = PASSWORD) -> dict[str, Any]:
    return {"mechanism": mechanism, "user": user, "password": password}


def bearer(context: CaseContext, user: str = USER, seconds: float = 3600) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": token(context, user, seconds)}


async def prepare(context: CaseContext) -> None:
    """A topic, and a user who may do everything."""
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)


async def try_login(context: CaseContext, how: Mapping[str, Any]) -> Response:
    """Return what a client reports that logs in like this and produces."""
    await prepare(context)
    opened = await context.try_open(**how)
    if opened.ok is None:
        return opened
    return await context.ask("produce", **PRODUCE)


async def works(how: Mapping[str, Any], context: CaseContext) -> None:
    response = await try_login(context, how)
    if response.ok is None:
        raise UnmetError("the log-in succeeds", f"the client reported {response}")


_MECHANISMS = (
    ("plain", login("PLAIN"), "plain"),
    ("scram-sha-256", login("SCRAM-SHA-256"), "scram"),
    ("scram-sha-512", login("SCRAM-SHA-512"), "scram"),
)
for _name, _login, _capability in _MECHANISMS:
    _LOGINS.add(
        f"works.{_name}",
        f"a client logs in with {_login['mechanism']}",
        partial(works, {"login": _login}),
        origin="KIP-84" if _capability == "scram" else "KIP-43",
        response="ok",
        wire=f"SaslHandshake {_login['mechanism']}",
        commands="produce",
        capabilities=_capability,
        is_real=True,
    )


@_LOGINS.case(
    "works.oauthbearer",
    "a client logs in with a token",
    origin="KIP-255",
    response="ok",
    wire="SaslHandshake OAUTHBEARER",
    commands="produce",
    capabilities="oauthbearer",
    is_real=True,
    is_own=True,
)
async def works_with_token(context: CaseContext) -> None:
    await works({"login": bearer(context)}, context)


async def refused(how: Mapping[str, Any], code: int | None, context: CaseContext) -> None:
    response = await try_login(context, how)
    _expect_refused(response, code)


def _expect_refused(response: Response, code: int | None) -> None:
    error = expect_error(response)
    if code is not None and error.code not in (code, None):
        raise UnmetError(error_or(code), f"the client reported {response}")


async def refused_by_code(how: Mapping[str, Any], context: CaseContext) -> None:
    response = await try_login(context, how)
    if response.error is None or response.error.code != 58:
        raise UnmetError("SASL_AUTHENTICATION_FAILED (58)", f"the client reported {response}")


for _name, _login, _capability in _MECHANISMS:
    _wrong = {"login": {**_login, "password": WRONG}}
    _LOGINS.add(
        f"wrong-password.{_name}",
        f"a wrong password with {_login['mechanism']} is an error",
        partial(refused, _wrong, 58),
        origin="KIP-152",
        response=REFUSED,
        commands="produce",
        capabilities=_capability,
        is_real=True,
    )
    _LOGINS.add(
        f"wrong-password.{_name}-code",
        f"a wrong password with {_login['mechanism']} is SASL_AUTHENTICATION_FAILED (58)",
        partial(refused_by_code, _wrong),
        origin="KIP-152",
        response="SASL_AUTHENTICATION_FAILED (58)",
        commands="produce",
        capabilities=_capability,
        is_real=True,
        level=Level.SHOULD,
        possible=_HAS_CODES,
    )
    _LOGINS.add(
        f"unknown-user.{_name}",
        f"an unknown user with {_login['mechanism']} is an error",
        partial(refused, {"login": {**_login, "user": "nobody"}}, 58),
        origin="KIP-152",
        response=REFUSED,
        commands="produce",
        capabilities=_capability,
        is_real=True,
    )


@_LOGINS.case(
    "expired-token",
    "an expired token is an error",
    origin="KIP-255",
    response=REFUSED,
    commands="produce",
    capabilities="oauthbearer",
    is_real=True,
    is_own=True,
)
async def expired_token(context: CaseContext) -> None:
    await refused({"login": bearer(context, seconds=-60)}, 58, context)


async def struck(api: str, error: int, context: CaseContext) -> None:
    """Check a log-in that gets this error; for an unknown code, the client may report any error."""
    await prepare(context)
    context.inject_error(api, error=error, times=0)
    opened = await context.try_open()
    response = opened if opened.ok is None else await context.ask("produce", **PRODUCE)
    _expect_refused(response, None if error == _UNKNOWN_CODE else error)


async def storms(context: CaseContext) -> None:
    await refused({"login": login("PLAIN", password=WRONG)}, 58, context)
    attempts = len(context.requests(ApiKey.SASL_HANDSHAKE))
    if attempts > ATTEMPTS:
        raise UnmetError(f"at most {ATTEMPTS} log-ins", f"there were {attempts}")


_LOGINS.add(
    "no-storm",
    "a rejected log-in is not retried in a loop",
    storms,
    origin="KIP-152",
    response=REFUSED,
    wire=f"at most {ATTEMPTS} log-ins within the deadline",
    commands="produce",
    level=Level.SHOULD,
    possible=_HAS_CODES,
    is_real=True,
)
_LOGINS.add(
    "unknown-mechanism",
    "a mechanism that the broker does not support is an error",
    partial(refused, {"login": login("PLAIN")}, 33),
    origin="KIP-43",
    response=error_or(33),
    wire="SaslHandshake is answered with UNSUPPORTED_SASL_MECHANISM (33)",
    commands="produce",
    setup=Setup(mechanisms=("SCRAM-SHA-512",)),
    is_real=True,
)
for _name, _api, _error, _what in (
    ("illegal-state.handshake", "SaslHandshake", 34, "ILLEGAL_SASL_STATE (34) from SaslHandshake"),
    (
        "illegal-state.authenticate",
        "SaslAuthenticate",
        34,
        "ILLEGAL_SASL_STATE (34) from SaslAuthenticate",
    ),
    (
        "unknown-code",
        "SaslAuthenticate",
        _UNKNOWN_CODE,
        "an unknown error code from SaslAuthenticate",
    ),
):
    _LOGINS.add(
        _name,
        f"the client reports {_what} to its caller",
        partial(struck, _api, _error),
        origin="KIP-152",
        response="an error" if _error == _UNKNOWN_CODE else error_or(_error),
        wire=f"{_api} is answered with {error_name_with_code(_error)}",
        commands="produce",
        possible=_HAS_CODES,
    )


@_LOGINS.case(
    "session.ends",
    "a client whose session ends logs in again, on this connection or on a new one",
    origin="KIP-368",
    response="ok",
    wire="SaslHandshake again",
    commands="produce",
    setup=_SHORT,
    possible=_HAS_SESSIONS,
    is_real=True,
)
async def session_ends(context: CaseContext) -> None:
    await prepare(context)
    await context.open()
    ends = time.monotonic() + 2 * _SESSION_MS / 1000
    while time.monotonic() < ends:
        await context.done("produce", **PRODUCE)
        await asyncio.sleep(0.3)
    if context.observes_frames and len(context.requests(ApiKey.SASL_AUTHENTICATE)) < 2:
        raise UnmetError("a second log-in", "there was one")


@_LOGINS.case(
    "session.reauthenticates",
    "a client re-authenticates on its open connection before its session ends",
    origin="KIP-368",
    response="ok",
    wire="SaslHandshake twice on one connection",
    commands="produce",
    capabilities="reauthentication",
    setup=_SHORT,
    possible=_HAS_SESSIONS,
    level=Level.SHOULD,
    is_real=True,
)
async def reauthenticates(context: CaseContext) -> None:
    await session_ends(context)
    seen = context.requests(ApiKey.SASL_HANDSHAKE)
    if context.observes_frames and len({each.connection for each in seen}) == len(seen):
        raise UnmetError("SaslHandshake twice on a connection", "there is no such connection")


@_LOGINS.case(
    "session.principal-changed",
    "a client that re-authenticates as another user does not hang",
    origin="KIP-368",
    response="ok or an error, in time",
    wire="re-authentication is refused",
    commands="produce set_login",
    capabilities="oauthbearer",
    setup=_SHORT,
    possible=_HAS_SESSIONS,
    is_real=True,
    is_own=True,
)
async def principal_changed(context: CaseContext) -> None:
    await prepare(context)
    await context.open(client="other")  # a slow start of the client is not the token's time
    await context.done("produce", client="other", **PRODUCE)
    await context.open(login=bearer(context, seconds=_SESSION_MS / 1000 + 1))
    await context.done("produce", **PRODUCE)
    await context.ask("set_login", login=bearer(context, OTHER_USER))
    ends = time.monotonic() + 2 * _SESSION_MS / 1000
    while time.monotonic() < ends:
        await context.ask("produce", **PRODUCE)
        await asyncio.sleep(0.3)


@_LOGINS.case(
    "session.password-changed",
    "a client reports an error if its password was changed before it re-authenticates",
    origin="KIP-368",
    response="an error",
    commands="produce",
    setup=_SHORT,
    possible=_HAS_SESSIONS,
    is_real=True,
    is_own=True,
)
async def password_changed(context: CaseContext) -> None:
    await prepare(context)
    await context.open()
    await context.done("produce", **PRODUCE)
    await context.cluster_control.set_password(USER, WRONG)
    response = Response()
    ends = time.monotonic() + 4 * _SESSION_MS / 1000
    while response.error is None and time.monotonic() < ends:
        response = await context.ask("produce", **PRODUCE)
        await asyncio.sleep(0.3)
    await context.cluster_control.set_password(USER, PASSWORD)
    _expect_refused(response, None)


@_LOGINS.case(
    "delegation-token",
    "a client logs in with a delegation token",
    origin="KIP-48",
    response="ok",
    commands="produce create_token",
    capabilities="delegation-tokens scram",
    setup=WITH_TOKENS,
    possible=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
    is_real=True,
)
async def delegation_token(context: CaseContext) -> None:
    await prepare(context)
    await context.open(client="owner")
    made = await context.done("create_token", client="owner", renewers=[], owner=None)
    await context.settle()
    how = login("SCRAM-SHA-256", made["token_id"], made["hmac"])
    await context.open(login={**how, "is_delegation_token": True})
    await context.done("produce", **PRODUCE)


CASES = _LOGINS.cases
