"""Unusual responses: unknown codes and fields, nulls, empty lists, 10 MB, throttling."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.cases.acl_kips import ANY
from kafka_shim.conformance.cases.versions import (
    BASICS,
    CONSUME,
    GROUP,
    PRODUCE,
    TOPIC,
    Fields,
    open_group_client,
    write_as_other_client,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey

_VERSIONS = CaseFamily("versions")
_UNKNOWN_CODE = 9999
_TEN_MEGABYTES = 10_000_000
_LARGE_RESPONSES = {"Metadata": "list_topics", "DescribeConfigs": "describe_configs"}
"""A command whose API has a large response, by that API's name."""
_FLEXIBLE = supports_api(ApiKey.METADATA, 9)
_READER = {"group_id": "readers"}


async def expect_unknown_error_code_reported(
    api: str, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await open_group_client(context, settings)
    await context.write_record(TOPIC, b"a")  # so that there is something to delete
    context.inject_fault(api, error=_UNKNOWN_CODE, times=0, match={"principal": "User:alice"})
    response = (await context.run_command(command, **fields)).first_item_response()
    expect_client_error(response)
    if not context.requests_with_error(_UNKNOWN_CODE):
        raise UnmetExpectationError(f"a {api} request", "the client sent none")


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
    ("InitProducerId", "begin", {}, TRANSACTIONAL_PRODUCER),
    ("DescribeAcls", "describe_acls", {"filter": ANY}, {}),
    ("DeleteRecords", "delete_records", {"topic": TOPIC, "partition": 0, "before": 1}, {}),
):
    _VERSIONS.add_case(
        f"unknown-code.{_api.lower()}",
        f"{_command} fails with an error if the {_api} response has an unknown error code",
        partial(expect_unknown_error_code_reported, _api, _command, _fields, _settings),
        origin="error codes",
        expected_response="an error with any code",
        expected_requests=f"{_api} is answered with {error_name_with_code(_UNKNOWN_CODE)}",
        commands=_command,
        supports_release=supports_api(next(each for each in ApiKey if each.wire_name == _api)),
    )


