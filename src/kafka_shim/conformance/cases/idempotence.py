"""KIP-679: producers are idempotent by default, and only brokers before 2.8 require
IdempotentWrite for that.
"""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.requirements import INIT_PRODUCER_ID_IDEMPOTENT
from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    IDEMPOTENT_PRODUCER,
    CaseContext,
    UnmetExpectationError,
)
from kafka_shim.conformance.denied_command import requires_permission
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.records.batches import iterate_batches

_KIPS = CaseFamily("kips")
TOPIC = "orders"
_needs_write = requires_permission(INIT_PRODUCER_ID_IDEMPOTENT, Operation.WRITE, ResourceType.TOPIC)


def _needs_idempotent_write(release: str) -> bool:
    return not _needs_write(release)


async def _produce_with_write_permission(
    context: CaseContext, *, set_enable_idempotence: bool, grant_idempotent_write: bool = False
) -> DriverResponse:
    await context.create_topics(TOPIC)
    await context.grant_to_user({"allow": ["Write"], "topic": TOPIC})
    if grant_idempotent_write:
        await context.grant_to_user({"allow": ["IdempotentWrite"], "cluster": None})
    settings = IDEMPOTENT_PRODUCER if set_enable_idempotence else {}
    await context.open_client(settings, omitted_default_settings=["enable.idempotence"])
    return await context.run_command("produce", topic=TOPIC, values=["a"])


def _expect_record_written(response: DriverResponse) -> None:
    if response.ok is None:
        raise UnmetExpectationError("the record is written", f"the client reported {response}")


@_KIPS.case(
    "idempotence.default",
    "a producer with default settings needs only Write",
    origin="KIP-679",
    commands="produce",
    supports_release=_needs_write,
    runs_on_real_cluster=True,
)
async def expect_write_suffices_for_default_producer(context: CaseContext) -> None:
    _expect_record_written(
        await _produce_with_write_permission(context, set_enable_idempotence=False)
    )


@_KIPS.case(
    "idempotence.default-asks-id",
    "a producer is idempotent by default",
    origin="KIP-679",
    expected_requests="InitProducerId before Produce",
    commands="produce",
    level=RequirementLevel.SHOULD,
    supports_release=_needs_write,
    runs_on_real_cluster=True,
)
async def expect_default_producer_initializes_producer_id(context: CaseContext) -> None:
    _expect_record_written(
        await _produce_with_write_permission(context, set_enable_idempotence=False)
    )
    if not context.client_requests(ApiKey.INIT_PRODUCER_ID):
        raise UnmetExpectationError("InitProducerId", "the client sent none")


@_KIPS.case(
    "idempotence.default-acks",
    "a producer waits for all in-sync replicas by default",
    origin="KIP-679",
    expected_requests="acks is -1 in Produce",
    commands="produce",
    level=RequirementLevel.SHOULD,
    runs_on_real_cluster=True,
)
async def expect_default_producer_requests_all_acks(context: CaseContext) -> None:
    _expect_record_written(
        await _produce_with_write_permission(
            context, set_enable_idempotence=False, grant_idempotent_write=True
        )
    )
    for produce_request in context.client_requests(ApiKey.PRODUCE):
        request = produce_request.request_row()["request"] or {}
        if request.get("acks") != -1:
            raise UnmetExpectationError("acks -1", f"it is {request.get('acks')}")


@_KIPS.case(
    "idempotence.only-write",
    "an idempotent producer needs only Write",
    origin="KIP-679",
    expected_requests="InitProducerId",
    commands="produce",
    capabilities="idempotence",
    supports_release=_needs_write,
    runs_on_real_cluster=True,
)
async def expect_write_suffices_for_idempotent_producer(context: CaseContext) -> None:
    _expect_record_written(
        await _produce_with_write_permission(context, set_enable_idempotence=True)
    )


