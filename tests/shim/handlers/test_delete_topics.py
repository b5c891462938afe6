"""DeleteTopics by name and by id (KIP-516): names are not revealed without DESCRIBE."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.shim.observing.request_history import History
from tests.pipeline.real_accesses import PRINCIPAL, Decision, recorded
from tests.pipeline.real_requests import GRANTS, TOPICS, asks
from tests.shim.play import ADMIN, Stage

ALICE, CAROL = "User:alice", "User:carol"
NO_ID = bytes(16)


def stage_of(release: str = "") -> Stage:
    """Create topics named after alice's permissions on them; carol has DELETE on the cluster."""
    stage = Stage(release)
    for name, operations in {
        "described": [Operation.DESCRIBE],
        "both": [Operation.DESCRIBE, Operation.DELETE],
        "blind": [Operation.DELETE],
        "gone": [Operation.DESCRIBE],
        "hidden": [],
    }.items():
        if name != "gone":
            stage.topic(name)
        for operation in operations:
            stage.allow(ALICE, operation, ResourceType.TOPIC, name)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "blind", deny=True)
    stage.allow(CAROL, Operation.DELETE, ResourceType.CLUSTER, "kafka-cluster")
    return stage


def by_name(stage: Stage, *names: str, who: str = ALICE) -> Any:
    low, high = stage.dispatcher.apis.advertised[ApiKey.DELETE_TOPICS]
    version = min(5, high)
    assert low <= version
    request = DeleteTopicsRequest(topic_names=list(names), timeout_ms=5000)
    rows = stage.ask(ApiKey.DELETE_TOPICS, version, request, who).responses
    return {row.name: row.error_code for row in rows}


def by_id(stage: Stage, *names: str, who: str = ALICE) -> Any:
    topics = stage.cluster.topics
    ids = {(stage.found(name).topic_id if name in topics else b"?" * 16): name for name in names}
    states = [DeleteTopicState(topic_id=topic_id) for topic_id in ids]
    request = DeleteTopicsRequest(states, timeout_ms=5000)
    rows = stage.ask(ApiKey.DELETE_TOPICS, 6, request, who).responses
    return {ids[row.topic_id]: (row.name, row.error_code) for row in rows}


def test_kraft_checks_describe_and_delete_by_name() -> None:
    stage = stage_of()
    asked = ("described", "both", "blind", "gone", "hidden", "unseen")
    assert by_name(stage, *asked) == {
        "described": 29,
        "both": 0,
        "blind": 29,
        "gone": 3,
        "hidden": 29,
        "unseen": 29,
    }
    assert "both" not in stage.cluster.topics
    assert "blind" in stage.cluster.topics


def test_kraft_checks_describe_and_delete_by_id() -> None:
    assert by_id(stage_of(), "described", "both", "blind", "hidden", "unseen") == {
        "described": ("described", 29),
        "both": ("both", 0),
        "blind": ("blind", 0),
        "hidden": (None, 29),
        "unseen": (None, 100),
    }


def test_delete_on_the_cluster_allows_all_topics_on_kraft() -> None:
    assert by_name(stage_of(), "hidden", "unseen", who=CAROL) == {"hidden": 0, "unseen": 3}
    assert by_name(stage_of("2.8"), "hidden", "unseen", who=CAROL) == {"hidden": 29, "unseen": 29}


@pytest.mark.parametrize("release", ["1.0", "2.3", "2.8"])
def test_zookeeper_checks_delete_only(release: str) -> None:
    """Only DELETE is checked, so missing topics are reported as denied."""
    asked = ("described", "both", "blind", "gone", "hidden")
    assert by_name(stage_of(release), *asked) == {
        "described": 29,
        "both": 0,
        "blind": 0,
        "gone": 29,
        "hidden": 29,
    }


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    asked = ("described", "both", "blind", "gone", "hidden", "unseen")
    assert by_name(stage_of("0.11"), *asked) == {
        "described": 29,
        "both": 0,
        "blind": 3,
        "gone": 3,
        "hidden": 3,
        "unseen": 3,
    }


