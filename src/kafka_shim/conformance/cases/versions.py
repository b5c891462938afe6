"""Other releases: what works with each of them, APIs that a broker lacks, other versions."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    IDEMPOTENT_PRODUCER,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.denied_command import enables_group_protocol, supports_api
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import ApiKey

_VERSIONS = CaseFamily("versions")
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


async def open_group_client(context: CaseContext, settings: Mapping[str, str] = {}) -> None:
    """Create a topic with a group and a record, and open a client that may do everything."""
    await context.create_topics(TOPIC)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(settings)


async def write_as_other_client(context: CaseContext, *values: str) -> None:
    """Have another client write records."""
    await context.open_client(client="writer", login=None)
    await context.run_successfully("produce", client="writer", topic=TOPIC, values=list(values))


async def expect_command_succeeds(
    command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await open_group_client(context, settings)
    await context.run_successfully(command, **fields)


for _command, _fields, _settings, _api in BASICS:
    _VERSIONS.add_case(
        f"basics.{_command.replace('_', '-')}",
        f"{_command} works with every release",
        partial(expect_command_succeeds, _command, _fields, _settings),
        origin="KIP-35",
        expected_requests="a version of each API that the broker has",
        commands=_command,
        supports_release=supports_api(_api),
        runs_on_real_cluster=True,
    )


async def expect_consumer_group_reads(settings: Mapping[str, str], context: CaseContext) -> None:
    await open_group_client(context, settings)
    await write_as_other_client(context, "a", "b")
    consumed = await context.run_successfully("consume", topics=[TOPIC], count=2, seconds=8)
    if consumed["values"] != ["a", "b"]:
        raise UnmetExpectationError("the values a and b", f"the client reported {consumed}")
    await context.run_successfully("commit_offsets")


for _name, _settings, _capability in (
    ("classic", {"group_id": "readers"}, "classic-groups"),
    (
        "consumer",
        {"group_id": "readers", "group_protocol": "consumer"},
        "consumer-groups",
    ),
):
    _VERSIONS.add_case(
        f"basics.consume-{_name}",
        f"a group member with the {_name} protocol reads and commits",
        partial(expect_consumer_group_reads, _settings),
        origin="KIP-848" if _name == "consumer" else "KIP-35",
        expected_response="the values that were written",
        commands="consume commit_offsets produce",
        capabilities=_capability,
        runs_on_real_cluster=True,
        supports_release=enables_group_protocol(_name),
    )


@_VERSIONS.case(
    "basics.transaction",
    "a transaction commits with every release",
    origin="KIP-98",
    commands="begin produce commit",
    capabilities="transactions",
    runs_on_real_cluster=True,
)
async def expect_transaction_commits(context: CaseContext) -> None:
    await open_group_client(context, TRANSACTIONAL_PRODUCER)
    for command, fields in (("begin", {}), ("produce", PRODUCE), ("commit", {})):
        await context.run_successfully(command, **fields)


@_VERSIONS.case(
    "basics.compressed",
    "a consumer reads records that are compressed with lz4",
    origin="KIP-57",
    expected_response="the values that were written",
    commands="consume produce",
    level=RequirementLevel.SHOULD,
    runs_on_real_cluster=True,
)
async def expect_compressed_records_read(context: CaseContext) -> None:
    await open_group_client(context, {"group_id": "readers", "compression_type": "lz4"})
    await context.run_successfully("produce", topic=TOPIC, values=["a" * 100, "b" * 100])
    consumed = await context.run_successfully("consume", topics=[TOPIC], count=2, seconds=8)
    if consumed["values"] != ["a" * 100, "b" * 100]:
        raise UnmetExpectationError("the written values", f"the client reported {consumed}")


def _lacks_api_versions_v3(release: str) -> bool:
    return served_versions(release)[ApiKey.API_VERSIONS][1] < 3


@_VERSIONS.case(
    "api-versions.falls-back",
    "a client retries ApiVersions in an older version when its own is refused",
    origin="KIP-511",
    expected_requests="ApiVersions v0 to v2 is answered",
    commands="list_topics",
    supports_release=_lacks_api_versions_v3,
    runs_on_real_cluster=True,
)
async def expect_older_api_versions_retried(context: CaseContext) -> None:
    await open_group_client(context)
    await context.run_successfully("list_topics")


_BEYOND = [1000, 1001]
_OF_CLIENT = {"principal": "User:alice"}


async def expect_error_without_common_version(
    api: str, command: str, fields: Fields, context: CaseContext
) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    advertised_versions = {api: _BEYOND}
    context.inject_fault("ApiVersions", api_versions=advertised_versions, times=0)
    # a broker closes the connection of a request in a version that it does not have
    context.inject_fault(api, disconnect="before", times=0, match=_OF_CLIENT)
    open_response = await context.try_open_client({"group_id": GROUP})
    if open_response.ok is None:
        return
    response = (await context.run_command(command, **fields)).first_item_response()
    if (response.ok or {}).get("values") != []:
        expect_client_error(response)


for _api_name, _command, _fields in (
    ("Metadata", "list_topics", {}),
    ("Produce", "produce", PRODUCE),
    ("FindCoordinator", "consume", {"topics": [TOPIC], "count": 1, "seconds": 3}),
    ("CreateTopics", "create_topics", {"topics": {"new": 1}}),
    ("DescribeGroups", "describe_groups", {"names": [GROUP], "operations": False}),
):
    _VERSIONS.add_case(
        f"disjoint.{_command.replace('_', '-')}",
        f"{_command} fails with an error if client and broker share no version of {_api_name}",
        partial(expect_error_without_common_version, _api_name, _command, _fields),
        origin="KIP-35",
        expected_response="an error, in time",
        expected_requests=f"no {_api_name} request",
        commands=_command,
    )


async def expect_no_request_for_missing_api(
    api: ApiKey, command: str, fields: Fields, settings: Mapping[str, str], context: CaseContext
) -> None:
    await context.create_topics(TOPIC)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.grant_to_user(*EVERYTHING)
    context.inject_fault("ApiVersions", api_versions={api.wire_name: None}, times=0)
    await context.open_client(settings)
    await context.run_command(command, **fields)
    if context.client_requests(api):
        raise UnmetExpectationError(f"no {api.wire_name} request", "the client sent one")


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
    (ApiKey.INIT_PRODUCER_ID, "produce", PRODUCE, IDEMPOTENT_PRODUCER),
    (ApiKey.DESCRIBE_TOPIC_PARTITIONS, "describe_topics", _NAMES, {}),
)
for _api, _command, _fields, _settings in _VANISHED:
    _name = _api.wire_name
    _VERSIONS.add_case(
        f"vanished.{_name.lower()}",
        f"{_command} works, or fails with an error, if the broker lacks {_name}",
        partial(expect_no_request_for_missing_api, _api, _command, _fields, _settings),
        origin="KIP-35",
        expected_response="ok or an error, in time",
        expected_requests=f"no {_name} request",
        commands=_command,
        supports_release=supports_api(_api),
    )


@_VERSIONS.case(
    "unknown-apis",
    "a client ignores unknown APIs in the ApiVersions response",
    origin="KIP-35",
    commands="produce list_topics",
)
async def expect_unknown_apis_ignored(context: CaseContext) -> None:
    advertised_versions = {"4711": [0, 3], "32767": [5, 5]}
    context.inject_fault("ApiVersions", api_versions=advertised_versions, times=0)
    await open_group_client(context)
    await context.run_successfully("produce", **PRODUCE)
    await context.run_successfully("list_topics")


@_VERSIONS.case(
    "newer-versions",
    "a client works with a broker whose newest versions it does not support",
    origin="KIP-35",
    expected_requests="versions that both have",
    commands="produce list_topics",
    supports_release=lambda release: release == RELEASES[-1],
)
async def expect_newer_broker_versions_tolerated(context: CaseContext) -> None:
    served = served_versions(context.release)
    advertised_versions = {
        api.wire_name: [served[api][0], 1000] for api in (ApiKey.METADATA, ApiKey.PRODUCE)
    }
    context.inject_fault("ApiVersions", api_versions=advertised_versions, times=0)
    await open_group_client(context)
    await context.run_successfully("produce", **PRODUCE)
    await context.run_successfully("list_topics")


CASES = _VERSIONS.cases
