"""What a client does when an access is denied: three cases for each row of denial_rows.py.

`reports-error`: the caller gets the error in time and not as retriable, and the client does not
repeat the request in a loop. `partial-success`: the allowed part of the same request succeeds.
`recovers`: the same client succeeds after the permission is granted.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.case import Family
from kafka_shim.shim.conformance.case_context import STORM, CaseContext, UnmetError
from kafka_shim.shim.conformance.denial import ALLOWED, Denial
from kafka_shim.shim.conformance.denial_rows import DENIALS
from kafka_shim.shim.conformance.driver import Response

_TRIES, _PAUSE_S = 5, 0.6
"""Retries after a grant: clients may notice it late, since they refresh metadata each second."""
_NOTICED_S = 1.0
"""How long a consumer stays open after its error: the requests of a loop follow it."""


async def reports_error(row: Denial, context: CaseContext) -> None:
    await _prepare(row, context)
    response = await _ask(row, context)
    _expect_error(row, context, response)
    is_final = row.code_at(context.release) == row.code
    if is_final and response.error is not None and response.error.retriable:
        raise UnmetError(
            "an error that is not retriable", f"the client marked it as retriable: {response}"
        )
    if row.works_in_background and context.observes_frames:
        await context.keep_running(_NOTICED_S)
    context.expect_no_storm(row.code)


async def partly_succeeds(row: Denial, context: CaseContext) -> None:
    assert row.items is not None
    await _prepare(row, context)
    response = await context.ask(row.command, **row.fields)
    allowed = response.item(row.items[1])
    if allowed.ok is None:
        raise UnmetError(f"success for `{row.items[1]}`", f"the client reported {allowed}")
    _expect_error(row, context, response.item(row.items[0]))


async def recovers(row: Denial, context: CaseContext) -> None:
    alone = _of_denied_alone(row)
    await _prepare(row, context)
    _expect_error(row, context, await _ask(alone, context))
    await context.grant(row.lacking)
    response = await _ask(alone, context)
    for _ in range(_TRIES):
        if response.ok is None:
            await asyncio.sleep(_PAUSE_S)
            response = await _ask(alone, context)
    if response.ok is None:
        raise UnmetError(
            "success of the same client after the permission is granted",
            f"it still reports {response}",
        )


def _of_denied_alone(row: Denial) -> Denial:
    """Remove the allowed name from the command; the first call would
    already have succeeded for it.
    """
    if row.items is None or not row.items[1]:
        return row
    denied, allowed = row.items
    fields = {name: _without(value, allowed) for name, value in row.fields.items()}
    return msgspec.structs.replace(row, fields=fields, items=(denied, ""))


def _without(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return {each: found for each, found in value.items() if each != name}
    return [each for each in value if each != name] if isinstance(value, list) else value


async def _prepare(row: Denial, context: CaseContext) -> None:
    await context.topic(*row.topics)
    await context.group(*row.groups, topic=ALLOWED)
    if row.granted:
        await context.grant(*row.granted)
    await context.open(row.settings)
    for command, fields in row.before:
        await context.done(command, **fields)


async def _ask(row: Denial, context: CaseContext) -> Response:
    response = await context.ask(row.command, **row.fields)
    if row.then is not None and (response.error is None or response.error.code is None):
        response = await context.ask(row.then)
    return response if row.items is None else response.item(row.items[0])


def _expect_error(row: Denial, context: CaseContext, response: Response) -> None:
    code = row.code_at(context.release)
    if response.error is None or response.error.code != code:
        raise UnmetError(error_name_with_code(code), f"the client reported {response}")


def _commands(row: Denial) -> list[str]:
    then = () if row.then is None else (row.then,)
    return [row.command, *(command for command, _ in row.before), *then]


def _cases() -> Family:
    family = Family("denials")
    for row in DENIALS:
        name = ErrorCode(row.code).name
        error = error_name_with_code(row.code)
        common: dict[str, Any] = {
            "commands": " ".join(_commands(row)),
            "capabilities": row.capabilities,
            "origin": row.origin,
            "possible": row.possible,
            "setup": row.setup,
            "is_real": True,
        }
        family.add(
            f"{row.name}.reports-error",
            f"{row.command} without permission fails at once with {name}",
            partial(reports_error, row),
            response=f"{error}, not marked as retriable",
            wire=f"at most {STORM} denied requests per second",
            **common,
        )
        if row.items is not None and row.items[1]:
            family.add(
                f"{row.name}.partial-success",
                f"{row.command} for two names, one denied, succeeds for the other",
                partial(partly_succeeds, row),
                response=f"{error} for `{row.items[0]}`, ok for `{row.items[1]}`",
                **common,
            )
        if not row.is_fatal:
            family.add(
                f"{row.name}.recovers",
                f"{row.command} succeeds after the permission is granted",
                partial(recovers, row),
                response=f"{error}, and ok after the ACL was added",
                **common,
            )
    return family


CASES = _cases().cases
