"""Requests that every broker rejects, and members of full groups: clients report the codes."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of
from kafka_shim.shim.conformance.case import Family, Possible
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError
from kafka_shim.shim.conformance.cases.moves import CONSUME, READER, TOPIC, prepare, write
from kafka_shim.shim.conformance.denial import supports_api
from kafka_shim.shim.conformance.fixtures import Setup

_TROUBLE = Family("trouble")
_INVALID = {"setting": "retention.ms", "value": "soon"}


class Refusal(msgspec.Struct, frozen=True):
    """A command about one thing, `item`, that a broker answers with `error`.

    `error_at` returns the error at a release, where older releases used another one.
    """

    name: str
    what: str
    command: str
    fields: Mapping[str, Any]
    item: str
    error: ErrorCode
    api: ApiKey
    error_at: Callable[[str], int] | None = None

    @property
    def possible(self) -> Possible:
        return supports_api(self.api)

    def code_at(self, release: str) -> int:
        return self.error if self.error_at is None else self.error_at(release)


REFUSALS = (
    Refusal(
        "topic-exists",
        "a topic that exists already",
        "create_topics",
        {"topics": {TOPIC: 1}},
        TOPIC,
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ApiKey.CREATE_TOPICS,
    ),
    Refusal(
        "topic-config",
        "a topic with an invalid setting",
        "create_topics",
        {"topics": {"new": 1}, "configs": {"retention.ms": "soon"}},
        "new",
        ErrorCode.INVALID_CONFIG,
        ApiKey.CREATE_TOPICS,
        lambda release: facts_of(release).topics.unparsable_topic_config_error,
    ),
    Refusal(
        "unknown-topic",
        "an unknown topic",
        "delete_topics",
        {"names": ["unknown"]},
        "unknown",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ApiKey.DELETE_TOPICS,
    ),
    Refusal(
        "fewer-partitions",
        "fewer partitions than a topic has",
        "create_partitions",
        {"topics": {TOPIC: 1}},
        TOPIC,
        ErrorCode.INVALID_PARTITIONS,
        ApiKey.CREATE_PARTITIONS,
    ),
    Refusal(
        "setting",
        "an invalid value of a topic's setting",
        "alter_configs",
        {"type": "topic", "names": [TOPIC], **_INVALID},
        TOPIC,
        ErrorCode.INVALID_CONFIG,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda release: facts_of(release).configs.invalid_topic_config_value_error,
    ),
    Refusal(
        "unknown-group",
        "an unknown group",
        "delete_groups",
        {"names": ["unknown"]},
        "unknown",
        ErrorCode.GROUP_ID_NOT_FOUND,
        ApiKey.DELETE_GROUPS,
    ),
)


async def refused(row: Refusal, context: CaseContext) -> None:
    await prepare(context)
    response = (await context.ask(row.command, **row.fields)).item(row.item)
    _expect(row.code_at(context.release), response)


def _expect(code: int, response: Any) -> None:
    if response.error is None or response.error.code != code:
        raise UnmetError(error_name_with_code(code), f"the client reported {response}")


for _row in REFUSALS:
    _TROUBLE.add(
        f"refused.{_row.name}",
        f"{_row.command} reports the error for {_row.what}",
        partial(refused, _row),
        origin=_row.api.wire_name,
        response=error_name_with_code(_row.error),
        commands=_row.command,
        possible=_row.possible,
        is_real=True,
    )


@_TROUBLE.case(
    "refused.group-with-members",
    "delete_groups reports the error for a group with members",
    origin="DeleteGroups",
    response="NON_EMPTY_GROUP (68)",
    commands="produce consume delete_groups",
    capabilities="classic-groups",
    possible=supports_api(ApiKey.DELETE_GROUPS),
    is_real=True,
)
async def group_has_members(context: CaseContext) -> None:
    await prepare(context, READER)
    await write(context)
    await context.done("consume", **CONSUME)
    await context.open(client="admin")
    group = READER["group_id"]
    response = await context.ask("delete_groups", client="admin", names=[group])
    _expect(ErrorCode.NON_EMPTY_GROUP, response.item(group))


@_TROUBLE.case(
    "refused.full-group",
    "consume reports the error of a group that has reached its largest size",
    origin="group.max.size",
    response="GROUP_MAX_SIZE_REACHED (81)",
    wire="JoinGroup is answered with GROUP_MAX_SIZE_REACHED (81)",
    commands="produce consume",
    capabilities="classic-groups",
    setup=Setup(properties=(("group.max.size", "1"),)),
    possible=supports_api(ApiKey.JOIN_GROUP, 5),
    is_real=True,
)
async def group_is_full(context: CaseContext) -> None:
    await prepare(context, READER)
    await write(context)
    await context.open(READER, client="other")
    await context.done("consume", client="other", **CONSUME)
    response = await context.ask("consume", **{**CONSUME, "seconds": 4})
    _expect(ErrorCode.GROUP_MAX_SIZE_REACHED, response)


CASES = _TROUBLE.cases