@_KIPS.case(
    "idempotence.old-broker-default",
    "a producer with default settings falls back, or reports the missing permission",
    origin="KIP-679",
    expected_response="ok, or CLUSTER_AUTHORIZATION_FAILED (31)",
    commands="produce",
    supports_release=_needs_idempotent_write,
    runs_on_real_cluster=True,
)
async def expect_default_producer_fallback(context: CaseContext) -> None:
    response = await _produce_with_write_permission(context, set_enable_idempotence=False)
    if response.error is not None and response.error.code != 31:
        raise UnmetExpectationError(
            "ok, or CLUSTER_AUTHORIZATION_FAILED (31)", f"the client reported {response}"
        )
    context.expect_no_retry_storm(31)


@_KIPS.case(
    "idempotence.old-broker-said",
    "an idempotent producer without IdempotentWrite reports the missing permission",
    origin="KIP-98",
    expected_response="CLUSTER_AUTHORIZATION_FAILED (31)",
    commands="produce",
    capabilities="idempotence",
    supports_release=_needs_idempotent_write,
    runs_on_real_cluster=True,
)
async def expect_missing_idempotent_write_reported(context: CaseContext) -> None:
    response = await _produce_with_write_permission(context, set_enable_idempotence=True)
    if response.error is None or response.error.code != 31:
        raise UnmetExpectationError(
            "CLUSTER_AUTHORIZATION_FAILED (31)", f"the client reported {response}"
        )
    context.expect_no_retry_storm(31)


@_KIPS.case(
    "idempotence.old-broker-granted",
    "an idempotent producer with IdempotentWrite can write",
    origin="KIP-98",
    commands="produce",
    capabilities="idempotence",
    supports_release=_needs_idempotent_write,
    runs_on_real_cluster=True,
)
async def expect_idempotent_write_suffices(context: CaseContext) -> None:
    _expect_record_written(
        await _produce_with_write_permission(
            context, set_enable_idempotence=True, grant_idempotent_write=True
        )
    )


def _produce_requests(context: CaseContext) -> list[Any]:
    messages = [each.request_message_or_none() for each in context.client_requests(ApiKey.PRODUCE)]
    return [message for message in messages if message is not None]


async def _produce_with_acks_of_leader(
    context: CaseContext, settings: Mapping[str, str]
) -> DriverResponse:
    """Return what a client reports that is opened with acks=1, and produces if that succeeds.

    Raise UnmetExpectationError if it sends records with a producer id and acks other than all.
    """
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    response = await context.try_open_client(
        {"acks": "1", **settings}, omitted_default_settings=["enable.idempotence"]
    )
    if response.ok is not None:
        response = await context.run_command("produce", topic=TOPIC, values=["a"])
    for request in _produce_requests(context):
        for data in (data for topic in request.topic_data for data in topic.partition_data):
            batches = iterate_batches(bytes(data.records or b""))
            if request.acks != -1 and any(batch.producer_id >= 0 for batch in batches):
                raise UnmetExpectationError(
                    "records with a producer id only with acks -1",
                    f"the client sent a batch with a producer id and acks {request.acks}",
                )
    return response


@_KIPS.case(
    "idempotence.acks-of-leader",
    "a producer with acks=1 is not idempotent, unless it waits for all replicas nevertheless",
    origin="KIP-679",
    expected_requests="no producer id in batches of a Produce with acks 1",
    commands="produce",
    runs_on_real_cluster=True,
)
async def expect_acks_of_leader_disables_idempotence(context: CaseContext) -> None:
    _expect_record_written(await _produce_with_acks_of_leader(context, {}))


@_KIPS.case(
    "idempotence.acks-conflict",
    "a producer rejects acks=1 with enable.idempotence or waits for all replicas; acks=all works",
    origin="KIP-679",
    expected_response="an error, or ok with acks -1",
    expected_requests="no producer id in batches of a Produce with acks 1",
    commands="produce",
    capabilities="idempotence",
    runs_on_real_cluster=True,
)
async def expect_acks_conflict_outcome(context: CaseContext) -> None:
    response = await _produce_with_acks_of_leader(context, IDEMPOTENT_PRODUCER)
    if response.ok is not None and any(each.acks != -1 for each in _produce_requests(context)):
        raise UnmetExpectationError(
            "an error, or acks -1", "the client was not idempotent although its settings say so"
        )
    await context.open_client({"acks": "all", "enable_idempotence": "true"}, client="second")
    await context.run_successfully("produce", client="second", topic=TOPIC, values=["a"])


CASES = _KIPS.cases
