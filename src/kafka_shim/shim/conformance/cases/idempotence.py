"""KIP-679: producers are idempotent by default, and only brokers before 2.8 require
IdempotentWrite for that.
"""

from kafka_shim.authorizer.requirements import INIT_PRODUCER_ID_IDEMPOTENT
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError
from kafka_shim.shim.conformance.denial import requires_permission
from kafka_shim.shim.conformance.driver import Response

_KIPS = Family("kips")
TOPIC = "orders"
_needs_write = requires_permission(INIT_PRODUCER_ID_IDEMPOTENT, Operation.WRITE, ResourceType.TOPIC)


def _needs_more(release: str) -> bool:
    return not _needs_write(release)


async def _produce(context: CaseContext, *, is_said: bool, granted: bool = False) -> Response:
    await context.topic(TOPIC)
    await context.grant({"allow": ["Write"], "topic": TOPIC})
    if granted:
        await context.grant({"allow": ["IdempotentWrite"], "cluster": None})
    settings = {"enable_idempotence": "true"} if is_said else {}
    await context.open(settings, without=["enable.idempotence"])
    return await context.ask("produce", topic=TOPIC, values=["a"])


def _expect_ok(response: Response) -> None:
    if response.ok is None:
        raise UnmetError("the record is written", f"the client reported {response}")


@_KIPS.case(
    "idempotence.default",
    "a producer with default settings needs only Write",
    origin="KIP-679",
    response="ok",
    commands="produce",
    possible=_needs_write,
    is_real=True,
)
async def default(context: CaseContext) -> None:
    _expect_ok(await _produce(context, is_said=False))


@_KIPS.case(
    "idempotence.default-asks-id",
    "a producer is idempotent by default",
    origin="KIP-679",
    response="ok",
    wire="InitProducerId before Produce",
    commands="produce",
    level=Level.SHOULD,
    possible=_needs_write,
    is_real=True,
)
async def default_asks(context: CaseContext) -> None:
    _expect_ok(await _produce(context, is_said=False))
    if not context.requests(ApiKey.INIT_PRODUCER_ID):
        raise UnmetError("InitProducerId", "the client sent none")


@_KIPS.case(
    "idempotence.default-acks",
    "a producer waits for all in-sync replicas by default",
    origin="KIP-679",
    response="ok",
    wire="acks is -1 in Produce",
    commands="produce",
    level=Level.SHOULD,
    is_real=True,
)
async def default_acks(context: CaseContext) -> None:
    _expect_ok(await _produce(context, is_said=False, granted=True))
    for seen in context.requests(ApiKey.PRODUCE):
        request = seen.row()["request"] or {}
        if request.get("acks") != -1:
            raise UnmetError("acks -1", f"it is {request.get('acks')}")


@_KIPS.case(
    "idempotence.only-write",
    "an idempotent producer needs only Write",
    origin="KIP-679",
    response="ok",
    wire="InitProducerId",
    commands="produce",
    capabilities="idempotence",
    possible=_needs_write,
    is_real=True,
)
async def only_write(context: CaseContext) -> None:
    _expect_ok(await _produce(context, is_said=True))


@_KIPS.case(
    "idempotence.old-broker-default",
    "a producer with default settings falls back, or reports the missing permission",
    origin="KIP-679",
    response="ok, or CLUSTER_AUTHORIZATION_FAILED (31)",
    commands="produce",
    possible=_needs_more,
    is_real=True,
)
async def old_default(context: CaseContext) -> None:
    response = await _produce(context, is_said=False)
    if response.error is not None and response.error.code != 31:
        raise UnmetError(
            "ok, or CLUSTER_AUTHORIZATION_FAILED (31)", f"the client reported {response}"
        )
    context.expect_no_storm(31)


@_KIPS.case(
    "idempotence.old-broker-said",
    "an idempotent producer without IdempotentWrite reports the missing permission",
    origin="KIP-98",
    response="CLUSTER_AUTHORIZATION_FAILED (31)",
    commands="produce",
    capabilities="idempotence",
    possible=_needs_more,
    is_real=True,
)
async def old_said(context: CaseContext) -> None:
    response = await _produce(context, is_said=True)
    if response.error is None or response.error.code != 31:
        raise UnmetError("CLUSTER_AUTHORIZATION_FAILED (31)", f"the client reported {response}")
    context.expect_no_storm(31)


@_KIPS.case(
    "idempotence.old-broker-granted",
    "an idempotent producer with IdempotentWrite can write",
    origin="KIP-98",
    response="ok",
    commands="produce",
    capabilities="idempotence",
    possible=_needs_more,
    is_real=True,
)
async def old_granted(context: CaseContext) -> None:
    _expect_ok(await _produce(context, is_said=True, granted=True))


CASES = _KIPS.cases
