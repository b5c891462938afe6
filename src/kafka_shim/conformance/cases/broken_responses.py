"""Responses that are cut, oversized, late, garbled, or that belong to another request."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import TIMEOUT_MS, CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.moves import (
    CONSUME,
    PRODUCE,
    READER,
    open_topic_client,
    write_record_without_driver,
)
from kafka_shim.protocol.codec.catalogue import api_key
from kafka_shim.protocol.enums import ApiKey

_TROUBLE = CaseFamily("trouble")
_OF_CLIENT = {"principal": "User:alice"}
_COMMANDS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("Metadata", "list_topics", {}),
    ("Produce", "produce", PRODUCE),
    ("Fetch", "consume", CONSUME),
)
_KINDS: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    ("cut-off", {"truncate": 9}, "is cut off"),
    ("oversized", {"size": 2**31 - 1}, "announces 2 GiB"),
    ("negative-size", {"size": -1}, "announces a negative size"),
    ("wrong-correlation-id", {"correlation_id": 2**30}, "has the correlation id of no request"),
    ("garbled", {"corrupt": True}, "cannot be decoded"),
    ("slow", {"delay_ms": TIMEOUT_MS // 4}, "comes late, but in time"),
    ("never", {"black_hole": True}, "never comes"),
)


async def expect_broken_response_recovery(
    api: str,
    command: str,
    fields: Mapping[str, Any],
    action: Mapping[str, Any],
    context: CaseContext,
) -> None:
    await open_topic_client(context, READER)
    if command == "consume":
        await write_record_without_driver(context)
    fault = context.inject_fault(api, match=_OF_CLIENT, **action)
    response = await context.run_command(command, **fields)
    if not fault.fired:
        raise UnmetExpectationError(f"a {api} request", "the client sent none")
    if response.ok is None or response.ok.get("values") == []:
        # the first call may fail, but the client must still be usable
        response = await context.run_command(command, **fields)
    if response.ok is None or response.ok.get("values") == []:
        raise UnmetExpectationError(f"{command} succeeds", f"the client reported {response}")
    _expect_later_intact_response(api, action, context)


def _expect_later_intact_response(
    api: str, action: Mapping[str, Any], context: CaseContext
) -> None:
    """Raise UnmetExpectationError if the client has accepted a response that cannot be read."""
    if "delay_ms" in action:
        return
    requests = context.client_requests(ApiKey(api_key(api)))
    if not any(each.errors == () and not each.faults for each in requests):
        raise UnmetExpectationError(
            f"{api} again, since its response was not usable",
            "the client took it for the result",
        )


for _kind, _action, _what in _KINDS:
    for _api, _command, _fields in _COMMANDS:
        _TROUBLE.add_case(
            f"{_kind}.{_command.replace('_', '-')}",
            f"{_command} works, or works when called again, if the {_api} response {_what}",
            partial(expect_broken_response_recovery, _api, _command, _fields, _action),
            origin="connections",
            expected_response="ok from the first or the second call",
            expected_requests=f"{_api} again, on a new connection if necessary",
            commands=f"produce {_command}",
            level=RequirementLevel.MUST
            if _kind in ("slow", "cut-off")
            else RequirementLevel.SHOULD,
        )

CASES = _TROUBLE.cases
