"""ACLs learned from requests that the real handlers process."""

from collections.abc import Callable
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.policy.formats.yaml_rules import acls_to_rules
from kafka_shim.policy.least.least_acls import least_acls
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from kafka_shim.traces.least_acls.learning_authorizers import (
    LearningAuthorizer,
    ProvingAuthorizer,
    install_authorizer,
)
from tests.shim.play import Stage

APP = "User:app"
CREATE = CreateTopicsRequest(topics=[CreatableTopic("orders", 1, 1, [], [])], timeout_ms=1000)


def learning() -> tuple[Stage, LearningAuthorizer]:
    stage = Stage()
    found = LearningAuthorizer(stage.cluster.policy.rules)
    install_authorizer(stage.cluster, found)
    return stage, found


def needed_acls(learned: LearningAuthorizer) -> list[Acl]:
    return least_acls(need.required for need in learned.needs if not need.is_optional)


def test_all_accesses_are_allowed_and_the_narrowest_acls_are_learned() -> None:
    stage, learned = learning()
    response = stage.ask(ApiKey.CREATE_TOPICS, 5, CREATE, APP)
    assert [topic.error_code for topic in response.topics] == [0]
    request = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    assert stage.ask(ApiKey.DELETE_TOPICS, 4, request, APP).responses[0].error_code == 0
    assert acls_to_rules(needed_acls(learned)) == [
        {"principal": APP, "allow": ["Create", "Delete"], "topic": "orders"}
    ]


def test_no_acls_are_learned_from_authorized_operations() -> None:
    stage, learned = learning()
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    response = stage.ask(ApiKey.DESCRIBE_CLUSTER, 0, request, APP)
    assert response.cluster_authorized_operations > 0
    assert needed_acls(learned) == []


def test_a_list_of_all_topics_is_optional() -> None:
    stage, learned = learning()
    stage.topic("orders")
    assert stage.ask(ApiKey.METADATA, 12, MetadataRequest(topics=None), APP).topics
    assert needed_acls(learned) == []
    assert [acl.resource_name for acl in least_acls(need.required for need in learned.needs)] == [
        "orders"
    ]


def test_the_proof_records_denials_but_not_denied_wider_alternatives() -> None:
    stage = Stage()
    proving = ProvingAuthorizer(stage.cluster.policy.rules, ())
    install_authorizer(stage.cluster, proving)
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    assert stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request, APP).error_code == 31
    assert stage.ask(ApiKey.CREATE_TOPICS, 5, CREATE, APP).topics[0].error_code == 29
    denied = [action for _, action in proving.denied]
    assert denied[0] == Action(Operation.WRITE, ResourceType.TOPIC, "*")
    assert Action(Operation.CREATE, ResourceType.TOPIC, "orders") in denied
    assert not [action for action in denied if action.resource_type is ResourceType.CLUSTER]


def create(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name, 1, 1, [], []) for name in names], timeout_ms=1000
    )


def metadata(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


def describe_configs(*names: str) -> DescribeConfigsRequest:
    topics = [DescribeConfigsResource(ResourceType.TOPIC, name, None) for name in names]
    return DescribeConfigsRequest(resources=topics)


def delete(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=list(names), timeout_ms=1000)


@pytest.mark.parametrize(
    ("api", "version", "request_for", "operation"),
    [
        (ApiKey.CREATE_TOPICS, 5, create, Operation.CREATE),
        (ApiKey.METADATA, 9, metadata, Operation.DESCRIBE),
        (ApiKey.DESCRIBE_CONFIGS, 4, describe_configs, Operation.DESCRIBE_CONFIGS),
        (ApiKey.DELETE_TOPICS, 4, delete, Operation.DELETE),
    ],
)
def test_each_name_of_one_request_is_learned_and_proven(
    api: ApiKey, version: int, request_for: Callable[..., Any], operation: Operation
) -> None:
    stage, learned = learning()
    existing = () if api is ApiKey.CREATE_TOPICS else ("a", "b", "c")
    for name in existing:
        stage.topic(name)
    stage.ask(api, version, request_for("a", "b", "c"), APP)
    acls = needed_acls(learned)
    assert {(acl.resource_name, acl.operation) for acl in acls} == {
        (name, operation) for name in "abc"
    }
    proof = Stage()
    for name in existing:
        proof.topic(name)
    allowed = [acl for acl in acls if acl.resource_name == "b"]
    proving = ProvingAuthorizer(proof.cluster.policy.rules, allowed)
    install_authorizer(proof.cluster, proving)
    proof.ask(api, version, request_for("a", "b", "c"), APP)
    denied = {action.resource_name for _, action in proving.denied}
    assert denied == {"a", "c"}


def streams_heartbeat() -> StreamsGroupHeartbeatRequest:
    changelog = TopicInfo(name="app-store-changelog")
    subtopology = Subtopology("0", source_topics=["orders"], state_changelog_topics=[changelog])
    return StreamsGroupHeartbeatRequest(
        group_id="app",
        member_id="m",
        rebalance_timeout_ms=10_000,
        topology=Topology(subtopologies=[subtopology]),
        process_id="p",
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        client_tags=[],
    )


def test_a_streams_group_needs_the_creation_of_its_internal_topics() -> None:
    """Without CREATE, the application does not start, although no response has an error."""
    stage, learned = learning()
    stage.topic("orders")
    assert stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, streams_heartbeat(), APP).error_code == 0
    assert acls_to_rules(needed_acls(learned)) == [
        {"principal": APP, "allow": ["Create", "Describe"], "topic": "app-store-changelog"},
        {"principal": APP, "allow": ["Describe"], "topic": "orders"},
        {"principal": APP, "allow": ["Read"], "group": "app"},
    ]


def test_a_status_is_a_denial_of_the_proof() -> None:
    stage = Stage()
    stage.topic("orders")
    acls = [
        Acl(kind, name, PatternType.LITERAL, APP, "*", operation, Permission.ALLOW)
        for kind, name, operation in (
            (ResourceType.GROUP, "app", Operation.READ),
            (ResourceType.TOPIC, "orders", Operation.DESCRIBE),
            (ResourceType.TOPIC, "app-store-changelog", Operation.DESCRIBE),
        )
    ]
    proving = ProvingAuthorizer(stage.cluster.policy.rules, acls)
    install_authorizer(stage.cluster, proving)
    response = stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, streams_heartbeat(), APP)
    assert response.error_code == 0
    action = Action(Operation.CREATE, ResourceType.TOPIC, "app-store-changelog")
    assert list(proving.denied) == [(APP, action)]
