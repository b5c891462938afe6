"""Responses that are cut, oversized, late, garbled, or that belong to another request."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import TIMEOUT_MS, CaseContext, UnmetError
from kafka_shim.shim.conformance.cases.moves import CONSUME, PRODUCE, READER, prepare, write

_TROUBLE = Family("trouble")
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


async def broken(
    api: str,
    command: str,
    fields: Mapping[str, Any],
    action: Mapping[str, Any],
    context: CaseContext,
) -> None:
    await prepare(context, READER)
    if command == "consume":
        await write(context)
    fault = context.inject_error(api, match=_OF_CLIENT, **action)
    response = await context.ask(command, **fields)
    if not fault.fired:
        raise UnmetError(f"a {api} request", "the client sent none")
    if response.ok is None or response.ok.get("values") == []:
        await context.done(
            command, **fields
        )  # the first call may fail, but the client must still be usable


for _kind, _action, _what in _KINDS:
    for _api, _command, _fields in _COMMANDS:
        _TROUBLE.add(
            f"{_kind}.{_command.replace('_', '-')}",
            f"{_command} works, or works when called again, if the {_api} response {_what}",
            partial(broken, _api, _command, _fields, _action),
            origin="connections",
            response="ok from the first or the second call",
            wire=f"{_api} again, on a new connection if necessary",
            commands=f"produce {_command}",
            level=Level.MUST if _kind in ("slow", "cut-off") else Level.SHOULD,
        )

CASES = _TROUBLE.cases
