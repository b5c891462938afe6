"""A record of 10 MB: it is written, rejected, and read with any fetch limit (KIP-74)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.protocol.error_codes import ErrorCode

_VERSIONS = CaseFamily("versions")
TOPIC = "orders"
BYTES = 10_000_000
_LIMIT = str(2 * BYTES)
_LIMITS = {
    "max_request_size": _LIMIT,
    "fetch_max_bytes": _LIMIT,
    "max_partition_fetch_bytes": _LIMIT,
    "compression_type": "none",
}
_LARGE = ClusterSetup(properties=(("message.max.bytes", _LIMIT),))


async def expect_large_record_read(
    command: str, fields: Mapping[str, Any], context: CaseContext
) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.write_record(TOPIC, b"x" * BYTES)
    await context.write_record(TOPIC, b"y")
    await context.open_client({"group_id": "readers"})
    consumed = await context.run_successfully(command, **fields, count=2, seconds=10)
    lengths = [len(value) for value in consumed["values"]]
    if lengths != [BYTES, 1]:
        raise UnmetExpectationError(
            f"values of {BYTES} and 1 bytes", f"the client reported {lengths}"
        )


for _command, _fields in (
    ("consume", {"topics": [TOPIC]}),
    ("consume_assigned", {"partitions": [f"{TOPIC}-0"]}),
):
    _VERSIONS.add_case(
        f"ten-megabytes.{_command.replace('_', '-')}",
        f"{_command} reads a record of 10 MB, and the next one",
        partial(expect_large_record_read, _command, _fields),
        origin="KIP-74",
        expected_response="both values",
        expected_requests="the Fetch response has 10 MB, although the request sets a lower limit",
        commands=_command,
        setup=_LARGE,
        runs_on_real_cluster=True,
    )


@_VERSIONS.case(
    "ten-megabytes.record",
    "a record of 10 MB is written and read where settings and broker allow it",
    origin="max.request.size",
    expected_response="the value that was written",
    expected_requests="Produce and Fetch with 10 MB",
    commands="produce consume",
    setup=_LARGE,
    runs_on_real_cluster=True,
)
async def expect_large_record_round_trip(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client({"group_id": "readers", **_LIMITS})
    await context.run_successfully("produce", topic=TOPIC, values=["x" * BYTES])
    consumed = await context.run_successfully("consume", topics=[TOPIC], count=1, seconds=10)
    lengths = [len(value) for value in consumed["values"]]
    if lengths != [BYTES]:
        raise UnmetExpectationError(f"a value of {BYTES} bytes", f"the client reported {lengths}")


@_VERSIONS.case(
    "ten-megabytes.refused",
    "a record that is too large for the broker is an error, and smaller ones can still be written",
    origin="message.max.bytes",
    expected_response="MESSAGE_TOO_LARGE (10), or an error without a code",
    expected_requests="Produce is answered with MESSAGE_TOO_LARGE (10)",
    commands="produce",
    runs_on_real_cluster=True,
)
async def expect_too_large_record_rejected(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(_LIMITS)
    error = expect_client_error(
        await context.run_command("produce", topic=TOPIC, values=["x" * BYTES])
    )
    if error.code not in (ErrorCode.MESSAGE_TOO_LARGE, None):
        raise UnmetExpectationError(
            "MESSAGE_TOO_LARGE (10) if it has a code", f"the client reported {error}"
        )
    await context.run_successfully("produce", topic=TOPIC, values=["y"])


CASES = _VERSIONS.cases
