"""A consumer whose committed offset cannot be read, and one that reads a damaged record batch."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import EVERYTHING, CaseContext, UnmetExpectationError
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.records.batches import Record, encode_batch

_KIPS = CaseFamily("kips")
_VERSIONS = CaseFamily("versions")
TOPIC, GROUP = "orders", "workers"
_POLL: Mapping[str, Any] = {"count": 1, "seconds": 8}
_PARTITION_CODES = (
    "topics.*.partitions.*.error_code",
    "groups.*.topics.*.partitions.*.error_code",
)


async def expect_denied_offset_is_not_replaced_by_reset(code: int, context: CaseContext) -> None:
    """Deny OffsetFetch while the coordinator is known.

    The group has committed offset 0, and the client would begin at the end of the topic without a
    committed offset. So a client that takes the denial for "no offset" never reads the record.
    """
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.write_record(TOPIC, b"after the committed offset")
    if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        context.inject_fault("OffsetFetch", set=dict.fromkeys(_PARTITION_CODES, code), times=0)
    else:
        context.inject_fault("OffsetFetch", error=code, times=0)
    await context.open_client({"group_id": GROUP, "auto_offset_reset": "latest"})
    response = await context.run_command("consume", topics=[TOPIC], **_POLL)
    if response.error is None or response.error.code != code:
        raise UnmetExpectationError(error_name_with_code(code), f"the client reported {response}")
    context.expect_no_retry_storm(code)


for _name, _code in (
    ("group", ErrorCode.GROUP_AUTHORIZATION_FAILED),
    ("topic", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
):
    _KIPS.add_case(
        f"offset-fetch.denied-{_name}",
        f"a consumer whose OffsetFetch is denied for its {_name} does not begin elsewhere",
        partial(expect_denied_offset_is_not_replaced_by_reset, int(_code)),
        origin="KIP-163",
        expected_response=error_name_with_code(_code),
        expected_requests=f"OffsetFetch is answered with {_code.name}, the coordinator is known",
        commands="consume",
        capabilities="classic-groups",
    )


def _batch_with_wrong_checksum(context: CaseContext) -> bytes:
    batch = encode_batch([Record(0, context.now_ms(), None, b"written")])
    return batch.replace(b"written", b"damaged")


async def _consume_damaged_batch(context: CaseContext) -> str:
    """Return what the client reports that reads a batch whose checksum does not fit."""
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.write_record(TOPIC, b"written")
    records = _batch_with_wrong_checksum(context)
    context.inject_fault("Fetch", set={"responses.*.partitions.*.records": records}, times=0)
    await context.open_client({"check_crcs": "true"})
    response = await context.run_command("consume_assigned", partitions=[f"{TOPIC}-0"], **_POLL)
    if response.ok is not None and response.ok["values"]:
        raise UnmetExpectationError(
            "no value of a batch whose checksum is wrong", f"the client reported {response}"
        )
    return "" if response.error is None else response.error.text


@_VERSIONS.case(
    "damaged-batch.not-delivered",
    "a consumer with check.crcs does not deliver a record whose checksum is wrong",
    origin="KIP-98",
    expected_response="an error, or no value",
    expected_requests="the Fetch response has a record batch with a wrong CRC-32C",
    commands="consume_assigned",
)
async def expect_no_value_of_damaged_batch(context: CaseContext) -> None:
    await _consume_damaged_batch(context)


@_VERSIONS.case(
    "damaged-batch.reports-error",
    "a consumer with check.crcs reports a record batch whose checksum is wrong",
    origin="KIP-98",
    expected_response="an error",
    expected_requests="the Fetch response has a record batch with a wrong CRC-32C",
    commands="consume_assigned",
    level=RequirementLevel.SHOULD,
)
async def expect_damaged_batch_reported(context: CaseContext) -> None:
    if not await _consume_damaged_batch(context):
        raise UnmetExpectationError("an error", "the client reported no error and no value")


CASES = (*_KIPS.cases, *_VERSIONS.cases)
