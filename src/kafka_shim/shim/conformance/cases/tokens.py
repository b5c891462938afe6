"""Delegation tokens (KIP-48): another user's, expired ones, and clients that may not use them."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.case import Family
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError
from kafka_shim.shim.conformance.cases.logins import REFUSED, login, refused
from kafka_shim.shim.conformance.denial import supports_api
from kafka_shim.shim.conformance.denial_rows import WITH_TOKENS
from kafka_shim.shim.conformance.driver import Response
from kafka_shim.shim.conformance.fixtures import OTHER_PASSWORD, OTHER_USER

_TOKENS = Family("denials")
_LOGINS = Family("logins")
_OWN: Mapping[str, Any] = {"renewers": [], "owner": None}
_MINUTE_MS = 60_000
_COMMON: Mapping[str, Any] = {
    "origin": "KIP-48",
    "setup": WITH_TOKENS,
    "possible": supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
    "is_real": True,
}
_PERIODS: Mapping[str, Mapping[str, Any]] = {
    "renew_token": {"milliseconds": _MINUTE_MS},
    "expire_token": {"milliseconds": -1},
}


def _expect(response: Response, code: ErrorCode) -> None:
    if response.error is None or response.error.code != code:
        raise UnmetError(error_name_with_code(code), f"the client reported {response}")
    if response.error.retriable:
        raise UnmetError(
            "an error that is not retriable", f"the client marked it as retriable: {response}"
        )


async def _token(context: CaseContext, **how: Any) -> dict[str, Any]:
    made = await context.done("create_token", **_OWN, **how)
    await context.settle()
    return made


async def _other_token(context: CaseContext) -> dict[str, Any]:
    """Create a token as another user; open a client for that user."""
    how = login("PLAIN", OTHER_USER, OTHER_PASSWORD)
    await context.open(client="other", login=how)
    made = await _token(context, client="other")
    await context.open()
    return made


async def of_another(command: str, context: CaseContext) -> None:
    made = await _other_token(context)
    response = await context.ask(command, hmac=made["hmac"], **_PERIODS[command])
    _expect(response, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    own = await _token(context)
    await context.done(command, hmac=own["hmac"], **_PERIODS[command])


async def has_expired(command: str, context: CaseContext) -> None:
    await context.open()
    made = await _token(context)
    await context.done("expire_token", hmac=made["hmac"], milliseconds=1)
    await context.settle()
    await asyncio.sleep(0.1)
    response = await context.ask(command, hmac=made["hmac"], milliseconds=_MINUTE_MS)
    _expect(response, ErrorCode.DELEGATION_TOKEN_EXPIRED)


for _command in ("renew_token", "expire_token"):
    _verb = _command.partition("_")[0]
    _TOKENS.add(
        f"token-of-another.{_verb}",
        f"{_command} fails for the token of another user, and works for the own one",
        partial(of_another, _command),
        response=f"{error_name_with_code(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)}, then ok",
        commands=f"create_token {_command}",
        **_COMMON,
    )
    _TOKENS.add(
        f"expired-token.{_verb}",
        f"{_command} fails for an expired token",
        partial(has_expired, _command),
        response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_EXPIRED),
        commands=f"create_token expire_token {_command}",
        **_COMMON,
    )


@_TOKENS.case(
    "token-of-another.describe",
    "describe_tokens lists only the tokens that the client may describe",
    response="the own token",
    commands="create_token describe_tokens",
    **_COMMON,
)
async def hidden(context: CaseContext) -> None:
    other = await _other_token(context)
    own = await _token(context)
    found = await context.done("describe_tokens")
    reported = {token["token_id"] for token in found["tokens"]}
    if own["token_id"] not in reported or other["token_id"] in reported:
        raise UnmetError(
            f"{own['token_id']} and no other's", f"the client reported {sorted(reported)}"
        )


async def without_login(command: str, fields: Mapping[str, Any], context: CaseContext) -> None:
    await context.open(login=None)
    response = await context.ask(command, **fields)
    _expect(response, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


_HMAC = {"hmac": "c2VjcmV0"}
for _command, _fields in (
    ("create_token", _OWN),
    ("renew_token", {**_HMAC, **_PERIODS["renew_token"]}),
    ("expire_token", {**_HMAC, **_PERIODS["expire_token"]}),
    ("describe_tokens", {}),
):
    _TOKENS.add(
        f"token-without-login.{_command.partition('_')[0]}",
        f"{_command} fails for a client without a log-in",
        partial(without_login, _command, _fields),
        response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
        commands=_command,
        **_COMMON,
    )


def _by_token(made: Mapping[str, Any]) -> dict[str, Any]:
    how = login("SCRAM-SHA-256", made["token_id"], made["hmac"])
    return {**how, "is_delegation_token": True}


@_TOKENS.case(
    "token-by-token",
    "a client that has logged in with a token cannot create another one",
    response=error_name_with_code(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    commands="create_token",
    capabilities="delegation-tokens scram",
    **_COMMON,
)
async def by_token(context: CaseContext) -> None:
    await context.open(client="owner")
    made = await _token(context, client="owner")
    await context.open(login=_by_token(made))
    response = await context.ask("create_token", **_OWN)
    _expect(response, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


@_LOGINS.case(
    "expired-delegation-token",
    "a log-in with an expired delegation token fails",
    response=REFUSED,
    commands="produce create_token expire_token",
    capabilities="delegation-tokens scram",
    **_COMMON,
)
async def ended(context: CaseContext) -> None:
    await context.open(client="owner")
    made = await _token(context, client="owner")
    await context.done("expire_token", client="owner", hmac=made["hmac"], milliseconds=-1)
    await context.settle()
    await refused({"login": _by_token(made)}, ErrorCode.SASL_AUTHENTICATION_FAILED, context)


CASES = [*_TOKENS.cases, *_LOGINS.cases]
