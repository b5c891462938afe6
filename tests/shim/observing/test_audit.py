"""The audit log has a line for each decision, with Kafka's fields, order and log levels."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kafka_shim.authorizer.remedy import Step, steps_to_allow
from kafka_shim.authorizer.store import BEFORE_CHANGE_MAX
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_shim.protocol.messages.delete_records import DeleteRecordsRequest, DeleteRecordsTopic
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.observing import audit_log, request_remedy
from kafka_shim.shim.observing.audit_log import LINES_MAX, LOGGER_NAME
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.request.access import RECORDS_MAX
from kafka_shim.text.logs import configure_logging
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL


def audit_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if LOGGER_NAME in line]


def test_a_denial_is_an_info_line_with_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    stage = Stage()
    stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")
    (line,) = audit_lines(capsys)
    assert (
        "Principal = User:alice is Denied operation = DESCRIBE from host = 127.0.0.1 "
        "on resource = Cluster:LITERAL:kafka-cluster for request = DescribeAcls "
        "with resourceRefCount = 1 based on rule DefaultDeny"
    ) in line


@pytest.mark.parametrize("release", ["0.11", "3.2"])
def test_denials_are_logged_at_info_in_every_release(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("info", "console")
    request = FindCoordinatorRequest("group", 0)
    Stage(release).ask(ApiKey.FIND_COORDINATOR, 0, request, "User:alice")
    (line,) = audit_lines(capsys)
    assert "Principal = User:alice is Denied" in line
    assert "to_allow=" in line


@pytest.mark.parametrize(
    ("is_denied_by_name", "to_allow"),
    [
        (False, "add {principal: User:alice, allow: Describe, cluster: kafka-cluster}"),
        (
            True,
            (
                "add {principal: User:alice, allow: Describe, cluster: kafka-cluster}; "
                "remove {principal: User:alice, deny: Describe, cluster: kafka-cluster}"
            ),
        ),
    ],
)
def test_a_denial_names_the_acl_that_would_allow_it(
    is_denied_by_name: bool, to_allow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage()
    if is_denied_by_name:
        about = (Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
        stage.allow("User:alice", *about, deny=True)
    forms = {"console": f"to_allow='{to_allow}'", "json": f'"to_allow": "{to_allow}"'}
    for form, shown in forms.items():
        configure_logging("info", form)
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")
        (line,) = audit_lines(capsys)
        assert shown in line


def test_an_allowed_request_is_a_debug_line_naming_the_acl(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage = Stage()
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    configure_logging("info", "console")
    stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")
    assert audit_lines(capsys) == []
    configure_logging("debug", "console")
    stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")
    (line,) = audit_lines(capsys)
    assert (
        "is Allowed operation = DESCRIBE from host = 127.0.0.1 on resource = "
        "Cluster:LITERAL:kafka-cluster for request = DescribeAcls with resourceRefCount = 1 "
        "based on rule MatchingAcl(acl=StandardAcl[resourceType=CLUSTER, "
        "resourceName=kafka-cluster, patternType=LITERAL, principal=User:alice, host=*, "
        "operation=DESCRIBE, permissionType=ALLOW])"
    ) in line


def test_checks_for_authorized_operations_are_not_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage = Stage()
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    configure_logging("info", "console")
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    response = stage.ask(ApiKey.DESCRIBE_CLUSTER, 0, request, "User:alice")
    assert response.cluster_authorized_operations == 1 << Operation.DESCRIBE
    assert audit_lines(capsys) == []


def test_a_principal_cannot_forge_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    Stage().ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:a\nPrincipal = User:b is Allowed \x1b[2J")
    (line,) = capsys.readouterr().err.splitlines()
    assert "User:a\\nPrincipal = User:b is Allowed \\x1b[2J" in line


def metadata(count: int) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=f"n{row}") for row in range(count)])


def test_lines_of_a_request_are_bounded_and_the_others_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_logging("info", "console")
    made: list[object] = []

    def to_allow(*asked: object) -> str:
        made.append(asked)
        return ""

    monkeypatch.setattr(audit_log, "_remedy_text", to_allow)
    stage = Stage()
    stage.ask(ApiKey.METADATA, 1, metadata(3 * RECORDS_MAX), "User:alice")
    lines = audit_lines(capsys)
    assert len(lines) == LINES_MAX + 1
    assert len(made) == 1
    assert "further decisions of this request" in lines[-1]
    assert f"denied={3 * RECORDS_MAX - LINES_MAX}" in lines[-1]


def test_a_denial_after_many_allowed_decisions_is_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    stage = Stage()
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "n", prefixed=True)
    request = metadata(2 * RECORDS_MAX)
    assert request.topics is not None
    request.topics.append(MetadataRequestTopic(name="denied"))
    stage.ask(ApiKey.METADATA, 4, request, "User:alice")
    (line,) = [line for line in audit_lines(capsys) if "Topic:LITERAL:denied" in line]
    assert "Denied" in line


def test_remedies_are_computed_only_for_lines_that_are_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure_logging("warn", "console")
    monkeypatch.setattr(
        audit_log,
        "_remedy_text",
        lambda *_: pytest.fail("computed a remedy that is not logged"),
    )
    Stage().ask(ApiKey.METADATA, 1, metadata(3), "User:alice")


def test_the_history_and_the_audit_log_share_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    configure_logging("info", "console")
    computed: list[object] = []

    def counting_steps(*arguments: Any) -> tuple[Step, ...]:
        computed.append(arguments)
        return steps_to_allow(*arguments)

    monkeypatch.setattr(request_remedy, "steps_to_allow", counting_steps)
    stage = Stage()
    history = History()
    stage.dispatcher.set_history(history)
    stage.ask(ApiKey.METADATA, 1, metadata(3), "User:alice")
    (entry,) = history
    assert entry.denied_request is not None
    assert entry.denied_request.remedy is not None
    assert len(computed) == 1


def test_the_remedy_of_a_denial_is_that_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed when it is read, or before the ACLs change, for the last denied requests."""
    computed: list[object] = []

    def counting_steps(*arguments: Any) -> tuple[Step, ...]:
        computed.append(arguments)
        return steps_to_allow(*arguments)

    monkeypatch.setattr(request_remedy, "steps_to_allow", counting_steps)
    configure_logging("warn", "console")
    stage = Stage()
    history = History()
    stage.dispatcher.set_history(history)
    for _ in range(BEFORE_CHANGE_MAX + 1):
        stage.ask(ApiKey.METADATA, 1, metadata(1), "User:alice")
    assert not computed
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "n0")
    assert len(computed) == BEFORE_CHANGE_MAX
    operations = []
    for entry in history:
        assert entry.denied_request is not None
        assert entry.denied_request.remedy is not None
        operations.append({acl.operation for acl in entry.denied_request.remedy.add})
    oldest, *others = operations
    assert oldest == {Operation.CREATE}  # DESCRIBE is allowed by now
    assert all(each > oldest for each in others)


