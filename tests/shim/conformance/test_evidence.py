"""What a driver reports is compared with the responses that its client got."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_shim.protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from kafka_shim.protocol.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_shim.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.shim.conformance.driver import DriverResponse, ReportedError
from kafka_shim.shim.conformance.evidence import (
    ObservedExchange,
    first_untrue_result_expected_and_observed,
    why_successful_command_lacks_request,
)
from kafka_shim.shim.conformance.reported_results import CommandRun

TOPICS = MetadataResponse(topics=[MetadataResponseTopic(name="orders")])
OFFSETS = ListOffsetsResponse(
    topics=[
        ListOffsetsTopicResponse(
            name="orders", partitions=[ListOffsetsPartitionResponse(partition_index=0, offset=7)]
        )
    ]
)
COMMITTED = OffsetFetchResponse(
    topics=[
        OffsetFetchResponseTopic(
            name="orders",
            partitions=[OffsetFetchResponsePartition(partition_index=0, committed_offset=7)],
        )
    ]
)
PRODUCED = ProduceResponse(
    responses=[
        TopicProduceResponse(
            name="orders", partition_responses=[PartitionProduceResponse(index=0, base_offset=5)]
        )
    ]
)


def run(command: str, ok: dict[str, Any], **fields: Any) -> CommandRun:
    return CommandRun(command, fields, DriverResponse(ok=ok), 1)


def exchange(
    api: ApiKey, response: Any, number: int = 1, *, has_fault: bool = False
) -> ObservedExchange:
    return ObservedExchange(number, api, (), response, has_fault)


LISTED = exchange(ApiKey.METADATA, TOPICS)


@pytest.mark.parametrize(
    ("command_run", "observed", "is_true"),
    [
        (run("list_topics", {"topics": ["orders"]}), LISTED, True),
        (run("list_topics", {"topics": []}), LISTED, False),
        (run("list_topics", {"topics": ["orders", "new"]}), LISTED, False),
        (run("list_offsets", {"items": {"orders-0": {"offset": 7}}}), OFFSETS, True),
        (run("list_offsets", {"items": {"orders-0": {"offset": 0}}}), OFFSETS, False),
        (run("group_offsets", {"items": {"orders-0": {"offset": 7}}}), COMMITTED, True),
        (run("group_offsets", {"items": {"orders-0": {"offset": None}}}), COMMITTED, False),
        (run("group_offsets", {"items": {"orders-1": {"offset": None}}}), COMMITTED, True),
        (run("group_offsets", {"items": {"orders-1": {"offset": 7}}}), COMMITTED, False),
        (run("produce", {"offsets": [5, 6]}, values=["a", "b"]), PRODUCED, True),
        (run("produce", {"offsets": [0, 1]}, values=["a", "b"]), PRODUCED, False),
        (run("produce", {"offsets": []}, values=["a", "b"]), PRODUCED, False),
    ],
)
def test_a_result_is_that_of_the_responses(
    command_run: CommandRun, observed: Any, is_true: bool
) -> None:
    apis = {
        "list_offsets": ApiKey.LIST_OFFSETS,
        "group_offsets": ApiKey.OFFSET_FETCH,
        "produce": ApiKey.PRODUCE,
    }
    if not isinstance(observed, ObservedExchange):
        observed = exchange(apis[command_run.command], observed)
    assert (first_untrue_result_expected_and_observed([command_run], [observed]) is None) is is_true


def test_responses_that_a_fault_changed_are_the_business_of_the_case() -> None:
    observed = exchange(ApiKey.METADATA, TOPICS, has_fault=True)
    assert (
        first_untrue_result_expected_and_observed([run("list_topics", {"topics": []})], [observed])
        is None
    )


def test_a_denial_that_no_broker_returned_is_not_believed() -> None:
    error = DriverResponse(error=ReportedError("Denied", 29, "denied"))
    untrue = first_untrue_result_expected_and_observed(
        [CommandRun("produce", {}, error, 1)], [LISTED]
    )
    assert untrue is not None
    assert untrue[0] == "TOPIC_AUTHORIZATION_FAILED (29) from a broker"
    denied = LISTED._replace(errors=(29,))
    assert (
        first_untrue_result_expected_and_observed([CommandRun("produce", {}, error, 1)], [denied])
        is None
    )


def test_a_request_before_the_command_does_not_count() -> None:
    command_run = run("list_topics", {"topics": ["orders"]})
    assert why_successful_command_lacks_request(command_run, [LISTED]) is None
    earlier = LISTED._replace(number=0)
    assert why_successful_command_lacks_request(command_run, [earlier]) == (
        "`list_topics` succeeded, but the client sent no Metadata"
    )
