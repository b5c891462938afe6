"""What a driver reports is compared with the responses that its client got."""

from typing import Any

import pytest

from kafka_shim.conformance.driver import DriverResponse, ReportedError
from kafka_shim.conformance.evidence import (
    ObservedExchange,
    find_unproven_result,
    missing_request_text,
)
from kafka_shim.conformance.reported_results import CommandRun
from kafka_shim.conformance.requested_content import SentRequest
from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenResponse,
)
from kafka_shim.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_shim.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_shim.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenResponse,
)
from kafka_shim.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from kafka_shim.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_shim.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.recordings.records.batches import batch

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
BY_ID = OffsetFetchResponse(
    topics=[OffsetFetchResponseTopic(name="", partitions=COMMITTED.topics[0].partitions)]
)
PRODUCED = ProduceResponse(
    responses=[
        TopicProduceResponse(
            name="orders", partition_responses=[PartitionProduceResponse(index=0, base_offset=5)]
        )
    ]
)


DESCRIBED = MetadataResponse(
    topics=[
        MetadataResponseTopic(
            name="orders",
            partitions=[MetadataResponsePartition(), MetadataResponsePartition()],
            topic_authorized_operations=1 << Operation.READ | 1 << Operation.DESCRIBE,
        )
    ]
)
CLUSTER = DescribeClusterResponse(
    brokers=[DescribeClusterBroker(1), DescribeClusterBroker(2)], cluster_authorized_operations=0
)
GROUPS = DescribeGroupsResponse(
    groups=[DescribedGroup(group_id="readers", members=[DescribedGroupMember()])]
)
SETTINGS = DescribeConfigsResponse(
    results=[
        DescribeConfigsResult(
            resource_name="orders",
            configs=[
                DescribeConfigsResourceResult("retention.ms", "1"),
                DescribeConfigsResourceResult("secret", None),
            ],
        )
    ]
)
ACLS = DescribeAclsResponse(
    resources=[DescribeAclsResource(2, "orders", 3, [AclDescription("User:alice", "*", 3, 3)])]
)
TWICE = DescribeAclsResponse(resources=ACLS.resources * 2)
STRANGE_ACLS = DescribeAclsResponse(
    resources=[DescribeAclsResource(77, "orders", 3, [AclDescription("User:alice", "*", 3, 3)])]
)
DELETED = DeleteAclsResponse(
    filter_results=[
        DeleteAclsFilterResult(
            matching_acls=[DeleteAclsMatchingAcl(0, None, 2, "orders", 3, "User:alice", "*", 3, 3)]
        )
    ]
)
NOT_DELETED = DeleteAclsResponse(
    filter_results=[DeleteAclsFilterResult(42, None, DELETED.filter_results[0].matching_acls)]
)
ACL = {
    "resource_type": "TOPIC",
    "name": "orders",
    "pattern_type": "LITERAL",
    "principal": "User:alice",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
CREATED = CreateDelegationTokenResponse(token_id="one", hmac=b"secret")
TOKENS = DescribeDelegationTokenResponse(
    tokens=[DescribedDelegationToken("User", "alice", token_id="one")]
)
ALICES_TOKEN = {"token_id": "one", "owner": "User:alice"}
PASSWORDS = DescribeUserScramCredentialsResponse(
    results=[DescribeUserScramCredentialsResult("alice", 0, None, [CredentialInfo(2)])]
)


def fetched(*values: bytes) -> FetchResponse:
    partition = PartitionData(records=batch([*values]))
    return FetchResponse(responses=[FetchableTopicResponse("orders", partitions=[partition])])


FETCHED = fetched(b"a", b"a")


def run(command: str, ok: dict[str, Any], **fields: Any) -> CommandRun:
    return CommandRun(command, fields, DriverResponse(ok=ok), 1)


def exchange(api: ApiKey, response: Any, number: int = 1) -> ObservedExchange:
    return ObservedExchange(number, api, (), response, SentRequest(api, 0, None))


def topic_run(**fields: Any) -> CommandRun:
    return run("describe_topics", {"items": {"orders": fields}}, operations=True)


def group_run(**fields: Any) -> CommandRun:
    return run("describe_groups", {"items": {"readers": fields}}, operations=True)


def cluster_run(**fields: Any) -> CommandRun:
    return run("describe_cluster", fields, operations=True)


def settings_run(settings: dict[str, Any]) -> CommandRun:
    return run("describe_configs", {"items": {"orders": {"settings": settings}}})


def scram_run(*mechanisms: str) -> CommandRun:
    return run("describe_scram_users", {"items": {"alice": {"mechanisms": list(mechanisms)}}})


LISTED = exchange(ApiKey.METADATA, TOPICS)


@pytest.mark.parametrize(
    ("command_run", "observed", "is_true"),
    [
        (run("list_topics", {"topics": ["orders"]}), LISTED, True),
        (run("list_topics", {"topics": []}), LISTED, False),
        (run("list_topics", {"topics": ["orders", "new"]}), LISTED, False),
        (run("list_topics", {"topics": ["orders", "orders"]}), LISTED, False),
        (run("list_offsets", {"items": {"orders-0": {"offset": 7}}}), OFFSETS, True),
        (run("list_offsets", {"items": {"orders-0": {"offset": 0}}}), OFFSETS, False),
        (run("group_offsets", {"items": {"orders-0": {"offset": 7}}}), COMMITTED, True),
        (run("group_offsets", {"items": {"orders-0": {"offset": None}}}), COMMITTED, False),
        (run("group_offsets", {"items": {"orders-1": {"offset": None}}}), COMMITTED, True),
        (run("group_offsets", {"items": {"orders-1": {"offset": 7}}}), COMMITTED, False),
        (run("group_offsets", {"items": {"orders-0": {"offset": 7}}}), BY_ID, True),
        (run("group_offsets", {"items": {"orders-0": {"offset": 8}}}), BY_ID, False),
        (run("produce", {"offsets": [5, 6]}, values=["a", "b"]), PRODUCED, True),
        (run("produce", {"offsets": [0, 1]}, values=["a", "b"]), PRODUCED, False),
        (run("produce", {"offsets": []}, values=["a", "b"]), PRODUCED, False),
        (topic_run(partitions=2), DESCRIBED, True),
        (topic_run(partitions=3), DESCRIBED, False),
        (topic_run(operations=["DESCRIBE", "READ"]), DESCRIBED, True),
        (topic_run(operations=["READ"]), DESCRIBED, False),
        (topic_run(operations=None), DESCRIBED, False),
        (cluster_run(brokers=[2, 1]), CLUSTER, True),
        (cluster_run(brokers=[1]), CLUSTER, False),
        (cluster_run(operations=[]), CLUSTER, True),
        (cluster_run(operations=None), CLUSTER, False),
        (group_run(members=1), GROUPS, True),
        (group_run(members=0), GROUPS, False),
        (settings_run({"retention.ms": "1", "secret": None}), SETTINGS, True),
        (settings_run({"retention.ms": "1", "secret": ""}), SETTINGS, True),
        (settings_run({"retention.ms": "2", "secret": None}), SETTINGS, False),
        (settings_run({"retention.ms": "1"}), SETTINGS, False),
        (run("describe_acls", {"acls": [ACL]}), ACLS, True),
        (run("describe_acls", {"acls": [ACL | {"operation": "UNKNOWN"}]}), ACLS, True),
        (run("describe_acls", {"acls": [ACL | {"operation": "WRITE"}]}), ACLS, False),
        (run("describe_acls", {"acls": []}), ACLS, False),
        (run("describe_acls", {"acls": [ACL, ACL]}), ACLS, False),
        (run("describe_acls", {"acls": [ACL, ACL]}), TWICE, True),
        (run("describe_acls", {"acls": [ACL | {"resource_type": "UNKNOWN"}]}), STRANGE_ACLS, True),
        (run("describe_acls", {"acls": [ACL]}), STRANGE_ACLS, False),
        (run("delete_acls", {"items": {"0": {"acls": [ACL]}}}), DELETED, True),
        (run("delete_acls", {"items": {"0": {"acls": []}}}), DELETED, False),
        (run("delete_acls", {"items": {"0": {"acls": []}}}), NOT_DELETED, True),
        (run("create_token", {"token_id": "one", "hmac": "c2VjcmV0"}), CREATED, True),
        (run("create_token", {"token_id": "one", "hmac": ""}), CREATED, False),
        (run("describe_tokens", {"tokens": [{"token_id": "one"}]}), TOKENS, True),
        (run("describe_tokens", {"tokens": []}), TOKENS, False),
        (run("describe_tokens", {"tokens": [ALICES_TOKEN]}), TOKENS, True),
        (run("describe_tokens", {"tokens": [{**ALICES_TOKEN, "owner": "User:b"}]}), TOKENS, False),
        (scram_run("SCRAM-SHA-512"), PASSWORDS, True),
        (scram_run("SCRAM-SHA-256"), PASSWORDS, False),
        (run("consume", {"values": ["a", "a"]}), FETCHED, True),
        (run("consume", {"values": ["a", "a", "a"]}), FETCHED, False),
        (run("consume", {"values": ["b"]}), FETCHED, False),
        (run("consume", {"values": ["a", "b"]}), fetched(b"a", b"b", b"c"), True),
        (run("consume", {"values": ["b", "c"]}), fetched(b"a", b"b", b"c"), True),
        (run("consume", {"values": ["a", "c"]}), fetched(b"a", b"b", b"c"), False),
        (run("consume", {"values": ["b", "a"]}), fetched(b"a", b"b", b"c"), False),
    ],
)
def test_a_result_is_that_of_the_responses(
    command_run: CommandRun, observed: Any, is_true: bool
) -> None:
    apis = {
        "list_offsets": ApiKey.LIST_OFFSETS,
        "group_offsets": ApiKey.OFFSET_FETCH,
        "produce": ApiKey.PRODUCE,
        "describe_topics": ApiKey.METADATA,
        "describe_cluster": ApiKey.DESCRIBE_CLUSTER,
        "describe_groups": ApiKey.DESCRIBE_GROUPS,
        "describe_configs": ApiKey.DESCRIBE_CONFIGS,
        "describe_acls": ApiKey.DESCRIBE_ACLS,
        "delete_acls": ApiKey.DELETE_ACLS,
        "create_token": ApiKey.CREATE_DELEGATION_TOKEN,
        "describe_tokens": ApiKey.DESCRIBE_DELEGATION_TOKEN,
        "describe_scram_users": ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        "consume": ApiKey.FETCH,
    }
    if not isinstance(observed, ObservedExchange):
        observed = exchange(apis[command_run.command], observed)
    assert (find_unproven_result([command_run], [observed]) is None) is is_true


def test_a_result_without_a_response_is_made_up() -> None:
    lost = exchange(ApiKey.LIST_OFFSETS, None)
    made_up = run("list_offsets", {"items": {"orders-0": {"offset": -1001}}})
    assert find_unproven_result([made_up], [lost]) is not None
    unacknowledged = run("produce", {"offsets": [-1]}, values=["a"])
    sent = exchange(ApiKey.PRODUCE, None)
    assert find_unproven_result([unacknowledged], [sent]) is None


def test_a_value_is_not_reported_twice_by_two_commands() -> None:
    once = run("consume", {"values": ["a", "a"]})
    observed = [exchange(ApiKey.FETCH, FETCHED)]
    assert find_unproven_result([once], observed) is None
    assert find_unproven_result([once, once], observed) == (
        "values of received records",
        "`consume` reported b'a' 4 times",
    )


def test_operations_that_were_not_requested_are_not_compared() -> None:
    described = run(
        "describe_topics", {"items": {"orders": {"operations": None}}}, operations=False
    )
    observed = [exchange(ApiKey.METADATA, DESCRIBED)]
    assert find_unproven_result([described], observed) is None


def test_a_denial_that_no_broker_returned_is_not_believed() -> None:
    error = DriverResponse(error=ReportedError("Denied", 29, "denied"))
    untrue = find_unproven_result([CommandRun("produce", {}, error, 1)], [LISTED])
    assert untrue is not None
    assert untrue[0] == "TOPIC_AUTHORIZATION_FAILED (29) from a broker"
    denied = LISTED._replace(errors=(29,))
    assert find_unproven_result([CommandRun("produce", {}, error, 1)], [denied]) is None


def test_a_request_before_the_command_does_not_count() -> None:
    command_run = run("list_topics", {"topics": ["orders"]})
    assert missing_request_text(command_run, [LISTED]) is None
    earlier = LISTED._replace(number=0)
    assert missing_request_text(command_run, [earlier]) == (
        "`list_topics` succeeded, but the client sent no Metadata"
    )
