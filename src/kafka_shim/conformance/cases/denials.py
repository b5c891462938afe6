"""What a client does when an access is denied: three cases for each row of the tables.

These are in denied_command_rows.py and denied_application_rows.py.

`reports-error`: the caller gets the error in time and not as retriable, and the client does not
repeat the request in a loop; what of this is only recommended is a case of its own.
`partial-success`: the allowed part of the same request succeeds. `recovers`: the same client
succeeds after the permission is granted.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    STORM_REQUESTS_PER_SECOND,
    CaseContext,
    UnmetExpectationError,
)
from kafka_shim.conformance.denied_application_rows import APPLICATION_DENIALS
from kafka_shim.conformance.denied_command import (
    ALLOWED,
    DENIED,
    DeniedCommand,
    RecommendedCheck,
)
from kafka_shim.conformance.denied_command_rows import DENIALS
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.error_codes import ErrorCode

_TRIES, _PAUSE_S = 5, 0.6
"""Retries after a grant: clients may notice it late, since they refresh metadata each second."""
_NOTICED_S = 1.0
"""How long a consumer stays open after its error: the requests of a loop follow it."""
_FEW_REQUESTS = f"at most {STORM_REQUESTS_PER_SECOND} denied requests per second"
RECOMMENDED_TITLES: Mapping[RecommendedCheck, str] = {
    RecommendedCheck.ERROR_CODE: "fails with the code of the denial",
    RecommendedCheck.NO_RETRY_STORM: "does not send requests in a loop",
}


async def expect_denial_reported_without_retry_storm(
    row: DeniedCommand, context: CaseContext, *, omitted_check: RecommendedCheck | None = None
) -> None:
    await _prepare_denied_client(row, context)
    response = await _run_denied_command(row, context)
    if omitted_check is not RecommendedCheck.ERROR_CODE:
        _expect_denial_error(row, context, response)
    elif response.error is None:
        raise UnmetExpectationError("an error", f"the client reported {response}")
    is_final = row.error_code_in_release(context.release) == row.code
    if is_final and response.error is not None and response.error.retriable:
        raise UnmetExpectationError(
            "an error that is not retriable", f"the client marked it as retriable: {response}"
        )
    if omitted_check is RecommendedCheck.NO_RETRY_STORM:
        return
    if row.reads_records and context.can_inspect_requests:
        await context.sleep_for_client(_NOTICED_S)
    context.expect_no_retry_storm(row.code)


async def expect_success_for_allowed_name(row: DeniedCommand, context: CaseContext) -> None:
    assert row.items is not None
    await _prepare_denied_client(row, context)
    response = await context.run_command(row.command, **row.fields)
    allowed = response.item_response(row.items[1])
    if allowed.ok is None:
        raise UnmetExpectationError(
            f"success for `{row.items[1]}`", f"the client reported {allowed}"
        )
    _expect_denial_error(row, context, response.item_response(row.items[0]))


async def expect_success_once_granted(row: DeniedCommand, context: CaseContext) -> None:
    denied_row = _without_allowed_name(row)
    await _prepare_denied_client(row, context)
    _expect_denial_error(row, context, await _run_denied_command(denied_row, context))
    await context.grant_to_user(row.missing_rule)
    response = await _rerun_denied_command(denied_row, context)
    for _ in range(_TRIES):
        if response.ok is None or response.ok.get("values") == []:
            await asyncio.sleep(_PAUSE_S)
            response = await _rerun_denied_command(denied_row, context)
    if row.reads_records and response.ok is not None and not response.ok["values"]:
        raise UnmetExpectationError(
            "the value that was written after the permission was granted",
            "the client reported no value",
        )
    if response.ok is None:
        raise UnmetExpectationError(
            "success of the same client after the permission is granted",
            f"it still reports {response}",
        )


async def _rerun_denied_command(row: DeniedCommand, context: CaseContext) -> DriverResponse:
    """Return the response; a consumer has a new record to read, also if it begins at the end."""
    if row.reads_records:
        await context.write_record(DENIED, b"after the grant")
    return await _run_denied_command(row, context)


def _without_allowed_name(row: DeniedCommand) -> DeniedCommand:
    """Remove the allowed name from the command; the first call would
    already have succeeded for it.
    """
    if row.items is None or not row.items[1]:
        return row
    denied, allowed = row.items
    fields = {name: _remove_name(value, allowed) for name, value in row.fields.items()}
    return msgspec.structs.replace(row, fields=fields, items=(denied, ""))


def _remove_name(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return {each: field_value for each, field_value in value.items() if each != name}
    return [each for each in value if each != name] if isinstance(value, list) else value


async def _prepare_denied_client(row: DeniedCommand, context: CaseContext) -> None:
    await context.create_topics(*row.topics)
    await context.create_empty_groups(*row.groups, topic=ALLOWED)
    if row.granted:
        await context.grant_to_user(*row.granted)
    await context.open_client(row.settings)
    for command, fields in row.before:
        await context.run_successfully(command, **fields)


async def _run_denied_command(row: DeniedCommand, context: CaseContext) -> DriverResponse:
    response = await context.run_command(row.command, **row.fields)
    if row.then is not None and (response.error is None or response.error.code is None):
        response = await context.run_command(row.then)
    return response if row.items is None else response.item_response(row.items[0])


def _expect_denial_error(
    row: DeniedCommand, context: CaseContext, response: DriverResponse
) -> None:
    code = row.error_code_in_release(context.release)
    if response.error is None or response.error.code != code:
        raise UnmetExpectationError(error_name_with_code(code), f"the client reported {response}")


def _required_commands(row: DeniedCommand) -> list[str]:
    then = () if row.then is None else (row.then,)
    return [row.command, *(command for command, _ in row.before), *then]


def _denial_cases() -> CaseFamily:
    family = CaseFamily("denials")
    for row in (*DENIALS, *APPLICATION_DENIALS):
        _add_cases(family, row)
    return family


def _add_cases(family: CaseFamily, row: DeniedCommand) -> None:
    error = error_name_with_code(row.code)
    common: dict[str, Any] = {
        "commands": " ".join(_required_commands(row)),
        "capabilities": row.capabilities,
        "supports_release": row.supports_release,
        "setup": row.setup,
        "runs_on_real_cluster": True,
    }
    _add_reports_error_cases(family, row, common)
    if row.items is not None and row.items[1]:
        family.add_case(
            f"{row.name}.partial-success",
            f"{row.command} for two names, one denied, succeeds for the other",
            partial(expect_success_for_allowed_name, row),
            origin=row.origin,
            expected_response=f"{error} for `{row.items[0]}`, ok for `{row.items[1]}`",
            **common,
        )
    if not row.is_fatal:
        family.add_case(
            f"{row.name}.recovers",
            f"{row.command} succeeds after the permission is granted",
            partial(expect_success_once_granted, row),
            origin=row.origin,
            expected_response=f"{error}, and ok after the ACL was added",
            **common,
        )


def _add_reports_error_cases(
    family: CaseFamily, row: DeniedCommand, common: Mapping[str, Any]
) -> None:
    """Add the case `reports-error`, and one for the check that is only recommended."""
    error = error_name_with_code(row.code)
    omitted = row.recommended_check
    family.add_case(
        f"{row.name}.reports-error",
        f"{row.command} without permission fails immediately with {ErrorCode(row.code).name}",
        partial(expect_denial_reported_without_retry_storm, row, omitted_check=omitted),
        origin=row.origin,
        expected_response="an error"
        if omitted is RecommendedCheck.ERROR_CODE
        else f"{error}, not marked as retriable",
        expected_requests="" if omitted is RecommendedCheck.NO_RETRY_STORM else _FEW_REQUESTS,
        **common,
    )
    if omitted is not None:
        family.add_case(
            f"{row.name}.{omitted.value}",
            f"{row.command} without permission {RECOMMENDED_TITLES[omitted]}",
            partial(expect_denial_reported_without_retry_storm, row),
            origin=row.recommendation_origin,
            expected_response=f"{error}, not marked as retriable",
            expected_requests=_FEW_REQUESTS,
            level=RequirementLevel.SHOULD,
            **common,
        )


CASES = _denial_cases().cases
