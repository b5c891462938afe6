"""Delegation tokens (KIP-48): another user's, expired ones, and clients that may not use them."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.logins import (
    REFUSED,
    expect_login_error,
    password_login_fields,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.denied_command_rows import WITH_TOKENS
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.fixtures import OTHER_PASSWORD, OTHER_USER
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

_TOKENS = CaseFamily("denials")
_LOGINS = CaseFamily("logins")
_OWN: Mapping[str, Any] = {"renewers": [], "owner": None}
_MINUTE_MS = 60_000
_COMMON: Mapping[str, Any] = {
    "origin": "KIP-48",
    "setup": WITH_TOKENS,
    "supports_release": supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
    "runs_on_real_cluster": True,
}
_PERIODS: Mapping[str, Mapping[str, Any]] = {
    "renew_token": {"milliseconds": _MINUTE_MS},
    "expire_token": {"milliseconds": -1},
}


def _expect_nonretriable_error_with_code(response: DriverResponse, code: ErrorCode) -> None:
    if response.error is None or response.error.code != code:
        raise UnmetExpectationError(error_name_with_code(code), f"the client reported {response}")
    if response.error.retriable:
        raise UnmetExpectationError(
            "an error that is not retriable", f"the client marked it as retriable: {response}"
        )


async def _create_token(context: CaseContext, **token_options: Any) -> dict[str, Any]:
    created_token = await context.run_successfully("create_token", **_OWN, **token_options)
    await context.wait_for_applied_changes()
    return created_token


async def _open_other_owner_client(context: CaseContext) -> dict[str, Any]:
    """Create a token as another user; open a client for that user."""
    token_options = password_login_fields("PLAIN", OTHER_USER, OTHER_PASSWORD)
    await context.open_client(client="other", login=token_options)
    created_token = await _create_token(context, client="other")
    await context.open_client()
    return created_token


async def expect_token_of_other_user_rejected(command: str, context: CaseContext) -> None:
    created_token = await _open_other_owner_client(context)
    response = await context.run_command(command, hmac=created_token["hmac"], **_PERIODS[command])
    _expect_nonretriable_error_with_code(response, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    own = await _create_token(context)
    await context.run_successfully(command, hmac=own["hmac"], **_PERIODS[command])


async def expect_expired_token_rejected(command: str, context: CaseContext) -> None:
    await context.open_client()
    created_token = await _create_token(context)
    await context.run_successfully("expire_token", hmac=created_token["hmac"], milliseconds=1)
    await context.wait_for_applied_changes()
    await asyncio.sleep(0.1)
    response = await context.run_command(
        command, hmac=created_token["hmac"], milliseconds=_MINUTE_MS
    )
    _expect_nonretriable_error_with_code(response, ErrorCode.DELEGATION_TOKEN_EXPIRED)


for _command in ("renew_token", "expire_token"):
    _verb = _command.partition("_")[0]
    _TOKENS.add_case(
        f"token-of-another.{_verb}",
        f"{_command} fails for the token of another user, and works for the own one",
        partial(expect_token_of_other_user_rejected, _command),
        expected_response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        + ", then ok",
        commands=f"create_token {_command}",
        **_COMMON,
    )
    _TOKENS.add_case(
        f"expired-token.{_verb}",
        f"{_command} fails for an expired token",
        partial(expect_expired_token_rejected, _command),
        expected_response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_EXPIRED),
        commands=f"create_token expire_token {_command}",
        **_COMMON,
    )


@_TOKENS.case(
    "token-of-another.describe",
    "describe_tokens lists only the tokens that the client may describe",
    expected_response="the own token",
    commands="create_token describe_tokens",
    **_COMMON,
)
async def expect_only_own_tokens_described(context: CaseContext) -> None:
    other = await _open_other_owner_client(context)
    own = await _create_token(context)
    described = await context.run_successfully("describe_tokens")
    reported = {token["token_id"] for token in described["tokens"]}
    if own["token_id"] not in reported or other["token_id"] in reported:
        raise UnmetExpectationError(
            f"{own['token_id']} and no other's", f"the client reported {sorted(reported)}"
        )


async def expect_anonymous_token_request_rejected(
    command: str, fields: Mapping[str, Any], context: CaseContext
) -> None:
    await context.open_client(login=None)
    response = await context.run_command(command, **fields)
    _expect_nonretriable_error_with_code(response, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


_HMAC = {"hmac": "c2VjcmV0"}
for _command, _fields in (
    ("create_token", _OWN),
    ("renew_token", {**_HMAC, **_PERIODS["renew_token"]}),
    ("expire_token", {**_HMAC, **_PERIODS["expire_token"]}),
    ("describe_tokens", {}),
):
    _TOKENS.add_case(
        f"token-without-login.{_command.partition('_')[0]}",
        f"{_command} fails for a client without authentication",
        partial(expect_anonymous_token_request_rejected, _command, _fields),
        expected_response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
        commands=_command,
        **_COMMON,
    )


def _token_login_fields(created_token: Mapping[str, Any]) -> dict[str, Any]:
    token_options = password_login_fields(
        "SCRAM-SHA-256", created_token["token_id"], created_token["hmac"]
    )
    return {**token_options, "is_delegation_token": True}


@_TOKENS.case(
    "token-by-token",
    "a client that has logged in with a token cannot create another one",
    expected_response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    commands="create_token",
    capabilities="delegation-tokens scram",
    **_COMMON,
)
async def expect_token_creation_rejected_for_token_login(context: CaseContext) -> None:
    await context.open_client(client="owner")
    created_token = await _create_token(context, client="owner")
    await context.open_client(login=_token_login_fields(created_token))
    response = await context.run_command("create_token", **_OWN)
    _expect_nonretriable_error_with_code(response, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


@_LOGINS.case(
    "expired-delegation-token",
    "an authentication with an expired delegation token fails",
    expected_response=REFUSED,
    commands="produce create_token expire_token",
    capabilities="delegation-tokens scram",
    **_COMMON,
)
async def expect_login_with_expired_token_rejected(context: CaseContext) -> None:
    await context.open_client(client="owner")
    created_token = await _create_token(context, client="owner")
    await context.run_successfully(
        "expire_token", client="owner", hmac=created_token["hmac"], milliseconds=-1
    )
    await context.wait_for_applied_changes()
    await expect_login_error(
        {"login": _token_login_fields(created_token)}, ErrorCode.SASL_AUTHENTICATION_FAILED, context
    )


CASES = [*_TOKENS.cases, *_LOGINS.cases]
