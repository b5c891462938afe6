"""Authentications that are rejected, expire, or change to another user or password."""

import asyncio
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.denied_command_rows import WITH_TOKENS
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.fixtures import OTHER_USER, PASSWORD, USER, ClusterSetup
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

_LOGINS = CaseFamily("logins")
TOPIC = "orders"
WRONG = "wrong-secret"
_UNKNOWN_CODE = 9999
ATTEMPTS = 25
"""Number of authentications within the deadline that is too high after a rejected one."""
_SESSION_MS = 1500
_SHORT = ClusterSetup(properties=(("connections.max.reauth.ms", str(_SESSION_MS)),))
PRODUCE: Mapping[str, Any] = {"topic": TOPIC, "values": ["a"]}
_HAS_SESSIONS = supports_api(ApiKey.SASL_AUTHENTICATE, 1)
_HAS_CODES = supports_api(ApiKey.SASL_AUTHENTICATE)


def expected_login_error(code: int) -> str:
    return f"{error_name_with_code(code)}, or an error without a code"


REFUSED = expected_login_error(ErrorCode.SASL_AUTHENTICATION_FAILED)


def unsecured_jwt(context: CaseContext, user: str, seconds: float) -> str:
    """Return an unsecured token that expires after `seconds`; negative: it has expired."""
    now = context.now_ms() / 1000
    claims = {"sub": user, "iat": now - 3600, "exp": now + seconds}
    parts = (urlsafe_b64encode(msgspec.json.encode(part)) for part in ({"alg": "none"}, claims))
    return ".".join(part.decode().rstrip("=") for part in parts) + "."


def password_login_fields(
    mechanism: str, user: str = USER, password: str = PASSWORD
) -> dict[str, Any]:
    return {"mechanism": mechanism, "user": user, "password": password}


def oauthbearer_login_fields(
    context: CaseContext, user: str = USER, seconds: float = 3600
) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": unsecured_jwt(context, user, seconds)}


async def create_permitted_topic(context: CaseContext) -> None:
    """A topic, and a user who may do everything."""
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)


async def try_login(context: CaseContext, client_options: Mapping[str, Any]) -> DriverResponse:
    """Return what a client reports that logs in like this and produces."""
    await create_permitted_topic(context)
    open_response = await context.try_open_client(**client_options)
    if open_response.ok is None:
        return open_response
    return await context.run_command("produce", **PRODUCE)


async def expect_login_succeeds(client_options: Mapping[str, Any], context: CaseContext) -> None:
    response = await try_login(context, client_options)
    if response.ok is None:
        raise UnmetExpectationError("authentication succeeds", f"the client reported {response}")


FINAL_WITHIN_S = 5.0
"""Time for a slow client to authenticate first; its timeout for the whole command is longer."""
_MECHANISMS = (
    ("plain", password_login_fields("PLAIN"), "plain"),
    ("scram-sha-256", password_login_fields("SCRAM-SHA-256"), "scram"),
    ("scram-sha-512", password_login_fields("SCRAM-SHA-512"), "scram"),
)
for _name, _login, _capability in _MECHANISMS:
    _LOGINS.add_case(
        f"works.{_name}",
        f"a client logs in with {_login['mechanism']}",
        partial(expect_login_succeeds, {"login": _login}),
        origin="KIP-84" if _capability == "scram" else "KIP-43",
        expected_requests=f"SaslHandshake {_login['mechanism']}",
        commands="produce",
        capabilities=_capability,
        runs_on_real_cluster=True,
    )


@_LOGINS.case(
    "works.oauthbearer",
    "a client logs in with a token",
    origin="KIP-255",
    expected_requests="SaslHandshake OAUTHBEARER",
    commands="produce",
    capabilities="oauthbearer",
    needs_cluster_control=True,
)
async def expect_token_login_succeeds(context: CaseContext) -> None:
    await expect_login_succeeds({"login": oauthbearer_login_fields(context)}, context)


async def expect_login_error(
    client_options: Mapping[str, Any], code: int | None, context: CaseContext
) -> None:
    response = await try_login(context, client_options)
    _expect_login_error(response, code)


def _expect_login_error(response: DriverResponse, code: int | None) -> None:
    error = expect_client_error(response)
    if code is not None and error.code not in (code, None):
        raise UnmetExpectationError(expected_login_error(code), f"the client reported {response}")


