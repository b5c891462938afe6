"""What a client does about a single error and about missing responses.

`retried`: the command succeeds. `reports-final-error`: the caller gets the code. `lost`: the
connection breaks before a response, in the middle of it, or after the request was handled.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetExpectationError,
    UnsupportedByDriverError,
)
from kafka_shim.conformance.error_scenarios import (
    FINAL_ERRORS,
    GROUP,
    RETRIED,
    SINCE,
    TOPIC,
    ErrorScenario,
    InjectedErrorFaults,
    inject_versioned_error,
)
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec.catalogue import api_key
from kafka_shim.protocol.enums import ApiKey


async def _run_command_with_fault_injected(
    row: ErrorScenario, context: CaseContext, **action: Any
) -> Any:
    """Return the client's answer to the command, during which one fault with `action` occurs."""
    await context.create_topics(*row.topics)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(row.settings)
    if "error" in action:
        injected_errors = inject_versioned_error(context, row.api, row.error)
    else:
        injected_errors = InjectedErrorFaults(
            {row.error: [context.inject_fault(row.api, **action)]}
        )
    response = await context.run_command(row.command, **row.fields)
    if not injected_errors.fired_error_codes():
        if (row.api, row.error) in SINCE and context.client_requests(ApiKey(api_key(row.api))):
            raise UnsupportedByDriverError(f"{row.api} v{SINCE[row.api, row.error][0]}")
        raise UnmetExpectationError(f"a {row.api} request", "the client sent none")
    return response if row.item is None else response.item_response(row.item)


async def expect_error_retried(row: ErrorScenario, context: CaseContext) -> None:
    response = await _run_command_with_fault_injected(row, context, error=row.error.name)
    if response.ok is None:
        raise UnmetExpectationError(
            f"{row.error.name} is retried", f"the client reported {response}"
        )


async def expect_final_error_reported(row: ErrorScenario, context: CaseContext) -> None:
    response = await _run_command_with_fault_injected(row, context, error=row.error.name)
    if response.error is None or response.error.code != row.error:
        raise UnmetExpectationError(
            error_name_with_code(row.error), f"the client reported {response}"
        )


async def expect_reconnect(
    row: ErrorScenario, action: Mapping[str, Any], context: CaseContext
) -> None:
    response = await _run_command_with_fault_injected(row, context, **action)
    if response.ok is None:
        raise UnmetExpectationError("the client retries", f"it reported {response}")


_LOST: Mapping[str, Mapping[str, Any]] = {
    "closed-before": {"disconnect": "before"},
    "closed-after": {"disconnect": "after"},
    "cut-off": {"truncate": 6},
}


def _add_lost_connection_cases(family: CaseFamily, row: ErrorScenario) -> None:
    for name, action in _LOST.items():
        family.add_case(
            f"{row.command.replace('_', '-')}.{name}",
            f"{row.command} succeeds although its first connection breaks",
            partial(expect_reconnect, row, action),
            origin="connections",
            expected_requests="the request is repeated on a new connection",
            commands=row.command,
            level=RequirementLevel.SHOULD,
        )


def _required_level(row: ErrorScenario, *, is_final: bool) -> RequirementLevel:
    """Return SHOULD where Kafka's own client differs.

    It reports errors of InitProducerId only as text, and its admin client may retry.
    """
    is_poor = row.api == "InitProducerId" if is_final else row.is_admin
    return RequirementLevel.SHOULD if is_poor else RequirementLevel.MUST


def _error_cases() -> CaseFamily:
    family = CaseFamily("trouble")
    for rows, suffix, body, title, response in (
        (RETRIED, "retried", expect_error_retried, "{2} succeeds after one {1} from {0}", "ok"),
        (
            FINAL_ERRORS,
            "reports-final-error",
            expect_final_error_reported,
            "{2} reports {1} from {0} to its caller",
            "{1}",
        ),
    ):
        for row in rows:
            format_values = row.api, row.error.name, row.command
            family.add_case(
                f"{row.name}.{suffix}",
                title.format(*format_values),
                partial(body, row),
                origin=row.api,
                expected_response=response.format(*format_values),
                commands=row.command,
                level=_required_level(row, is_final=body is expect_final_error_reported),
            )
    reads = {row.command: row for row in RETRIED if row.command != "create_topics"}
    for row in reads.values():
        _add_lost_connection_cases(family, row)
    return family


CASES = _error_cases().cases
