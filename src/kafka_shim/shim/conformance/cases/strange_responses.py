"""Unusual responses: unknown codes and fields, nulls, empty lists, 10 MB, throttling."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    expect_error,
)
from kafka_shim.shim.conformance.cases.acl_kips import ANY
from kafka_shim.shim.conformance.cases.versions import (
    BASICS,
    CONSUME,
    GROUP,
    PRODUCE,
    TOPIC,
    Fields,
    prepare,
    write,
)
from kafka_shim.shim.conformance.denial import supports_api

_VERSIONS = Family("versions")
_UNKNOWN_CODE = 9999
_FLEXIBLE = supports_api(ApiKey.METADATA, 9)
_READER = {"group_id": "readers"}
_BEGIN = {"transactional_id": "tx", "enable_idempotence": "true"}


async def unknown_code(
    api: str, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await prepare(context, settings)
    await context.write(TOPIC, b"a")  # so that there is something to delete
    context.inject_error(api, error=_UNKNOWN_CODE, times=0, match={"principal": "User:alice"})
    response = (await context.ask(command, **fields)).first()
    expect_error(response)
    if not context.refused(_UNKNOWN_CODE):
        raise UnmetError(f"a {api} request", "the client sent none")


for _api, _command, _fields, _settings in (
    ("Produce", "produce", PRODUCE, {}),
    ("CreateTopics", "create_topics", {"topics": {"new": 1}}, {}),
    ("DeleteTopics", "delete_topics", {"names": [TOPIC]}, {}),
    ("CreatePartitions", "create_partitions", {"topics": {TOPIC: 2}}, {}),
    ("DescribeConfigs", "describe_configs", {"type": "topic", "names": [TOPIC]}, {}),
    ("DescribeGroups", "describe_groups", {"names": [GROUP], "operations": False}, {}),
    ("DeleteGroups", "delete_groups", {"names": [GROUP]}, {}),
    ("FindCoordinator", "group_offsets", {"group": GROUP, "partitions": [f"{TOPIC}-0"]}, {}),
    ("OffsetFetch", "group_offsets", {"group": GROUP, "partitions": [f"{TOPIC}-0"]}, {}),
    ("ListOffsets", "list_offsets", {"partitions": [f"{TOPIC}-0"]}, {}),
    ("InitProducerId", "begin", {}, _BEGIN),
    ("DescribeAcls", "describe_acls", {"filter": ANY}, {}),
    ("DeleteRecords", "delete_records", {"topic": TOPIC, "partition": 0, "before": 1}, {}),
):
    _VERSIONS.add(
        f"unknown-code.{_api.lower()}",
        f"{_command} fails with an error if the {_api} response has an unknown error code",
        partial(unknown_code, _api, _command, _fields, _settings),
        origin="error codes",
        response="an error with any code",
        wire=f"{_api} is answered with {error_name_with_code(_UNKNOWN_CODE)}",
        commands=_command,
        possible=supports_api(next(each for each in ApiKey if each.wire_name == _api)),
    )


async def tagged(
    length: int, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    context.broker.faults.add({"action": {"tagged_bytes": length}, "trigger": {"every_time": True}})
    await prepare(context, settings)
    await context.done(command, **fields)


for _command, _fields, _reader, _ in BASICS:
    _VERSIONS.add(
        f"unknown-tags.{_command.replace('_', '-')}",
        f"{_command} skips unknown tagged fields",
        partial(tagged, 300, _command, _fields, _reader),
        origin="KIP-482",
        response="ok",
        wire="each response of a flexible version has an unknown tagged field",
        commands=_command,
        possible=_FLEXIBLE,
    )


@_VERSIONS.case(
    "unknown-tags.consume",
    "consume skips unknown tagged fields",
    origin="KIP-482",
    response="the value that was written",
    commands="consume produce",
    possible=_FLEXIBLE,
)
async def tagged_consume(context: CaseContext) -> None:
    context.inject_error_everywhere(tagged_bytes=300)
    await prepare(context, _READER)
    await write(context, "a")
    await context.done("consume", **CONSUME)


async def huge(command: str, fields: Fields, api: str, context: CaseContext) -> None:
    await prepare(context)
    context.inject_error(api, tagged_bytes=10_000_000)
    await context.done(command, **fields)


for _command, _fields, _api in (
    ("list_topics", {}, "Metadata"),
    ("produce", PRODUCE, "Metadata"),
    ("describe_configs", {"type": "topic", "names": [TOPIC]}, "DescribeConfigs"),
):
    _VERSIONS.add(
        f"ten-megabytes.{_command.replace('_', '-')}",
        f"{_command} reads a response of 10 MB",
        partial(huge, _command, _fields, _api),
        origin="sizes",
        response="ok",
        commands=_command,
        possible=supports_api(ApiKey.DESCRIBE_CONFIGS, 4),
    )


async def altered(
    api: str, field: str, value: Any, command: str, fields: Fields, context: CaseContext
) -> None:
    await prepare(context, _READER)
    context.inject_error(api, set={field: value}, times=0)
    await context.done(command, **fields)


_CONFIGS = {"type": "topic", "names": [TOPIC]}
_NEW = {"topics": {"new": 1}}
for _name, _api, _field, _value, _command, _fields in (
    ("cluster-id", "Metadata", "cluster_id", None, "list_topics", {}),
    ("rack", "Metadata", "brokers.*.rack", None, "list_topics", {}),
    (
        "config-value",
        "DescribeConfigs",
        "results.*.configs.*.value",
        None,
        "describe_configs",
        _CONFIGS,
    ),
    (
        "config-message",
        "DescribeConfigs",
        "results.*.error_message",
        None,
        "describe_configs",
        _CONFIGS,
    ),
    (
        "topic-message",
        "CreateTopics",
        "topics.*.error_message",
        None,
        "create_topics",
        {"topics": {"new": 1}},
    ),
):
    _VERSIONS.add(
        f"null.{_name}",
        f"{_command} accepts null in {_field.rpartition('.')[2]}",
        partial(altered, _api, _field, _value, _command, _fields),
        origin="nullable fields",
        response="ok",
        commands=_command,
    )
for _name, _api, _field, _command, _fields in (
    ("groups", "ListGroups", "groups", "list_groups", {}),
    ("topics", "Metadata", "topics", "list_topics", {}),
    ("acls", "DescribeAcls", "resources", "describe_acls", {"filter": ANY}),
    ("configs", "DescribeConfigs", "results.*.configs", "describe_configs", _CONFIGS),
):
    _VERSIONS.add(
        f"empty.{_name}",
        f"{_command} accepts an empty list of {_name}",
        partial(altered, _api, _field, [], _command, _fields),
        origin="empty arrays",
        response="ok",
        commands=_command,
    )


async def missing(api: str, field: str, command: str, fields: Fields, context: CaseContext) -> None:
    await prepare(context)
    context.inject_error(api, set={field: []}, times=0)
    response = (await context.ask(command, **fields)).first()
    expect_error(response)


for _name, _api, _field, _command, _fields in (
    ("created-topics", "CreateTopics", "topics", "create_topics", {"topics": {"new": 1}}),
    ("described-configs", "DescribeConfigs", "results", "describe_configs", _CONFIGS),
    (
        "described-groups",
        "DescribeGroups",
        "groups",
        "describe_groups",
        {"names": [GROUP], "operations": False},
    ),
):
    _VERSIONS.add(
        f"empty.{_name}",
        f"{_command} fails with an error if the {_api} response lacks the requested names",
        partial(missing, _api, _field, _command, _fields),
        origin="empty arrays",
        response="an error",
        commands=_command,
        level=Level.SHOULD,
    )


@_VERSIONS.case(
    "empty.brokers",
    "a client continues after a Metadata response without brokers",
    origin="KIP-899",
    response="ok",
    commands="produce",
    level=Level.SHOULD,
)
async def no_brokers(context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    context.inject_error("Metadata", set={"brokers": []})
    await context.open()
    await context.done("produce", **PRODUCE)


THROTTLE_MS = 700


async def throttled(api: str, command: str, fields: Fields, context: CaseContext) -> None:
    await prepare(context)
    await context.done(command, **fields)
    context.inject_error(api, throttle_time_ms=THROTTLE_MS)
    for _ in range(2):
        await context.done(command, **fields)
    struck = next((each for each in context.requests() if each.faults), None)
    if struck is None:
        raise UnmetError(f"another {api} request", "the client sent none")
    later = [
        each
        for each in context.requests(struck.api)
        if each.number > struck.number and each.connection == struck.connection
    ]
    quiet_ms = (later[0].time_us - struck.time_us) / 1000 if later else THROTTLE_MS
    if quiet_ms < THROTTLE_MS * 0.9:
        raise UnmetError(f"{THROTTLE_MS} ms of silence", f"the next came after {quiet_ms:.0f} ms")


for _api, _command, _fields in (
    ("Produce", "produce", PRODUCE),
    ("Metadata", "list_topics", {}),
    ("DescribeConfigs", "describe_configs", _CONFIGS),
):
    _VERSIONS.add(
        f"throttle.{_api.lower()}",
        f"a client sends nothing during the throttle time of a {_api} response",
        partial(throttled, _api, _command, _fields),
        origin="KIP-219",
        response="ok",
        wire=f"no {_api} on this connection for {THROTTLE_MS} ms",
        commands=_command,
        level=Level.SHOULD,
        possible=supports_api(ApiKey.METADATA, 6),
    )


@_VERSIONS.case(
    "rebootstrap-required",
    "a client connects to its bootstrap servers again after REBOOTSTRAP_REQUIRED (129)",
    origin="KIP-1102",
    response="ok",
    wire="Metadata is answered with REBOOTSTRAP_REQUIRED (129)",
    commands="produce",
    capabilities="rebootstrap",
    possible=supports_api(ApiKey.METADATA, 13),
)
async def rebootstrap(context: CaseContext) -> None:
    await prepare(context, {"metadata_recovery_strategy": "rebootstrap"})
    context.inject_error("Metadata", set={"error_code": 129})
    await context.done("produce", **PRODUCE)


CASES = _VERSIONS.cases
