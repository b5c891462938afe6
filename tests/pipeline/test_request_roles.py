"""The role of an access follows from the names in its request, and from the response."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.cli import main
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeStateData,
    PartitionData,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from tests.pipeline.real_requests import commit
from tests.shim.play import Stage

BOB = "User:bob"
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP


@pytest.fixture
def stage() -> Stage:
    """Return a cluster with two topics; bob may describe and delete `orders`, and any group."""
    stage = Stage("4.4")
    for name in ("orders", "secret"):
        stage.topic(name)
    stage.allow(BOB, Operation.DESCRIBE, TOPIC, "orders")
    stage.allow(BOB, Operation.ALL, GROUP, "*")
    return stage


def access_rows(
    stage: Stage, folder: Path, api: ApiKey, version: int, request: Any, user: str = BOB
) -> list[dict[str, Any]]:
    """Send a request; return the rows of its accesses."""
    recorder = TraceRecorder(folder, stage.clock)
    stage.dispatcher.set_recorder(recorder)
    stage.ask(api, version, request, user)
    recorder.close()
    return [
        row
        for split in plan_splits([str(folder)])
        for batch in table_batches("accesses", split, Selection(release="4.4"))
        for row in batch.to_pylist()
    ]


def roles(
    stage: Stage, folder: Path, api: ApiKey, version: int, request: Any
) -> dict[tuple[str, str], str]:
    """Send a request as bob; return the roles by operation and name."""
    return {
        (row["operation"], row["resource_name"]): row["role"]
        for row in access_rows(stage, folder, api, version, request)
    }


def test_topics_that_are_named_by_their_ids_are_no_list(stage: Stage, tmp_path: Path) -> None:
    topic = MetadataRequestTopic(topic_id=stage.found("orders").topic_id, name=None)
    found = roles(stage, tmp_path, ApiKey.METADATA, 12, MetadataRequest([topic]))
    assert found == {("DESCRIBE", "orders"): "required"}


def test_all_topics_of_one_group_are_a_list_beside_named_ones_of_another(
    stage: Stage, tmp_path: Path
) -> None:
    stage.ask(ApiKey.OFFSET_COMMIT, 8, commit("b", "secret"))
    topics = [OffsetFetchRequestTopics("orders", partition_indexes=[0])]
    groups = [
        OffsetFetchRequestGroup("a", topics=topics),
        OffsetFetchRequestGroup("b", topics=None),
    ]
    found = roles(stage, tmp_path, ApiKey.OFFSET_FETCH, 8, OffsetFetchRequest(groups=groups))
    assert found[("DESCRIBE", "orders")] == "required"
    assert found[("DESCRIBE", "secret")] == "listed"


def test_all_topics_of_one_group_are_a_list_beside_topic_ids_of_another(
    stage: Stage, tmp_path: Path
) -> None:
    stage.ask(ApiKey.OFFSET_COMMIT, 8, commit("b", "secret"))
    topic_id = stage.found("orders").topic_id
    groups = [
        OffsetFetchRequestGroup("b", topics=None),
        OffsetFetchRequestGroup(
            "a", topics=[OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0])]
        ),
    ]
    found = roles(stage, tmp_path, ApiKey.OFFSET_FETCH, 10, OffsetFetchRequest(groups=groups))
    assert found[("DESCRIBE", "orders")] == "required"
    assert found[("DESCRIBE", "secret")] == "listed"


def test_delete_decides_nothing_about_a_missing_topic(stage: Stage, tmp_path: Path) -> None:
    stage.allow(BOB, Operation.DESCRIBE, TOPIC, "missing")
    names = [DeleteTopicState(name=name) for name in ("orders", "missing")]
    found = roles(stage, tmp_path, ApiKey.DELETE_TOPICS, 6, DeleteTopicsRequest(names))
    assert found[("DELETE", "missing")] == "possible"
    assert found[("DESCRIBE", "missing")] == "either"
    assert found[("DELETE", "orders")] == "either"
    assert found[("DESCRIBE", "orders")] == "refused"  # DELETE was denied


@pytest.mark.parametrize(("version", "role"), [(4, "possible"), (5, "listed")])
def test_settings_are_shown_of_created_topics_only(
    stage: Stage, tmp_path: Path, version: int, role: str
) -> None:
    stage.allow(BOB, Operation.ALL, ResourceType.CLUSTER, "kafka-cluster")
    topics = [CreatableTopic(name, 1, 1) for name in ("new", "orders")]
    found = roles(stage, tmp_path, ApiKey.CREATE_TOPICS, version, CreateTopicsRequest(topics, 1000))
    assert found[("DESCRIBE_CONFIGS", "new")] == role
    assert found[("DESCRIBE_CONFIGS", "orders")] == "possible"  # it exists


def test_a_refused_request_gets_no_acl_for_what_was_allowed_in_it(
    stage: Stage, tmp_path: Path, capsys: Any
) -> None:
    request = ShareGroupHeartbeatRequest(
        group_id="g",
        member_id="AAAAAAAAAAAAAAAAAAAAAQ",
        subscribed_topic_names=["orders", "secret"],
    )
    found = roles(stage, tmp_path, ApiKey.SHARE_GROUP_HEARTBEAT, 1, request)
    assert found == {
        ("READ", "g"): "passed",  # its denial would have been error 30
        ("DESCRIBE", "orders"): "refused",
        ("DESCRIBE", "secret"): "required",
    }
    assert main(["pipeline", "least-acls", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_a_decision_about_authorized_operations_is_no_list(stage: Stage, tmp_path: Path) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    found = roles(stage, tmp_path, ApiKey.DESCRIBE_CLUSTER, 1, request)
    assert found == {("DESCRIBE", "kafka-cluster"): "probe"}


def test_describe_on_the_cluster_lists_the_same_as_on_each_group(
    stage: Stage, tmp_path: Path
) -> None:
    stage.allow(BOB, Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    for group in ("a", "b"):
        stage.ask(ApiKey.OFFSET_COMMIT, 8, commit(group, "orders"))
    request = ListGroupsRequest()
    (row,) = access_rows(stage, tmp_path / "two", ApiKey.LIST_GROUPS, 4, request)
    assert row["role"] == "listed"
    assert row["instead"] == ["DESCRIBE|GROUP|a", "DESCRIBE|GROUP|b"]
    request = ListGroupsRequest(states_filter=["Stable"])
    found = roles(stage, tmp_path / "none", ApiKey.LIST_GROUPS, 4, request)
    assert found == {("DESCRIBE", "kafka-cluster"): "possible"}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], {"a": "listed", "b": "listed"}),
        (["Empty"], {"a": "listed", "b": "unshown"}),
        (["Stable"], {}),  # groups in another state are not checked
    ],
    ids=str,
)
def test_what_a_filter_leaves_out_was_not_denied(
    stage: Stage, tmp_path: Path, states: list[str], expected: dict[str, str]
) -> None:
    """Bob may describe `a`; `b` may be missing for its state."""
    stage.allow("User:carol", Operation.DESCRIBE, GROUP, "a")
    for group in ("a", "b"):
        stage.ask(ApiKey.OFFSET_COMMIT, 8, commit(group, "orders"))
    rows = access_rows(
        stage, tmp_path, ApiKey.LIST_GROUPS, 4, ListGroupsRequest(states), user="User:carol"
    )
    found = {row["resource_name"]: row["role"] for row in rows if row["resource_type"] == "GROUP"}
    assert found == expected


def test_metadata_creates_only_what_is_missing(stage: Stage, tmp_path: Path) -> None:
    stage.allow(BOB, Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    stage.allow(BOB, Operation.DESCRIBE, TOPIC, "new")
    topics = [MetadataRequestTopic(name=name) for name in ("orders", "secret", "new")]
    rows = access_rows(stage, tmp_path, ApiKey.METADATA, 9, MetadataRequest(topics))
    (created,) = (row for row in rows if row["operation"] == "CREATE")
    assert created["role"] == "either"
    assert created["instead"] == ["CREATE|TOPIC|new"]


def test_a_topic_that_is_named_twice_is_not_created(stage: Stage, tmp_path: Path) -> None:
    for name in ("once", "twice"):
        stage.allow(BOB, Operation.CREATE, TOPIC, name)
    topics = [CreatableTopic(name, 1, 1) for name in ("twice", "once", "twice")]
    request = CreateTopicsRequest(topics, 1000)
    found = roles(stage, tmp_path / "topic", ApiKey.CREATE_TOPICS, 4, request)
    assert found[("CREATE", "once")] == "either"
    assert ("CREATE", "twice") not in found  # it is not checked
    stage.allow(BOB, Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    request = CreateTopicsRequest(topics[::2], 1000)
    found = roles(stage, tmp_path / "cluster", ApiKey.CREATE_TOPICS, 4, request)
    assert found[("CREATE", "kafka-cluster")] == "possible"


@pytest.mark.parametrize(("topics", "role"), [([], "possible"), (["orders"], "required")])
def test_a_response_without_elements_shows_no_denial(
    stage: Stage, tmp_path: Path, topics: list[str], role: str
) -> None:
    request = commit("g", *topics)
    found = roles(stage, tmp_path, ApiKey.OFFSET_COMMIT, 8, request)
    assert found[("READ", "g")] == role


def test_an_error_of_the_group_hides_decisions_about_topics(stage: Stage, tmp_path: Path) -> None:
    request = OffsetDeleteRequest(
        "", [OffsetDeleteRequestTopic("secret", [OffsetDeleteRequestPartition(0)])]
    )
    found = roles(stage, tmp_path, ApiKey.OFFSET_DELETE, 0, request)
    assert found == {("DELETE", ""): "required", ("READ", "secret"): "possible"}


def test_an_allowed_request_may_have_elements_and_its_response_none(
    stage: Stage, tmp_path: Path
) -> None:
    stage.allow(BOB, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    request = InitializeShareGroupStateRequest(
        "", [InitializeStateData(bytes(16), [PartitionData(0)])]
    )
    found = roles(stage, tmp_path, ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, request)
    assert found == {("CLUSTER_ACTION", "kafka-cluster"): "required"}


def test_one_denied_topic_fails_a_heartbeat_that_might_have_had_a_regular_expression(
    stage: Stage, tmp_path: Path
) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", subscribed_topic_names=["orders", "secret"]
    )
    found = roles(stage, tmp_path, ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
    assert found == {
        ("READ", "g"): "passed",
        ("DESCRIBE", "orders"): "refused",
        ("DESCRIBE", "secret"): "required",
    }


def test_two_denials_of_a_topic_may_each_be_vain(stage: Stage, tmp_path: Path) -> None:
    request = DeleteTopicsRequest([DeleteTopicState(name="secret")])
    found = roles(stage, tmp_path, ApiKey.DELETE_TOPICS, 6, request)
    assert found[("DESCRIBE", "secret")] == found[("DELETE", "secret")] == "refused"


def unused_acls(stage: Stage, tmp_path: Path, capsys: Any) -> list[dict[str, Any]]:
    authorizer = stage.cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    acls = tmp_path / "acls.json"
    acls.write_text(format_acls_losslessly([*authorizer.store], "json"))
    words = ["unused-acls", str(tmp_path / "trace"), "--acls", str(acls), "--accept-incomplete"]
    assert main(["pipeline", *words, "--engine", "duckdb", "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def test_an_acl_that_is_needed_once_the_topic_exists_is_kept(
    stage: Stage, tmp_path: Path, capsys: Any
) -> None:
    """The client deletes a topic in each run; when it was recorded, the topic did not exist."""
    for operation in (Operation.DESCRIBE, Operation.DELETE):
        stage.allow(BOB, operation, TOPIC, "missing")
    request = DeleteTopicsRequest([DeleteTopicState(name="missing")])
    found = roles(stage, tmp_path / "trace", ApiKey.DELETE_TOPICS, 6, request)
    assert found[("DELETE", "missing")] == "possible"
    (row,) = (row for row in unused_acls(stage, tmp_path, capsys) if "|DELETE|ALLOW" in row["acl"])
    assert (row["state"], row["can_go"], row["remove"]) == ("not known", False, None)
    stage.topic("missing")
    assert stage.ask(ApiKey.DELETE_TOPICS, 6, request, BOB).responses[0].error_code == 0


def test_an_acl_behind_another_denial_is_not_known_to_be_needed(
    stage: Stage, tmp_path: Path, capsys: Any
) -> None:
    """Without DESCRIBE, nothing depends on DELETE."""
    stage.allow(BOB, Operation.DELETE, TOPIC, "secret")
    stage.allow(BOB, Operation.DESCRIBE, TOPIC, "secret", deny=True)
    request = DeleteTopicsRequest([DeleteTopicState(name="secret")])
    roles(stage, tmp_path / "trace", ApiKey.DELETE_TOPICS, 6, request)
    rows = unused_acls(stage, tmp_path, capsys)
    (row,) = (row for row in rows if "|DELETE|ALLOW" in row["acl"])
    assert (row["state"], row["can_go"]) == ("not known", False)
    assert row["not_known"] == "the responses may be the same without it"
    (deny,) = (row for row in rows if "|DENY" in row["acl"])
    assert deny["state"] == "needed"


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (DeleteTopicsRequest([DeleteTopicState(topic_id=b"\7" * 16)]), 6),
        (DeleteTopicsRequest(topic_names=["secret", "secret"]), 3),
    ],
    ids=["an unknown id", "a name given twice"],
)
def test_what_nobody_can_delete_needs_no_permission_on_the_cluster(
    stage: Stage, tmp_path: Path, request_: DeleteTopicsRequest, version: int
) -> None:
    stage.allow(BOB, Operation.DELETE, ResourceType.CLUSTER, "kafka-cluster")
    found = roles(stage, tmp_path, ApiKey.DELETE_TOPICS, version, request_)
    assert found == {("DELETE", "kafka-cluster"): "possible"}


def test_a_decision_about_an_unknown_topic_id_is_not_used(stage: Stage, tmp_path: Path) -> None:
    request = OffsetCommitRequest("g", topics=[
        OffsetCommitRequestTopic(topic_id=b"\7" * 16, partitions=[OffsetCommitRequestPartition()])
    ])  # fmt: skip
    found = roles(stage, tmp_path, ApiKey.OFFSET_COMMIT, 10, request)
    assert found == {("READ", "g"): "required", ("READ", ""): "possible"}
