"""Planned accesses of a request (access_plan) agree with the checks that the broker makes."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.access_plan import _CONDITIONS, _values_at_path, access_plan
from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.messages.fetch import FetchRequest, FetchTopic
from kafka_shim.trace_format.entries import Access, Request
from kafka_shim.trace_format.segments import Block, read_trace

NEWEST = RELEASES[-1]


def texts(plan: Any) -> list[tuple[str, ...]]:
    return [
        tuple(f"{a.operation.name} {a.resource_type.name} {a.resource_name}" for a in need.actions)
        for need in plan.needs
    ]


def test_conditions_and_paths_belong_to_rows() -> None:
    rows = {row.id for row in TABLE if row.when}
    assert set(_CONDITIONS) <= rows


def test_every_path_exists_in_its_messages() -> None:
    from kafka_shim.protocol.api_versions import served_versions

    ranges = served_versions(NEWEST)
    for row in TABLE:
        if row.api not in ranges or row.names == ("kafka-cluster",):
            continue
        low, high = ranges[row.api]
        for version in (low, high):
            empty = codecs.read_request(row.api, version, _minimal(row.api, version), 0)
            for path in row.names:
                if not path.startswith("response."):
                    list(_values_at_path(empty, path))


def _minimal(api: int, version: int) -> bytes:
    from kafka_shim.protocol.codec.catalogue import api_name

    module = __import__(f"kafka_shim.protocol.messages.{_snake(api_name(api))}", fromlist=["x"])
    message = getattr(module, f"{api_name(api)}Request")()
    return codecs.write_request(message, version)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def test_topic_ids_need_names() -> None:
    ids = [bytes([n]) * 16 for n in (1, 2)]
    request = FetchRequest(topics=[FetchTopic(topic_id=topic_id) for topic_id in ids])
    plan = access_plan(ApiKey.FETCH, 13, request, NEWEST, {ids[0]: "orders"})
    assert texts(plan) == [("READ TOPIC orders",)]
    assert plan.requirements_with_unknown_names == ("Fetch.topic",)


def test_alternatives_are_in_the_order_of_the_checks() -> None:
    from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest

    plan = access_plan(
        ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=None), NEWEST
    )
    assert texts(plan) == [("IDEMPOTENT_WRITE CLUSTER kafka-cluster", "WRITE TOPIC *")]
    assert plan.needs[0].is_any_name == (False, True)
    old = access_plan(
        ApiKey.INIT_PRODUCER_ID, 1, InitProducerIdRequest(transactional_id=None), "2.7"
    )
    assert texts(old) == [("IDEMPOTENT_WRITE CLUSTER kafka-cluster",)]


ANY_ACL = {
    "resource_type_filter": 1,
    "pattern_type_filter": 1,
    "operation": 1,
    "permission_type": 1,
}
FETCH = {"topics": [{"topic": "orders", "partitions": [{"partition": 0}]}], "session_epoch": -1}
REQUESTS = {
    "metadata": (ApiKey.METADATA, 9, {"topics": [{"name": "orders"}]}),
    "list_offsets": (ApiKey.LIST_OFFSETS, 5, {"topics": [{"name": "orders"}]}),
    "fetch": (ApiKey.FETCH, 11, FETCH),
    "create_topics": (ApiKey.CREATE_TOPICS, 5, {"topics": [{"name": "a"}, {"name": "b"}]}),
    "delete_groups": (ApiKey.DELETE_GROUPS, 2, {"groups_names": ["g", "h"]}),
    "find_coordinator": (ApiKey.FIND_COORDINATOR, 3, {"key": "g", "key_type": 0}),
    "init_producer_id": (ApiKey.INIT_PRODUCER_ID, 4, {"transactional_id": None}),
    "describe_configs": (
        ApiKey.DESCRIBE_CONFIGS,
        4,
        {"resources": [{"resource_type": 2, "resource_name": "orders"}]},
    ),
    "describe_acls": (ApiKey.DESCRIBE_ACLS, 2, ANY_ACL),
    "offset_fetch": (
        ApiKey.OFFSET_FETCH,
        7,
        {"group_id": "g", "topics": [{"name": "orders"}]},
    ),
}


@pytest.mark.asyncio
async def test_the_broker_makes_the_planned_checks(tmp_path: Path) -> None:
    import msgspec

    from tests.shim.wire import connected, serving

    async with serving() as broker, connected(broker) as wire:
        broker.start_recording(tmp_path)
        for api, version, fields in REQUESTS.values():
            message = codecs.read_request(api, version, _minimal(api, version), 0)
            await wire.ask(api, version, msgspec.convert(fields, type(message)))
    asked: dict[int, list[Access]] = {}
    requests: dict[int, Request] = {}
    for block in read_trace(tmp_path):
        assert isinstance(block, Block)
        for entry in block.body.entries:
            if isinstance(entry, Request):
                requests[entry.sequence] = entry
            elif isinstance(entry, Access):
                asked.setdefault(entry.sequence, []).append(entry)
    assert len(requests) == len(REQUESTS)
    for sequence, request in requests.items():
        header, at = read_request_header(request.frame)
        message = codecs.read_request(header.api_key, header.api_version, request.frame, at)
        plan = access_plan(header.api_key, header.api_version, message, NEWEST)
        planned = {
            action for need in (*plan.needs, *plan.possible_needs) for action in need.actions
        }
        for access in asked[sequence]:
            key = (access.operation, access.resource_type, access.resource_name)
            assert key in {(a.operation, a.resource_type, a.resource_name) for a in planned}, plan
        first = {(need.actions[0].operation, need.actions[0].resource_name) for need in plan.needs}
        assert {(a.operation, a.resource_name) for a in asked[sequence]} >= first
