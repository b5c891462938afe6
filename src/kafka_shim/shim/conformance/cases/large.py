"""A record of 10 MB: it is written, rejected, and read with any fetch limit (KIP-74)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.case import Family
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    expect_error,
)
from kafka_shim.shim.conformance.fixtures import Setup

_VERSIONS = Family("versions")
TOPIC = "orders"
BYTES = 10_000_000
_LIMIT = str(2 * BYTES)
_LIMITS = {
    "max_request_size": _LIMIT,
    "fetch_max_bytes": _LIMIT,
    "max_partition_fetch_bytes": _LIMIT,
    "compression_type": "none",
}
_LARGE = Setup(properties=(("message.max.bytes", _LIMIT),))


async def reads(command: str, fields: Mapping[str, Any], context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    await context.write(TOPIC, b"x" * BYTES)
    await context.write(TOPIC, b"y")
    await context.open({"group_id": "readers"})
    found = await context.done(command, **fields, count=2, seconds=10)
    lengths = [len(value) for value in found["values"]]
    if lengths != [BYTES, 1]:
        raise UnmetError(f"values of {BYTES} and 1 bytes", f"the client reported {lengths}")


for _command, _fields in (
    ("consume", {"topics": [TOPIC]}),
    ("consume_assigned", {"partitions": [f"{TOPIC}-0"]}),
):
    _VERSIONS.add(
        f"ten-megabytes.{_command.replace('_', '-')}",
        f"{_command} reads a record of 10 MB, and the next one",
        partial(reads, _command, _fields),
        origin="KIP-74",
        response="both values",
        wire="the Fetch response has 10 MB, although the request sets a lower limit",
        commands=_command,
        setup=_LARGE,
        is_real=True,
    )


@_VERSIONS.case(
    "ten-megabytes.record",
    "a record of 10 MB is written and read where settings and broker allow it",
    origin="max.request.size",
    response="the value that was written",
    wire="Produce and Fetch with 10 MB",
    commands="produce consume",
    setup=_LARGE,
    is_real=True,
)
async def writes_and_reads(context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    await context.open({"group_id": "readers", **_LIMITS})
    await context.done("produce", topic=TOPIC, values=["x" * BYTES])
    found = await context.done("consume", topics=[TOPIC], count=1, seconds=10)
    lengths = [len(value) for value in found["values"]]
    if lengths != [BYTES]:
        raise UnmetError(f"a value of {BYTES} bytes", f"the client reported {lengths}")


@_VERSIONS.case(
    "ten-megabytes.refused",
    "a record that is too large for the broker is an error, and smaller ones can still be written",
    origin="message.max.bytes",
    response="MESSAGE_TOO_LARGE (10), or an error without a code",
    wire="Produce is answered with MESSAGE_TOO_LARGE (10)",
    commands="produce",
    is_real=True,
)
async def error_responses(context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    await context.open(_LIMITS)
    error = expect_error(await context.ask("produce", topic=TOPIC, values=["x" * BYTES]))
    if error.code not in (ErrorCode.MESSAGE_TOO_LARGE, None):
        raise UnmetError("MESSAGE_TOO_LARGE (10) if it has a code", f"the client reported {error}")
    await context.done("produce", topic=TOPIC, values=["y"])


CASES = _VERSIONS.cases