async def expect_login_promptly_rejected_with_code(
    client_options: Mapping[str, Any], context: CaseContext
) -> None:
    start = time.monotonic()
    response = await try_login(context, client_options)
    seconds = time.monotonic() - start
    if response.error is None or response.error.code != 58:
        raise UnmetExpectationError(
            "SASL_AUTHENTICATION_FAILED (58)", f"the client reported {response}"
        )
    if seconds > FINAL_WITHIN_S:
        raise UnmetExpectationError(
            f"the error within {FINAL_WITHIN_S:g} s, since another attempt cannot succeed",
            f"the client reported it after {seconds:.1f} s",
        )


for _name, _login, _capability in _MECHANISMS:
    _wrong = {"login": {**_login, "password": WRONG}}
    _LOGINS.add_case(
        f"wrong-password.{_name}",
        f"a wrong password with {_login['mechanism']} is an error",
        partial(expect_login_error, _wrong, 58),
        origin="KIP-152",
        expected_response=REFUSED,
        commands="produce",
        capabilities=_capability,
        runs_on_real_cluster=True,
    )
    _LOGINS.add_case(
        f"wrong-password.{_name}-code",
        f"a wrong password with {_login['mechanism']} is a final SASL_AUTHENTICATION_FAILED (58)",
        partial(expect_login_promptly_rejected_with_code, _wrong),
        origin="KIP-152",
        expected_response=f"SASL_AUTHENTICATION_FAILED (58) within {FINAL_WITHIN_S:g} s",
        commands="produce",
        capabilities=_capability,
        runs_on_real_cluster=True,
        supports_release=_HAS_CODES,
    )
    _LOGINS.add_case(
        f"unknown-user.{_name}",
        f"an unknown user with {_login['mechanism']} is an error",
        partial(expect_login_error, {"login": {**_login, "user": "nobody"}}, 58),
        origin="KIP-152",
        expected_response=REFUSED,
        commands="produce",
        capabilities=_capability,
        runs_on_real_cluster=True,
    )


@_LOGINS.case(
    "expired-token",
    "an expired token is an error",
    origin="KIP-255",
    expected_response=REFUSED,
    commands="produce",
    capabilities="oauthbearer",
    needs_cluster_control=True,
)
async def expect_expired_token_rejected(context: CaseContext) -> None:
    await expect_login_error({"login": oauthbearer_login_fields(context, seconds=-60)}, 58, context)


async def expect_injected_login_error_reported(api: str, error: int, context: CaseContext) -> None:
    """Check a login with this error; for an unknown code, the client may report any error."""
    await create_permitted_topic(context)
    context.inject_fault(api, error=error, times=0)
    open_response = await context.try_open_client()
    response = (
        open_response
        if open_response.ok is None
        else await context.run_command("produce", **PRODUCE)
    )
    _expect_login_error(response, None if error == _UNKNOWN_CODE else error)


async def expect_few_login_attempts(context: CaseContext) -> None:
    await expect_login_error({"login": password_login_fields("PLAIN", password=WRONG)}, 58, context)
    attempts = len(context.client_requests(ApiKey.SASL_HANDSHAKE))
    if attempts > ATTEMPTS:
        raise UnmetExpectationError(f"at most {ATTEMPTS} authentications", f"there were {attempts}")