async def expect_unknown_tags_skipped(
    length: int, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    context.inject_fault_into_every_api(tagged_bytes=length)
    await open_group_client(context, settings)
    await context.run_successfully(command, **fields)
    context.require_flexible_response(command)


for _command, _fields, _reader, _ in BASICS:
    _VERSIONS.add_case(
        f"unknown-tags.{_command.replace('_', '-')}",
        f"{_command} skips unknown tagged fields",
        partial(expect_unknown_tags_skipped, 300, _command, _fields, _reader),
        origin="KIP-482",
        expected_requests="each response of a flexible version has an unknown tagged field",
        commands=_command,
        supports_release=_FLEXIBLE,
    )


@_VERSIONS.case(
    "unknown-tags.consume",
    "consume skips unknown tagged fields",
    origin="KIP-482",
    expected_response="the value that was written",
    commands="consume produce",
    supports_release=_FLEXIBLE,
)
async def expect_unknown_tags_skipped_by_consume(context: CaseContext) -> None:
    context.inject_fault_into_every_api(tagged_bytes=300)
    await open_group_client(context, _READER)
    await write_as_other_client(context, "a")
    consumed = await context.run_successfully("consume", **CONSUME)
    if consumed["values"] != ["a"]:
        raise UnmetExpectationError("the value a", f"the client reported {consumed}")
    context.require_flexible_response("consume")


async def expect_ten_megabyte_response_read(
    command: str, fields: Fields, api: str, context: CaseContext
) -> None:
    await open_group_client(context)
    context.inject_fault(api, tagged_bytes=_TEN_MEGABYTES)
    await context.run_successfully(command, **fields)
    context.require_flexible_response(_LARGE_RESPONSES[api], _TEN_MEGABYTES)


for _command, _fields, _api in (
    ("list_topics", {}, "Metadata"),
    ("produce", PRODUCE, "Metadata"),
    ("describe_configs", {"type": "topic", "names": [TOPIC]}, "DescribeConfigs"),
):
    _VERSIONS.add_case(
        f"ten-megabytes.{_command.replace('_', '-')}",
        f"{_command} reads a response of 10 MB",
        partial(expect_ten_megabyte_response_read, _command, _fields, _api),
        origin="sizes",
        commands=_command,
        supports_release=supports_api(ApiKey.DESCRIBE_CONFIGS, 4),
    )


async def expect_altered_field_accepted(
    api: str, field: str, value: Any, command: str, fields: Fields, context: CaseContext
) -> None:
    await open_group_client(context, _READER)
    context.inject_fault(api, set={field: value}, times=0)
    await context.run_successfully(command, **fields)


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
    _VERSIONS.add_case(
        f"null.{_name}",
        f"{_command} accepts null in {_field.rpartition('.')[2]}",
        partial(expect_altered_field_accepted, _api, _field, _value, _command, _fields),
        origin="nullable fields",
        commands=_command,
    )
for _name, _api, _field, _command, _fields in (
    ("groups", "ListGroups", "groups", "list_groups", {}),
    ("topics", "Metadata", "topics", "list_topics", {}),
    ("acls", "DescribeAcls", "resources", "describe_acls", {"filter": ANY}),
    ("configs", "DescribeConfigs", "results.*.configs", "describe_configs", _CONFIGS),
):
    _VERSIONS.add_case(
        f"empty.{_name}",
        f"{_command} accepts an empty list of {_name}",
        partial(expect_altered_field_accepted, _api, _field, [], _command, _fields),
        origin="empty arrays",
        commands=_command,
    )


async def expect_error_for_missing_names(
    api: str, field: str, command: str, fields: Fields, context: CaseContext
) -> None:
    await open_group_client(context)
    context.inject_fault(api, set={field: []}, times=0)
    response = (await context.run_command(command, **fields)).first_item_response()
    expect_client_error(response)


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
    _VERSIONS.add_case(
        f"empty.{_name}",
        f"{_command} fails with an error if the {_api} response lacks the requested names",
        partial(expect_error_for_missing_names, _api, _field, _command, _fields),
        origin="empty arrays",
        expected_response="an error",
        commands=_command,
        level=RequirementLevel.SHOULD,
    )


@_VERSIONS.case(
    "empty.brokers",
    "a client continues after a Metadata response without brokers",
    origin="KIP-899",
    commands="produce",
    level=RequirementLevel.SHOULD,
)
async def expect_empty_metadata_survived(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    context.inject_fault("Metadata", set={"brokers": []})
    await context.open_client()
    await context.run_successfully("produce", **PRODUCE)


THROTTLE_MS = 700


async def expect_silence_during_throttle_time(
    api: str, command: str, fields: Fields, context: CaseContext
) -> None:
    await open_group_client(context)
    await context.run_successfully(command, **fields)
    context.inject_fault(api, throttle_time_ms=THROTTLE_MS)
    for _ in range(2):
        await context.run_successfully(command, **fields)
    throttled_request = next((each for each in context.client_requests() if each.faults), None)
    if throttled_request is None:
        raise UnmetExpectationError(f"another {api} request", "the client sent none")
    later_requests = [
        each
        for each in context.client_requests(throttled_request.api)
        if each.number > throttled_request.number
        and each.connection == throttled_request.connection
    ]
    quiet_ms = (
        (later_requests[0].time_us - throttled_request.time_us) / 1000
        if later_requests
        else THROTTLE_MS
    )
    if quiet_ms < THROTTLE_MS * 0.9:
        raise UnmetExpectationError(
            f"{THROTTLE_MS} ms of silence", f"the next came after {quiet_ms:.0f} ms"
        )


for _api, _command, _fields in (
    ("Produce", "produce", PRODUCE),
    ("Metadata", "list_topics", {}),
    ("DescribeConfigs", "describe_configs", _CONFIGS),
):
    _VERSIONS.add_case(
        f"throttle.{_api.lower()}",
        f"a client sends nothing during the throttle time of a {_api} response",
        partial(expect_silence_during_throttle_time, _api, _command, _fields),
        origin="KIP-219",
        expected_requests=f"no {_api} on this connection for {THROTTLE_MS} ms",
        commands=_command,
        level=RequirementLevel.SHOULD,
        supports_release=supports_api(ApiKey.METADATA, 6),
    )


@_VERSIONS.case(
    "rebootstrap-required",
    "a client connects to its bootstrap servers again after REBOOTSTRAP_REQUIRED (129)",
    origin="KIP-1102",
    expected_requests="Metadata is answered with REBOOTSTRAP_REQUIRED (129)",
    commands="produce",
    capabilities="rebootstrap",
    supports_release=supports_api(ApiKey.METADATA, 13),
)
async def expect_rebootstrap(context: CaseContext) -> None:
    await open_group_client(context, {"metadata_recovery_strategy": "rebootstrap"})
    context.inject_fault("Metadata", set={"error_code": 129})
    await context.run_successfully("produce", **PRODUCE)


CASES = _VERSIONS.cases
