"""Requests that every broker rejects, and members of full groups: clients report the codes."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.conformance.case import CaseFamily, ReleasePredicate
from kafka_shim.conformance.case_context import CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.moves import (
    CONSUME,
    READER,
    TOPIC,
    open_topic_client,
    write_record_without_driver,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of_release

_TROUBLE = CaseFamily("trouble")
_INVALID = {"setting": "retention.ms", "value": "soon"}


class RejectedCommand(msgspec.Struct, frozen=True):
    """A command about one thing, `item`, that a broker answers with `error`.

    `error_in_release` returns the error at a release, where older releases used another one.
    """

    name: str
    affected_resource: str
    command: str
    fields: Mapping[str, Any]
    item: str
    error: ErrorCode
    api: ApiKey
    error_in_release: Callable[[str], int] | None = None

    @property
    def supports_release(self) -> ReleasePredicate:
        return supports_api(self.api)

    def error_code_in_release(self, release: str) -> int:
        return self.error if self.error_in_release is None else self.error_in_release(release)


REFUSALS = (
    RejectedCommand(
        "topic-exists",
        "a topic that exists already",
        "create_topics",
        {"topics": {TOPIC: 1}},
        TOPIC,
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ApiKey.CREATE_TOPICS,
    ),
    RejectedCommand(
        "topic-config",
        "a topic with an invalid setting",
        "create_topics",
        {"topics": {"new": 1}, "configs": {"retention.ms": "soon"}},
        "new",
        ErrorCode.INVALID_CONFIG,
        ApiKey.CREATE_TOPICS,
        lambda release: facts_of_release(release).topics.unparsable_topic_config_error,
    ),
    RejectedCommand(
        "unknown-topic",
        "an unknown topic",
        "delete_topics",
        {"names": ["unknown"]},
        "unknown",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ApiKey.DELETE_TOPICS,
    ),
    RejectedCommand(
        "fewer-partitions",
        "fewer partitions than a topic has",
        "create_partitions",
        {"topics": {TOPIC: 1}},
        TOPIC,
        ErrorCode.INVALID_PARTITIONS,
        ApiKey.CREATE_PARTITIONS,
    ),
    RejectedCommand(
        "setting",
        "an invalid value of a topic's setting",
        "alter_configs",
        {"type": "topic", "names": [TOPIC], **_INVALID},
        TOPIC,
        ErrorCode.INVALID_CONFIG,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda release: facts_of_release(release).configs.invalid_topic_config_value_error,
    ),
    RejectedCommand(
        "unknown-group",
        "an unknown group",
        "delete_groups",
        {"names": ["unknown"]},
        "unknown",
        ErrorCode.GROUP_ID_NOT_FOUND,
        ApiKey.DELETE_GROUPS,
    ),
)


async def expect_rejection_reported(row: RejectedCommand, context: CaseContext) -> None:
    await open_topic_client(context)
    response = (await context.run_command(row.command, **row.fields)).item_response(row.item)
    _expect_error_code(row.error_code_in_release(context.release), response)


def _expect_error_code(code: int, response: Any) -> None:
    if response.error is None or response.error.code != code:
        raise UnmetExpectationError(error_name_with_code(code), f"the client reported {response}")


for _row in REFUSALS:
    _TROUBLE.add_case(
        f"refused.{_row.name}",
        f"{_row.command} reports the error for {_row.affected_resource}",
        partial(expect_rejection_reported, _row),
        origin=_row.api.wire_name,
        expected_response=error_name_with_code(_row.error),
        commands=_row.command,
        supports_release=_row.supports_release,
        runs_on_real_cluster=True,
    )


@_TROUBLE.case(
    "refused.group-with-members",
    "delete_groups reports the error for a group with members",
    origin="DeleteGroups",
    expected_response="NON_EMPTY_GROUP (68)",
    commands="produce consume delete_groups",
    capabilities="classic-groups",
    supports_release=supports_api(ApiKey.DELETE_GROUPS),
    runs_on_real_cluster=True,
)
async def expect_nonempty_group_error_reported(context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await write_record_without_driver(context)
    await context.consume_values(**CONSUME)
    await context.open_client(client="admin")
    group = READER["group_id"]
    response = await context.run_command("delete_groups", client="admin", names=[group])
    _expect_error_code(ErrorCode.NON_EMPTY_GROUP, response.item_response(group))


@_TROUBLE.case(
    "refused.full-group",
    "consume reports the error of a group that has reached its largest size",
    origin="group.max.size",
    expected_response="GROUP_MAX_SIZE_REACHED (81)",
    expected_requests="JoinGroup is answered with GROUP_MAX_SIZE_REACHED (81)",
    commands="produce consume",
    capabilities="classic-groups",
    setup=ClusterSetup(properties=(("group.max.size", "1"),)),
    supports_release=supports_api(ApiKey.JOIN_GROUP, 5),
    runs_on_real_cluster=True,
)
async def expect_full_group_error_reported(context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await write_record_without_driver(context)
    await context.open_client(READER, client="other")
    await context.consume_values(client="other", **CONSUME)
    response = await context.run_command("consume", **{**CONSUME, "seconds": 4})
    _expect_error_code(ErrorCode.GROUP_MAX_SIZE_REACHED, response)


CASES = _TROUBLE.cases