def test_malformed_entries_are_rejected_before_permissions_are_checked() -> None:
    stage = stage_of()
    hidden = stage.found("hidden").topic_id
    states = [
        DeleteTopicState(),
        DeleteTopicState("hidden", hidden),
        DeleteTopicState("twice"),
        DeleteTopicState("twice"),
        DeleteTopicState(topic_id=b"2" * 16),
        DeleteTopicState(topic_id=b"2" * 16),
    ]
    request = DeleteTopicsRequest(states, timeout_ms=5000)
    rows = stage.ask(ApiKey.DELETE_TOPICS, 6, request, ALICE).responses
    assert sorted((row.name or "", row.topic_id, row.error_code) for row in rows) == [
        ("", NO_ID, 42),
        ("", b"2" * 16, 42),
        ("hidden", hidden, 42),
        ("twice", NO_ID, 42),
    ]


def test_a_topic_by_name_and_by_id_is_rejected_after_permissions_are_checked() -> None:
    stage = stage_of()
    topic_id = stage.found("hidden").topic_id
    states = [DeleteTopicState("hidden"), DeleteTopicState(topic_id=topic_id)]
    request = DeleteTopicsRequest(states, timeout_ms=5000)
    (row,) = stage.ask(ApiKey.DELETE_TOPICS, 6, request, ADMIN).responses
    assert (row.name, row.topic_id, row.error_code) == ("hidden", topic_id, 42)
    assert "hidden" in stage.cluster.topics
    rows = stage.ask(ApiKey.DELETE_TOPICS, 6, request, ALICE).responses
    assert {(row.name, row.error_code) for row in rows} == {("hidden", 29), (None, 29)}


def test_results_are_not_in_the_order_of_the_request() -> None:
    stage = Stage()
    names = [f"t{index}" for index in range(20)]
    assert list(by_name(stage, *names, who=ADMIN)) != names
    assert set(by_name(stage, *names, who=ADMIN)) == set(names)


@pytest.mark.parametrize(("version", "error"), [(1, 42), (2, 42), (3, 73), (6, 73)])
def test_deletion_can_be_disabled(version: int, error: int) -> None:
    stage = Stage(properties={"delete.topic.enable": "false"})
    stage.topic("t")
    states = [DeleteTopicState("t")] if version >= 6 else []
    names = [] if version >= 6 else ["t"]
    request = DeleteTopicsRequest(states, names, 5000)
    (row,) = stage.ask(ApiKey.DELETE_TOPICS, version, request).responses
    assert (row.name, row.error_code) == ("t", error)


# version 6 with an entry that has neither name nor id, as on 2.8.2 and 4.3.1
@pytest.mark.parametrize(
    ("release", "who", "codes"),
    [
        ("2.8", ADMIN, {None: 29, "x": 3}),
        ("2.8", "User:alice", {None: 29, "x": 29}),
        ("4.3", ADMIN, {None: 42, "x": 3}),
    ],
)
def test_an_entry_without_name_and_id_does_not_fail_the_others(
    release: str, who: str, codes: dict[str | None, int]
) -> None:
    request = DeleteTopicsRequest([DeleteTopicState(None), DeleteTopicState("x")])
    answer = Stage(release).ask(ApiKey.DELETE_TOPICS, 6, request, who)
    assert {response.name: response.error_code for response in answer.responses} == codes


# permission checks as in the authorizer log of a real 4.3.1
RELEASE = "4.3.1"
EXCHANGES = {
    exchange.name: exchange
    for exchange in recorded(RELEASE).exchanges
    if exchange.api == ApiKey.DELETE_TOPICS.wire_name
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_checks_are_those_that_the_broker_logged(name: str) -> None:
    stage = Stage(RELEASE)
    ids = {topic: stage.topic(topic).topic_id for topic in TOPICS}
    for kind, names in GRANTS.items():
        for resource, operations in names.items():
            for operation in operations:
                stage.allow(PRINCIPAL, operation, kind, resource)
    (wanted,) = [ask for ask in asks(ids) if ask.api is ApiKey.DELETE_TOPICS and ask.name == name]
    history = History()
    stage.dispatcher.set_history(history)
    session = stage.session(PRINCIPAL)
    stage.send(wanted.api, EXCHANGES[name].version, wanted.request, session)
    (seen,) = history
    asked = [
        Decision(
            record.action.operation.name,
            record.action.resource_type.name,
            record.action.resource_name,
            record.decision.allowed,
        )
        for record in seen.records
    ]
    logged = EXCHANGES[name].decisions
    assert set(asked) == set(logged)
    assert len(asked) == len(logged)
    order = [decision.operation for decision in logged]
    assert [
        decision.operation for decision in asked
    ] == order  # DESCRIBE on all topics, then DELETE
