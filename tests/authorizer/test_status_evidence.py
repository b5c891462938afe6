"""A denial without an error code is derived from the status that names it."""

from kafka_shim.authorizer.access_plan import access_plan
from kafka_shim.authorizer.evidence import ExternalTopicFacts, evidence_from_response
from kafka_shim.authorizer.model import Action
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.shim.play import Stage

APP, RELEASE = "User:app", "4.4"


def heartbeat() -> StreamsGroupHeartbeatRequest:
    topics = [TopicInfo(name="app-a-changelog"), TopicInfo(name="app-b-changelog")]
    subtopology = Subtopology("0", source_topics=["orders"], state_changelog_topics=topics)
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


def denied(response: StreamsGroupHeartbeatResponse) -> list[Action]:
    plan = access_plan(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, heartbeat(), RELEASE)
    evidence = evidence_from_response(
        *(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, plan, response),
        release=RELEASE,
        topics=ExternalTopicFacts(),
    )
    return [need.last_named_action for need in evidence.needs_denied_by_status()]


def response_to(*created: str) -> StreamsGroupHeartbeatResponse:
    stage = Stage(RELEASE)
    stage.topic("orders")
    stage.allow(APP, Operation.READ, ResourceType.GROUP, "app")
    for name in ("orders", "app-a-changelog", "app-b-changelog"):
        stage.allow(APP, Operation.DESCRIBE, ResourceType.TOPIC, name)
    for name in created:
        stage.allow(APP, Operation.CREATE, ResourceType.TOPIC, name)
    response = stage.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, heartbeat(), APP)
    assert isinstance(response, StreamsGroupHeartbeatResponse)
    assert response.error_code == 0
    return response


def test_internal_topics_that_were_not_created_are_named() -> None:
    topic, create = ResourceType.TOPIC, Operation.CREATE
    names = ("app-a-changelog", "app-b-changelog")
    assert denied(response_to()) == [Action(create, topic, name) for name in names]
    assert denied(response_to(names[1])) == [Action(create, topic, names[0])]
    assert denied(response_to(*names)) == []
