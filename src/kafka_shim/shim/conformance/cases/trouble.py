"""What a client does about a single error and about missing responses.

`retried`: the command succeeds. `reports-final-error`: the caller gets the code. `lost`: the
connection breaks before a response, in the middle of it, or after the request was handled.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    UnsupportedError,
)
from kafka_shim.shim.conformance.error_versions import SINCE, InjectedErrors, inject_error, key_of
from kafka_shim.shim.conformance.trouble_rows import (
    FINAL_ERRORS,
    GROUP,
    RETRIED,
    TOPIC,
    ErrorScenario,
)


async def _response(row: ErrorScenario, context: CaseContext, **action: Any) -> Any:
    """Return the client's answer to the command, during which one fault with `action` occurs."""
    await context.topic(*row.topics)
    await context.group(GROUP, topic=TOPIC)
    await context.grant(*EVERYTHING)
    await context.open(row.settings)
    if "error" in action:
        injected_errors = inject_error(context, row.api, row.error)
    else:
        injected_errors = InjectedErrors({row.error: [context.inject_error(row.api, **action)]})
    response = await context.ask(row.command, **row.fields)
    if not injected_errors.codes():
        if (row.api, row.error) in SINCE and context.requests(key_of(row.api)):
            raise UnsupportedError(f"{row.api} v{SINCE[row.api, row.error][0]}")
        raise UnmetError(f"a {row.api} request", "the client sent none")
    return response if row.item is None else response.item(row.item)


async def retried(row: ErrorScenario, context: CaseContext) -> None:
    response = await _response(row, context, error=row.error.name)
    if response.ok is None:
        raise UnmetError(f"{row.error.name} is retried", f"the client reported {response}")


async def reports_final_error(row: ErrorScenario, context: CaseContext) -> None:
    response = await _response(row, context, error=row.error.name)
    if response.error is None or response.error.code != row.error:
        raise UnmetError(error_name_with_code(row.error), f"the client reported {response}")


async def lost(row: ErrorScenario, action: Mapping[str, Any], context: CaseContext) -> None:
    response = await _response(row, context, **action)
    if response.ok is None:
        raise UnmetError("the client retries", f"it reported {response}")


_LOST: Mapping[str, Mapping[str, Any]] = {
    "closed-before": {"disconnect": "before"},
    "closed-after": {"disconnect": "after"},
    "cut-off": {"truncate": 6},
}


def _add_lost(family: Family, row: ErrorScenario) -> None:
    for name, action in _LOST.items():
        family.add(
            f"{row.command.replace('_', '-')}.{name}",
            f"{row.command} succeeds although its first connection breaks",
            partial(lost, row, action),
            origin="connections",
            response="ok",
            wire="the request is repeated on a new connection",
            commands=row.command,
            level=Level.SHOULD,
        )


def _level(row: ErrorScenario, *, is_final: bool) -> Level:
    """Return SHOULD where Kafka's own client differs.

    It reports errors of InitProducerId only as text, and its admin client may retry.
    """
    is_poor = row.api == "InitProducerId" if is_final else row.is_admin
    return Level.SHOULD if is_poor else Level.MUST


def _cases() -> Family:
    family = Family("trouble")
    for rows, body, what, response in (
        (RETRIED, retried, "{2} succeeds after one {1} from {0}", "ok"),
        (FINAL_ERRORS, reports_final_error, "{2} reports {1} from {0} to its caller", "{1}"),
    ):
        for row in rows:
            words = row.api, row.error.name, row.command
            family.add(
                f"{row.name}.{body.__name__.replace('_', '-')}",
                what.format(*words),
                partial(body, row),
                origin=row.api,
                response=response.format(*words),
                commands=row.command,
                level=_level(row, is_final=body is reports_final_error),
            )
    reads = {row.command: row for row in RETRIED if row.command != "create_topics"}
    for row in reads.values():
        _add_lost(family, row)
    return family


CASES = _cases().cases
