"""A permission that is removed: the client reports it, and works again after it is restored."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

import msgspec

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    IDEMPOTENT_PRODUCER,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
)
from kafka_shim.conformance.cases.denials import RECOMMENDED_TITLES
from kafka_shim.conformance.denied_command import (
    RecommendedCheck,
    Rule,
    enables_group_protocol,
    hides_topics_without_describe,
)
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.fixtures import DEFAULT_SETUP, ClusterSetup
from kafka_shim.protocol.code_names import error_name_with_code

TOPIC, GROUP = "orders", "workers"
_SECONDS, _PAUSE_S, _ATTEMPTS = 5.0, 0.5, 3
_NOTICED_S = 1.0
"""How long a client has for what it does in the background: a Fetch, or a storm of them."""
_LATER_S = 0.05
"""Pause before a revocation: kafkajs treats metadata as new within the same millisecond."""
_RECORD_NUMBERS = count()
"""Records are different, so that one which the client reports twice is noticed."""


class RevokedPermission(msgspec.Struct, frozen=True):
    """`command` succeeds; then the ACL `denied` is added, and `later` fails with `code`."""

    name: str
    command: str
    fields: Mapping[str, Any]
    deny_rule: Rule
    code: int
    settings: Mapping[str, str] = {}
    denied_command: tuple[str, Mapping[str, Any]] | None = None
    """The command that is denied; None: `command` again."""
    preceding_commands: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    reads_records: bool = False
    """Whether the command reads records; then one is written before each call."""
    capabilities: str = ""
    supports_release: Callable[[str], bool] = lambda _: True
    setup: ClusterSetup = DEFAULT_SETUP
    is_noticed_in_background: bool = False
    """What the client does in the background meets the denial before `later` does."""
    is_fatal: bool = False
    origin: str = "KIP-11"
    level: RequirementLevel = RequirementLevel.MUST
    recommended_check: RecommendedCheck | None = None


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
_FAST = ClusterSetup(
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
    RevokedPermission("producer", *_PRODUCE, _WRITE, 29),
    RevokedPermission(
        "idempotent-producer", *_PRODUCE, _WRITE, 29, IDEMPOTENT_PRODUCER, origin="KIP-98"
    ),
    RevokedPermission(
        "transaction-topic",
        *_PRODUCE,
        _WRITE,
        29,
        TRANSACTIONAL_PRODUCER,
        preceding_commands=(("begin", {}),),
        capabilities="transactions",
        is_fatal=True,
        origin="KIP-98",
    ),
    RevokedPermission(
        "transactional-id",
        *_PRODUCE,
        {"deny": ["Write"], "transactional_id": "tx"},
        53,
        TRANSACTIONAL_PRODUCER,
        denied_command=("commit", {}),
        preceding_commands=(("begin", {}),),
        capabilities="transactions",
        is_fatal=True,
        origin="KIP-98",
    ),
    RevokedPermission("consumer", *_CONSUME, _READ, 29, _MEMBER, reads_records=True),
    RevokedPermission(
        "commit-by-group",
        *_CONSUME,
        _READ_GROUP,
        30,
        _QUIET,
        ("commit_offsets", {}),
        reads_records=True,
    ),
    RevokedPermission(
        "commit-by-topic",
        *_CONSUME,
        _READ,
        29,
        _MEMBER,
        ("commit_offsets", {}),
        reads_records=True,
        is_noticed_in_background=True,
    ),
    RevokedPermission(
        "committed-by-group",
        "committed",
        {"partitions": [f"{TOPIC}-0"]},
        {"deny": ["Describe", "Read"], "group": GROUP},
        30,
        {"group_id": GROUP},
        origin="KIP-163",
    ),
    RevokedPermission(
        "committed-by-topic",
        "committed",
        {"partitions": [f"{TOPIC}-0"]},
        {"deny": ["Describe", "Read"], "topic": TOPIC},
        29,
        {"group_id": GROUP},
        supports_release=lambda release: not hides_topics_without_describe(release),
        origin="KIP-163",
    ),
    RevokedPermission(
        "group-member",
        *_CONSUME,
        _READ_GROUP,
        30,
        {**_MEMBER, "session_timeout_ms": "2000"},
        _CONSUME,
        is_fatal=True,
        reads_records=True,
        setup=_FAST,
        level=RequirementLevel.SHOULD,  # Kafka's own client keeps retrying
    ),
    RevokedPermission("assigned", *_ASSIGNED, _READ, 29, reads_records=True),
    RevokedPermission(
        "consumer-protocol-member",
        *_CONSUME,
        _READ_GROUP,
        30,
        _NEXT_GEN,
        _CONSUME,
        reads_records=True,
        capabilities="consumer-groups",
        supports_release=enables_group_protocol("consumer"),
        setup=_FAST,
        is_fatal=True,
        origin="KIP-848",
    ),
    RevokedPermission(
        "share-consumer",
        *_SHARE,
        _READ,
        29,
        {
            "group_id": "sharers"
        },  # not GROUP, which may still have members that are not of a share group
        reads_records=True,
        capabilities="share-groups",
        supports_release=enables_group_protocol("share"),
        setup=_FAST,
        is_fatal=True,
        origin="KIP-932",
        recommended_check=RecommendedCheck.NO_RETRY_STORM,
    ),
    RevokedPermission(
        "describe-topic",
        "describe_topics",
        {"names": [TOPIC], "operations": False},
        {"deny": ["Describe"], "topic": TOPIC},
        29,
        supports_release=lambda release: not hides_topics_without_describe(release),
    ),
)


async def _write_next_record(row: RevokedPermission, context: CaseContext) -> None:
    if row.reads_records:
        await context.write_record(TOPIC, b"record %d" % next(_RECORD_NUMBERS))


async def _revoke_permission(row: RevokedPermission, context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(row.settings)
    for command, fields in row.preceding_commands:
        await context.run_successfully(command, **fields)
    for _ in range(_ATTEMPTS):
        await _write_next_record(row, context)  # share groups begin at the end
        ok_fields = await context.run_successfully(row.command, **row.fields)
        if ok_fields.get("values", True):  # a slow machine may need longer to join a group
            break
    else:
        raise UnmetExpectationError("the record that was written", "the client reported no record")
    await context.grant_to_user(row.deny_rule)
    await asyncio.sleep(_LATER_S)
    if row.is_noticed_in_background:
        await _write_next_record(row, context)
        await context.sleep_for_client(_NOTICED_S)


async def _await_denial_state(
    row: RevokedPermission, context: CaseContext, *, is_denied: bool
) -> DriverResponse:
    """Repeat the command until it is denied, or works again; return the last answer.

    A fetch that was sent before the change may still return records.
    """
    command, fields = row.denied_command or (row.command, row.fields)
    response = DriverResponse()
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if row.denied_command is None:
            await _write_next_record(row, context)
        response = (await context.run_command(command, **fields)).first_item_response()
        is_empty = command.startswith("consume") and (response.ok or {}).get("values") == []
        if (response.error is not None) == is_denied and (is_denied or not is_empty):
            break
        await asyncio.sleep(_PAUSE_S)
    return response


async def _run_while_denied(row: RevokedPermission, context: CaseContext) -> None:
    """Let the client go on without the permission: it may flood the broker after the error."""
    if row.reads_records and row.denied_command is None:
        await context.run_command(row.command, **{**row.fields, "seconds": _NOTICED_S})
    await context.sleep_for_client(_NOTICED_S)


async def expect_quiet_denial(
    row: RevokedPermission, context: CaseContext, *, omitted_check: RecommendedCheck | None = None
) -> None:
    await _revoke_permission(row, context)
    response = await _await_denial_state(row, context, is_denied=True)
    if response.error is None or response.error.code != row.code:
        raise UnmetExpectationError(
            error_name_with_code(row.code), f"the client reported {response}"
        )
    if omitted_check is RecommendedCheck.NO_RETRY_STORM:
        return
    if context.can_inspect_requests:
        await _run_while_denied(row, context)
    context.expect_no_retry_storm(row.code)


async def expect_restored_permission(row: RevokedPermission, context: CaseContext) -> None:
    await expect_quiet_denial(row, context)
    await context.revoke_from_user(row.deny_rule)
    response = await _await_denial_state(row, context, is_denied=False)
    if response.ok is None:
        raise UnmetExpectationError(
            "success of the same client after the permission is restored",
            f"it still reports {response}",
        )
    if response.ok.get("values") == []:
        raise UnmetExpectationError(
            "a value that was written after the permission is restored",
            "the client reported no value",
        )


def _revocation_cases() -> CaseFamily:
    family = CaseFamily("denials")
    for row in ROWS:
        denied_command = (row.denied_command or (row.command,))[0]
        command_names = {row.command, denied_command, *(name for name, _ in row.preceding_commands)}
        common: dict[str, Any] = {
            "commands": " ".join(command_names | ({"produce"} if row.reads_records else set())),
            "capabilities": row.capabilities,
            "origin": row.origin,
            "supports_release": row.supports_release,
            "setup": row.setup,
            "runs_on_real_cluster": True,
        }
        error = error_name_with_code(row.code)
        omitted = row.recommended_check
        family.add_case(
            f"revoked.{row.name}.reports-error",
            f"{denied_command} reports an error after its permission was removed",
            partial(expect_quiet_denial, row, omitted_check=omitted),
            expected_response=error,
            level=row.level,
            **common,
        )
        if omitted is not None:
            family.add_case(
                f"revoked.{row.name}.{omitted.value}",
                f"{denied_command} without its permission {RECOMMENDED_TITLES[omitted]}",
                partial(expect_quiet_denial, row),
                expected_response=error,
                level=RequirementLevel.SHOULD,
                **common,
            )
        if not row.is_fatal:
            family.add_case(
                f"revoked.{row.name}.recovers",
                f"{denied_command} works again after its permission is restored",
                partial(expect_restored_permission, row),
                expected_response=f"{error}, and ok after the permission is restored",
                level=row.level,
                **common,
            )
    return family


CASES = _revocation_cases().cases