APP, FROM = "User:app", "from host = 127.0.0.1 "
DENIED = "Denied operation = {} on resource = {} for request = {} with resourceRefCount = {}"
ALLOWED = DENIED.replace("Denied", "Allowed")
Logged = Callable[[Stage, ApiKey, int, object], Counter[str]]


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Logged:
    """Return the log's decisions about a request, without the principal, host and rule."""

    def ask(stage: Stage, api: ApiKey, version: int, request: object) -> Counter[str]:
        configure_logging("debug", "console")
        stage.ask(api, version, request, APP)
        decisions = (line.partition(f"{APP} is ")[2] for line in audit_lines(capsys))
        return Counter(line.partition(" based on ")[0].replace(FROM, "") for line in decisions)

    return ask


def test_elements_of_a_topic_are_counted_in_one_line(logged: Logged) -> None:
    stage = Stage("4.4")
    stage.topic("orders", 2)
    rows = [FetchPartition(index, partition_max_bytes=1) for index in (0, 1)]
    fetch = FetchRequest(topics=[FetchTopic("orders", partitions=rows)], max_bytes=1)
    orders = "Topic:LITERAL:orders"
    assert logged(stage, ApiKey.FETCH, 4, fetch) == {DENIED.format("READ", orders, "Fetch", 2): 1}
    topics = [DeleteRecordsTopic("orders"), DeleteRecordsTopic("orders")]
    request = DeleteRecordsRequest(topics=topics, timeout_ms=1)
    line = DENIED.format("DELETE", orders, "DeleteRecords", 2)
    assert logged(stage, ApiKey.DELETE_RECORDS, 2, request) == {line: 1}


def test_each_broker_has_a_line_of_its_own(logged: Logged) -> None:
    brokers = [DescribeConfigsResource(4, "1"), DescribeConfigsResource(4, "")]
    request = DescribeConfigsRequest(resources=brokers)
    cluster = "Cluster:LITERAL:kafka-cluster"
    line = DENIED.format("DESCRIBE_CONFIGS", cluster, "DescribeConfigs", 1)
    assert logged(Stage("4.4"), ApiKey.DESCRIBE_CONFIGS, 4, request) == {line: 2}


def test_a_search_for_any_topic_is_logged_as_its_first_question(logged: Logged) -> None:
    stage = Stage("4.4")
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    assert logged(stage, ApiKey.INIT_PRODUCER_ID, 4, request) == {}  # although it is denied
    stage.allow(APP, Operation.WRITE, ResourceType.TOPIC, "orders")
    assert logged(stage, ApiKey.INIT_PRODUCER_ID, 4, request) == {}
    stage.allow(APP, Operation.WRITE, ResourceType.TOPIC, "*")
    line = ALLOWED.format("WRITE", "Topic:LITERAL:hardcode", "InitProducerId", 0)
    assert logged(stage, ApiKey.INIT_PRODUCER_ID, 4, request) == {line: 1}


def test_topics_that_metadata_creates_have_no_lines_of_create_topics(logged: Logged) -> None:
    stage = Stage("4.4")
    for operation in (Operation.CREATE, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS):
        stage.allow(APP, operation, ResourceType.TOPIC, "new")
    request = MetadataRequest(topics=[MetadataRequestTopic(name="new")])
    lines = logged(stage, ApiKey.METADATA, 4, request)
    assert stage.cluster.topics.get("new") is not None
    assert lines
    assert all("request = Metadata " in line for line in lines)


def test_expressions_are_compared_with_describable_topics(logged: Logged) -> None:
    stage = Stage("4.4")
    for name in ("orders", "other"):
        stage.topic(name)
    stage.allow(APP, Operation.READ, ResourceType.GROUP, "g")
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        rebalance_timeout_ms=1000,
        subscribed_topic_regex="ord.*",
        topic_partitions=[],
    )
    stage.allow(APP, Operation.DESCRIBE, ResourceType.TOPIC, "other")
    lines = logged(stage, ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
    other = "Topic:LITERAL:other"
    assert lines[ALLOWED.format("DESCRIBE", other, "ConsumerGroupHeartbeat", 1)] == 1
