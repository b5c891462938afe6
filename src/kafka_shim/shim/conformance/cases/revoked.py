"""A permission that is removed: the client reports it, and works again after it is restored."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import EVERYTHING, CaseContext, UnmetError
from kafka_shim.shim.conformance.denial import Rule, has_protocol, hides_topics
from kafka_shim.shim.conformance.driver import Response
from kafka_shim.shim.conformance.fixtures import DEFAULT_SETUP, Setup

TOPIC, GROUP = "orders", "workers"
_SECONDS, _PAUSE_S, _ATTEMPTS = 5.0, 0.5, 3
_NOTICED_S = 1.0
"""How long a client has for what it does in the background: a Fetch, or a storm of them."""
_LATER_S = 0.05
"""Pause before a revocation: kafkajs treats metadata as new within the same millisecond."""


class Revocation(msgspec.Struct, frozen=True):
    """`command` succeeds; then the ACL `denied` is added, and `later` fails with `code`."""

    name: str
    command: str
    fields: Mapping[str, Any]
    denied: Rule
    code: int
    settings: Mapping[str, str] = {}
    later: tuple[str, Mapping[str, Any]] | None = None
    """The command that is denied; None: `command` again."""
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    reads: bool = False
    """Whether the command reads records; then one is written before each call."""
    capabilities: str = ""
    possible: Callable[[str], bool] = lambda _: True
    setup: Setup = DEFAULT_SETUP
    is_noticed: bool = False
    """What the client does in the background meets the denial before `later` does."""
    is_fatal: bool = False
    origin: str = "KIP-11"
    level: Level = Level.MUST


_PRODUCE: tuple[str, Mapping[str, Any]] = ("produce", {"topic": TOPIC, "values": ["a"]})
_POLL = {"count": 1, "seconds": 6}
_CONSUME: tuple[str, Mapping[str, Any]] = ("consume", {"topics": [TOPIC], **_POLL})
_ASSIGNED: tuple[str, Mapping[str, Any]] = (
    "consume_assigned",
    {"partitions": [f"{TOPIC}-0"], **_POLL},
)
_SHARE: tuple[str, Mapping[str, Any]] = ("consume_share", {"topics": [TOPIC], **_POLL})
_WRITE: Rule = {"deny": ["Write"], "topic": TOPIC}
_READ: Rule = {"deny": ["Read"], "topic": TOPIC}
_READ_GROUP: Rule = {"deny": ["Read"], "group": GROUP}
_MEMBER = {"group_id": GROUP, "session_timeout_ms": "6000", "heartbeat_interval_ms": "500"}
_QUIET = {"group_id": GROUP, "session_timeout_ms": "6000", "heartbeat_interval_ms": "5000"}
"""A member whose commit comes before its next heartbeat."""
_NEXT_GEN = {"group_id": GROUP, "group_protocol": "consumer"}
_IDEMPOTENT = {"enable_idempotence": "true"}
_TX = {"transactional_id": "tx", "enable_idempotence": "true"}
_FAST = Setup(
    properties=(
        ("group.min.session.timeout.ms", "1000"),
        ("group.consumer.min.heartbeat.interval.ms", "500"),
        ("group.consumer.heartbeat.interval.ms", "500"),
        ("group.share.min.heartbeat.interval.ms", "500"),
        ("group.share.heartbeat.interval.ms", "500"),
    )
)
"""Short session timeouts are allowed, so that clients retry soon; members of the consumer protocol
get their heartbeat interval from the broker.
"""

ROWS = (
    Revocation("producer", *_PRODUCE, _WRITE, 29),
    Revocation("idempotent-producer", *_PRODUCE, _WRITE, 29, _IDEMPOTENT, origin="KIP-98"),
    Revocation(
        "transaction-topic",
        *_PRODUCE,
        _WRITE,
        29,
        _TX,
        before=(("begin", {}),),
        capabilities="transactions",
        is_fatal=True,
        origin="KIP-98",
    ),
    Revocation(
        "transactional-id",
        *_PRODUCE,
        {"deny": ["Write"], "transactional_id": "tx"},
        53,
        _TX,
        later=("commit", {}),
        before=(("begin", {}),),
        capabilities="transactions",
        is_fatal=True,
        origin="KIP-98",
    ),
    Revocation("consumer", *_CONSUME, _READ, 29, _MEMBER, reads=True),
    Revocation(
        "commit-by-group", *_CONSUME, _READ_GROUP, 30, _QUIET, ("commit_offsets", {}), reads=True
    ),
    Revocation(
        "commit-by-topic",
        *_CONSUME,
        _READ,
        29,
        _MEMBER,
        ("commit_offsets", {}),
        reads=True,
        is_noticed=True,
    ),
    Revocation(
        "group-member",
        *_CONSUME,
        _READ_GROUP,
        30,
        {**_MEMBER, "session_timeout_ms": "2000"},
        _CONSUME,
        is_fatal=True,
        reads=True,
        setup=_FAST,
        level=Level.SHOULD,  # Kafka's own client keeps retrying
    ),
    Revocation("assigned", *_ASSIGNED, _READ, 29, reads=True),
    Revocation(
        "consumer-protocol-member",
        *_CONSUME,
        _READ_GROUP,
        30,
        _NEXT_GEN,
        _CONSUME,
        reads=True,
        capabilities="consumer-groups",
        possible=has_protocol("consumer"),
        setup=_FAST,
        is_fatal=True,
        origin="KIP-848",
    ),
    Revocation(
        "share-consumer",
        *_SHARE,
        _READ,
        29,
        {
            "group_id": "sharers"
        },  # not GROUP, which may still have members that are not of a share group
        reads=True,
        capabilities="share-groups",
        possible=has_protocol("share"),
        setup=_FAST,
        is_fatal=True,
        origin="KIP-932",
    ),
    Revocation(
        "describe-topic",
        "describe_topics",
        {"names": [TOPIC], "operations": False},
        {"deny": ["Describe"], "topic": TOPIC},
        29,
        possible=lambda release: not hides_topics(release),
    ),
)


async def _write(row: Revocation, context: CaseContext) -> None:
    if row.reads:
        await context.write(TOPIC, b"a")


async def _begin(row: Revocation, context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    await _write(row, context)
    await context.open(row.settings)
    for command, fields in row.before:
        await context.done(command, **fields)
    for _ in range(_ATTEMPTS):
        found = await context.done(row.command, **row.fields)
        if found.get("values", True):  # a slow machine may need longer to join a group
            break
    await context.grant(row.denied)
    await asyncio.sleep(_LATER_S)
    if row.is_noticed:
        await _write(row, context)
        await context.keep_running(_NOTICED_S)


async def _until(row: Revocation, context: CaseContext, *, is_denied: bool) -> Response:
    """Repeat the command until it is denied, or works again; return the last answer.

    A fetch that was sent before the change may still return records.
    """
    command, fields = row.later or (row.command, row.fields)
    response = Response()
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        if row.later is None:
            await _write(row, context)
        response = (await context.ask(command, **fields)).first()
        if (response.error is not None) == is_denied:
            break
        await asyncio.sleep(_PAUSE_S)
    return response


async def _linger(row: Revocation, context: CaseContext) -> None:
    """Let the client go on without the permission: it may flood the broker after the error."""
    if row.reads and row.later is None:
        await context.ask(row.command, **{**row.fields, "seconds": _NOTICED_S})
    await context.keep_running(_NOTICED_S)


async def reports_error(row: Revocation, context: CaseContext) -> None:
    await _begin(row, context)
    response = await _until(row, context, is_denied=True)
    if response.error is None or response.error.code != row.code:
        raise UnmetError(error_name_with_code(row.code), f"the client reported {response}")
    if context.observes_frames:
        await _linger(row, context)
    context.expect_no_storm(row.code)


async def recovers(row: Revocation, context: CaseContext) -> None:
    await reports_error(row, context)
    await context.revoke(row.denied)
    response = await _until(row, context, is_denied=False)
    if response.ok is None:
        raise UnmetError(
            "success of the same client after the permission is restored",
            f"it still reports {response}",
        )


def _cases() -> Family:
    family = Family("denials")
    for row in ROWS:
        later = (row.later or (row.command,))[0]
        words = {row.command, later, *(name for name, _ in row.before)}
        common: dict[str, Any] = {
            "commands": " ".join(words | ({"produce"} if row.reads else set())),
            "capabilities": row.capabilities,
            "origin": row.origin,
            "possible": row.possible,
            "setup": row.setup,
            "level": row.level,
            "is_real": True,
        }
        family.add(
            f"revoked.{row.name}.reports-error",
            f"{later} reports an error after its permission was removed",
            partial(reports_error, row),
            response=error_name_with_code(row.code),
            **common,
        )
        if not row.is_fatal:
            error = error_name_with_code(row.code)
            family.add(
                f"revoked.{row.name}.recovers",
                f"{later} works again after its permission is restored",
                partial(recovers, row),
                response=f"{error}, and ok after the permission is restored",
                **common,
            )
    return family


CASES = _cases().cases
