"""Other releases: what works with each of them, APIs that a broker lacks, other versions."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    expect_error,
)
from kafka_shim.shim.conformance.denial import has_protocol, supports_api

_VERSIONS = Family("versions")
TOPIC, GROUP = "orders", "workers"
Fields = Mapping[str, Any]

PRODUCE: Fields = {"topic": TOPIC, "values": ["a"]}
CONSUME: Fields = {"topics": [TOPIC], "count": 1, "seconds": 8}
_OFFSETS = {"partitions": [f"{TOPIC}-0"]}
_NAMES = {"names": [TOPIC], "operations": False}
BASICS: tuple[tuple[str, Fields, Mapping[str, str], ApiKey], ...] = (
    ("produce", PRODUCE, {}, ApiKey.PRODUCE),
    ("create_topics", {"topics": {"new": 1}}, {}, ApiKey.CREATE_TOPICS),
    ("delete_topics", {"names": [TOPIC]}, {}, ApiKey.DELETE_TOPICS),
    ("list_topics", {}, {}, ApiKey.METADATA),
    ("describe_topics", _NAMES, {}, ApiKey.METADATA),
    ("describe_cluster", {"operations": False}, {}, ApiKey.METADATA),
    ("describe_configs", {"type": "topic", "names": [TOPIC]}, {}, ApiKey.DESCRIBE_CONFIGS),
    ("list_offsets", _OFFSETS, {}, ApiKey.LIST_OFFSETS),
    ("list_groups", {}, {}, ApiKey.LIST_GROUPS),
    ("describe_groups", {"names": [GROUP], "operations": False}, {}, ApiKey.DESCRIBE_GROUPS),
    ("group_offsets", {"group": GROUP, **_OFFSETS}, {}, ApiKey.OFFSET_FETCH),
)


async def prepare(context: CaseContext, settings: Mapping[str, str] = {}) -> None:
    """Create a topic with a group and a record, and open a client that may do everything."""
    await context.topic(TOPIC)
    await context.group(GROUP, topic=TOPIC)
    await context.grant(*EVERYTHING)
    await context.open(settings)


async def write(context: CaseContext, *values: str) -> None:
    """Have another client write records."""
    await context.open(client="writer", login=None)
    await context.done("produce", client="writer", topic=TOPIC, values=list(values))


async def works(
    command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await prepare(context, settings)
    await context.done(command, **fields)


for _command, _fields, _settings, _api in BASICS:
    _VERSIONS.add(
        f"basics.{_command.replace('_', '-')}",
        f"{_command} works with every release",
        partial(works, _command, _fields, _settings),
        origin="KIP-35",
        response="ok",
        wire="a version of each API that the broker has",
        commands=_command,
        possible=supports_api(_api),
        is_real=True,
    )


async def consumes(settings: Mapping[str, str], context: CaseContext) -> None:
    await prepare(context, settings)
    await write(context, "a", "b")
    found = await context.done("consume", topics=[TOPIC], count=2, seconds=8)
    if found["values"] != ["a", "b"]:
        raise UnmetError("the values a and b", f"the client reported {found}")
    await context.done("commit_offsets")


for _name, _settings, _capability in (
    ("classic", {"group_id": "readers"}, "classic-groups"),
    (
        "consumer",
        {"group_id": "readers", "group_protocol": "consumer"},
        "consumer-groups",
    ),
):
    _VERSIONS.add(
        f"basics.consume-{_name}",
        f"a group member with the {_name} protocol reads and commits",
        partial(consumes, _settings),
        origin="KIP-848" if _name == "consumer" else "KIP-35",
        response="the values that were written",
        commands="consume commit_offsets produce",
        capabilities=_capability,
        is_real=True,
        possible=has_protocol(_name),
    )


@_VERSIONS.case(
    "basics.transaction",
    "a transaction commits with every release",
    origin="KIP-98",
    response="ok",
    commands="begin produce commit",
    capabilities="transactions",
    is_real=True,
)
async def transaction(context: CaseContext) -> None:
    await prepare(context, {"transactional_id": "tx", "enable_idempotence": "true"})
    for command, fields in (("begin", {}), ("produce", PRODUCE), ("commit", {})):
        await context.done(command, **fields)


@_VERSIONS.case(
    "basics.compressed",
    "a consumer reads records that are compressed with lz4",
    origin="KIP-57",
    response="the values that were written",
    commands="consume produce",
    level=Level.SHOULD,
    is_real=True,
)
async def compressed(context: CaseContext) -> None:
    await prepare(context, {"group_id": "readers", "compression_type": "lz4"})
    await context.done("produce", topic=TOPIC, values=["a" * 100, "b" * 100])
    found = await context.done("consume", topics=[TOPIC], count=2, seconds=8)
    if found["values"] != ["a" * 100, "b" * 100]:
        raise UnmetError("the written values", f"the client reported {found}")


def _refuses_newest(release: str) -> bool:
    return served_versions(release)[ApiKey.API_VERSIONS][1] < 3


@_VERSIONS.case(
    "api-versions.falls-back",
    "a client retries ApiVersions in an older version when its own is refused",
    origin="KIP-511",
    response="ok",
    wire="ApiVersions v0 to v2 is answered",
    commands="list_topics",
    possible=_refuses_newest,
    is_real=True,
)
async def falls_back(context: CaseContext) -> None:
    await prepare(context)
    await context.done("list_topics")


_BEYOND = [1000, 1001]


async def disjoint(api: str, command: str, fields: Fields, context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    reported = {api: _BEYOND}
    context.inject_error("ApiVersions", api_versions=reported, times=0)
    opened = await context.try_open({"group_id": GROUP})
    if opened.ok is None:
        return
    response = (await context.ask(command, **fields)).first()
    if (response.ok or {}).get("values") != []:
        expect_error(response)


for _api_name, _command, _fields in (
    ("Metadata", "list_topics", {}),
    ("Produce", "produce", PRODUCE),
    ("FindCoordinator", "consume", {"topics": [TOPIC], "count": 1, "seconds": 3}),
    ("CreateTopics", "create_topics", {"topics": {"new": 1}}),
    ("DescribeGroups", "describe_groups", {"names": [GROUP], "operations": False}),
):
    _VERSIONS.add(
        f"disjoint.{_command.replace('_', '-')}",
        f"{_command} fails with an error if client and broker share no version of {_api_name}",
        partial(disjoint, _api_name, _command, _fields),
        origin="KIP-35",
        response="an error, in time",
        wire=f"no {_api_name} request",
        commands=_command,
    )


async def vanished(
    api: ApiKey, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await context.topic(TOPIC)
    await context.group(GROUP, topic=TOPIC)
    await context.grant(*EVERYTHING)
    context.inject_error("ApiVersions", api_versions={api.wire_name: None}, times=0)
    await context.open(settings)
    await context.ask(command, **fields)
    if context.requests(api):
        raise UnmetError(f"no {api.wire_name} request", "the client sent one")


_SETTING = {"type": "topic", "names": [TOPIC], "setting": "retention.ms", "value": "1000"}
_ACL = {
    "resource_type": "TOPIC",
    "name": TOPIC,
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_VANISHED: tuple[tuple[ApiKey, str, Fields, Mapping[str, str]], ...] = (
    (ApiKey.DESCRIBE_CLUSTER, "describe_cluster", {"operations": False}, {}),
    (ApiKey.INCREMENTAL_ALTER_CONFIGS, "alter_configs", _SETTING, {}),
    (ApiKey.DELETE_GROUPS, "delete_groups", {"names": [GROUP]}, {}),
    (ApiKey.CREATE_ACLS, "create_acls", {"acls": [_ACL]}, {}),
    (ApiKey.INIT_PRODUCER_ID, "produce", PRODUCE, {"enable_idempotence": "true"}),
    (ApiKey.DESCRIBE_TOPIC_PARTITIONS, "describe_topics", _NAMES, {}),
)
for _api, _command, _fields, _settings in _VANISHED:
    _name = _api.wire_name
    _VERSIONS.add(
        f"vanished.{_name.lower()}",
        f"{_command} works, or fails with an error, if the broker lacks {_name}",
        partial(vanished, _api, _command, _fields, _settings),
        origin="KIP-35",
        response="ok or an error, in time",
        wire=f"no {_name} request",
        commands=_command,
        possible=supports_api(_api),
    )


@_VERSIONS.case(
    "unknown-apis",
    "a client ignores unknown APIs in the ApiVersions response",
    origin="KIP-35",
    response="ok",
    commands="produce list_topics",
)
async def unknown_apis(context: CaseContext) -> None:
    reported = {"4711": [0, 3], "32767": [5, 5]}
    context.inject_error("ApiVersions", api_versions=reported, times=0)
    await prepare(context)
    await context.done("produce", **PRODUCE)
    await context.done("list_topics")


@_VERSIONS.case(
    "newer-versions",
    "a client works with a broker whose newest versions it does not support",
    origin="KIP-35",
    response="ok",
    wire="versions that both have",
    commands="produce list_topics",
)
async def newer_versions(context: CaseContext) -> None:
    reported = {"ListGroups": [0, 1000], "CreatePartitions": [0, 1000]}
    context.inject_error("ApiVersions", api_versions=reported, times=0)
    await prepare(context)
    await context.done("produce", **PRODUCE)
    await context.done("list_topics")


CASES = _VERSIONS.cases