_LOGINS.add_case(
    "no-storm",
    "a rejected authentication is not retried in a loop",
    expect_few_login_attempts,
    origin="KIP-152",
    expected_response=REFUSED,
    expected_requests=f"at most {ATTEMPTS} authentications within the deadline",
    commands="produce",
    level=RequirementLevel.SHOULD,
    supports_release=_HAS_CODES,
    runs_on_real_cluster=True,
)
_LOGINS.add_case(
    "unknown-mechanism",
    "a mechanism that the broker does not support is an error",
    partial(expect_login_error, {"login": password_login_fields("PLAIN")}, 33),
    origin="KIP-43",
    expected_response=expected_login_error(33),
    expected_requests="SaslHandshake is answered with UNSUPPORTED_SASL_MECHANISM (33)",
    commands="produce",
    setup=ClusterSetup(mechanisms=("SCRAM-SHA-512",)),
    runs_on_real_cluster=True,
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
    _LOGINS.add_case(
        _name,
        f"the client reports {_what} to its caller",
        partial(expect_injected_login_error_reported, _api, _error),
        origin="KIP-152",
        expected_response="an error" if _error == _UNKNOWN_CODE else expected_login_error(_error),
        expected_requests=f"{_api} is answered with {error_name_with_code(_error)}",
        commands="produce",
        supports_release=_HAS_CODES,
    )


@_LOGINS.case(
    "session.ends",
    "a client whose session ends logs in again, on this connection or on a new one",
    origin="KIP-368",
    expected_requests="SaslHandshake again",
    commands="produce",
    setup=_SHORT,
    supports_release=_HAS_SESSIONS,
    runs_on_real_cluster=True,
)
async def expect_reauthentication(context: CaseContext) -> None:
    await create_permitted_topic(context)
    await context.open_client()
    deadline = time.monotonic() + 2 * _SESSION_MS / 1000
    while time.monotonic() < deadline:
        await context.run_successfully("produce", **PRODUCE)
        await asyncio.sleep(0.3)
    if context.can_inspect_requests and len(context.client_requests(ApiKey.SASL_AUTHENTICATE)) < 2:
        raise UnmetExpectationError("a second authentication", "there was one")


@_LOGINS.case(
    "session.reauthenticates",
    "a client re-authenticates on its open connection before its session ends",
    origin="KIP-368",
    expected_requests="SaslHandshake twice on one connection",
    commands="produce",
    capabilities="reauthentication",
    setup=_SHORT,
    supports_release=_HAS_SESSIONS,
    level=RequirementLevel.SHOULD,
    runs_on_real_cluster=True,
)
async def expect_reauthentication_on_open_connection(context: CaseContext) -> None:
    await expect_reauthentication(context)
    handshakes = context.client_requests(ApiKey.SASL_HANDSHAKE)
    if context.can_inspect_requests and len({each.connection for each in handshakes}) == len(
        handshakes
    ):
        raise UnmetExpectationError(
            "SaslHandshake twice on a connection", "there is no such connection"
        )


@_LOGINS.case(
    "session.principal-changed",
    "a client that re-authenticates as another user does not hang",
    origin="KIP-368",
    expected_response="ok or an error, in time",
    expected_requests="re-authentication is refused",
    commands="produce set_login",
    capabilities="oauthbearer",
    setup=_SHORT,
    supports_release=_HAS_SESSIONS,
    needs_cluster_control=True,
)
async def expect_principal_change_noticed(context: CaseContext) -> None:
    await create_permitted_topic(context)
    await context.open_client(client="other")  # a slow start of the client is not the token's time
    await context.run_successfully("produce", client="other", **PRODUCE)
    await context.open_client(
        login=oauthbearer_login_fields(context, seconds=_SESSION_MS / 1000 + 1)
    )
    await context.run_successfully("produce", **PRODUCE)
    await context.run_command("set_login", login=oauthbearer_login_fields(context, OTHER_USER))
    deadline = time.monotonic() + 2 * _SESSION_MS / 1000
    while time.monotonic() < deadline:
        await context.run_command("produce", **PRODUCE)
        await asyncio.sleep(0.3)


@_LOGINS.case(
    "session.password-changed",
    "a client reports an error if its password was changed before it re-authenticates",
    origin="KIP-368",
    expected_response="an error",
    commands="produce",
    setup=_SHORT,
    supports_release=_HAS_SESSIONS,
    needs_cluster_control=True,
)
async def expect_password_change_noticed(context: CaseContext) -> None:
    await create_permitted_topic(context)
    await context.open_client()
    await context.run_successfully("produce", **PRODUCE)
    await context.cluster_control.set_password(USER, WRONG)
    response = DriverResponse()
    deadline = time.monotonic() + 4 * _SESSION_MS / 1000
    while response.error is None and time.monotonic() < deadline:
        response = await context.run_command("produce", **PRODUCE)
        await asyncio.sleep(0.3)
    await context.cluster_control.set_password(USER, PASSWORD)
    _expect_login_error(response, None)


@_LOGINS.case(
    "delegation-token",
    "a client logs in with a delegation token",
    origin="KIP-48",
    commands="produce create_token",
    capabilities="delegation-tokens scram",
    setup=WITH_TOKENS,
    supports_release=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
    runs_on_real_cluster=True,
)
async def expect_delegation_token_login_succeeds(context: CaseContext) -> None:
    await create_permitted_topic(context)
    await context.open_client(client="owner")
    created_token = await context.run_successfully(
        "create_token", client="owner", renewers=[], owner=None
    )
    await context.wait_for_applied_changes()
    client_options = password_login_fields(
        "SCRAM-SHA-256", created_token["token_id"], created_token["hmac"]
    )
    await context.open_client(login={**client_options, "is_delegation_token": True})
    await context.run_successfully("produce", **PRODUCE)


CASES = _LOGINS.cases
