"""AlterConfigs and IncrementalAlterConfigs: permissions and validation (KIP-133, 339, 412)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType, Operation, ResourceType
from kafka_shim.protocol.messages import incremental_alter_configs as incremental_request
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.state.settings.broker_loggers import table_path
from tests.shim.play import ADMIN, Stage

ALICE, CAROL = "User:alice", "User:carol"
TOPIC, BROKER, LOGGER, METRICS, GROUP = (
    ConfigResourceType.TOPIC,
    ConfigResourceType.BROKER,
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.CLIENT_METRICS,
    ConfigResourceType.GROUP,
)
SET, REMOVE, APPEND, SUBTRACT = range(4)
Resource = tuple[int, str, Mapping[str, str | None]]


def alter(stage: Stage, *resources: Resource, who: str = ADMIN, dry: bool = False) -> list[int]:
    rows = [
        AlterConfigsResource(kind, name, [AlterableConfig(*setting) for setting in changes.items()])
        for kind, name, changes in resources
    ]
    request = AlterConfigsRequest(rows, dry)
    answer = stage.ask(ApiKey.ALTER_CONFIGS, 0, request, who)
    return [response.error_code for response in answer.responses]


def change(stage: Stage, kind: int, name: str, *operations: Any, who: str = ADMIN) -> Any:
    """Send an IncrementalAlterConfigs for one resource; `operations`: (name, operation, value)."""
    configs = [incremental_request.AlterableConfig(*operation) for operation in operations]
    row = incremental_request.AlterConfigsResource(kind, name, configs)
    request = incremental_request.IncrementalAlterConfigsRequest([row])
    response = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, request, who)
    return response.responses[0].error_code


def stage_of(release: str = "") -> Stage:
    stage = Stage(release)
    stage.topic("a", configs={"retention.ms": "7", "segment.ms": "9"})
    stage.topic("hidden")
    for name in ("a", "m"):
        stage.allow(ALICE, Operation.ALTER_CONFIGS, ResourceType.TOPIC, name)
    stage.allow(CAROL, Operation.ALTER_CONFIGS, ResourceType.CLUSTER, "kafka-cluster")
    return stage


def own(stage: Stage) -> dict[str, str]:
    configs: dict[str, str] = stage.found("a").configs
    return configs


def test_alter_configs_resets_settings_that_are_not_given() -> None:
    stage = stage_of()
    assert alter(stage, (TOPIC, "a", {"retention.ms": "8"}), dry=True) == [0]
    assert own(stage) == {"retention.ms": "7", "segment.ms": "9"}
    assert alter(stage, (TOPIC, "a", {"retention.ms": "8"})) == [0]
    assert own(stage) == {"retention.ms": "8"}


def test_a_denied_resource_does_not_fail_the_others() -> None:
    changes = {"retention.ms": "1"}
    asked = [(TOPIC, name, changes) for name in ("hidden", "a", "unseen", "m")]
    assert alter(stage_of(), *asked, who=ALICE) == [29, 0, 29, 3]


@pytest.mark.parametrize(("release", "error"), [("0.11", 3), ("1.0", 29), ("4.3", 29)])
def test_altering_a_topic_needs_alter_configs_on_it(release: str, error: int) -> None:
    stage = stage_of(release)
    assert alter(stage, (TOPIC, "hidden", {"retention.ms": "1"}), who=ALICE) == [error]


@pytest.mark.parametrize(
    ("kind", "name", "changes", "who", "error"),
    [
        (BROKER, "1", {"log.cleaner.threads": "2"}, ALICE, 31),
        (BROKER, "1", {"log.cleaner.threads": "2"}, CAROL, 0),
        (METRICS, "m", {"interval.ms": "100"}, ALICE, 31),
        (METRICS, "m", {"interval.ms": "100"}, CAROL, 0),
        (GROUP, "g", {"consumer.session.timeout.ms": "50000"}, CAROL, 30),
        (TOPIC, "a", {"retention.ms": "1"}, CAROL, 29),
    ],
)
def test_the_needed_permission_depends_on_the_resource_type(
    kind: int, name: str, changes: Any, who: str, error: int
) -> None:
    assert alter(stage_of(), (kind, name, changes), who=who) == [error]


@pytest.mark.parametrize(("release", "error"), [("2.8", 31), ("4.3", 42)])
def test_kraft_validates_broker_settings_before_permissions(release: str, error: int) -> None:
    for name, changes in {
        "2": {"log.cleaner.threads": "2"},
        "abc": {"log.cleaner.threads": "2"},
        "1": {"broker.id": "2"},
    }.items():
        assert alter(stage_of(release), (BROKER, name, changes), who=ALICE) == [error]


@pytest.mark.parametrize(
    ("resource", "error"),
    [
        ((TOPIC, "a", {"nonsense": "1"}), 40),
        ((TOPIC, "a", {"retention.ms": "x"}), 40),
        ((TOPIC, "m", {"nonsense": "1"}), 40),
        ((TOPIC, "m", {"retention.ms": "1"}), 3),
        ((TOPIC, "", {"retention.ms": "1"}), 42),
        ((TOPIC, "a b", {"retention.ms": "1"}), 17),
        ((TOPIC, "a", {"retention.ms": None}), 42),
        ((LOGGER, "1", {"root": "INFO"}), 42),
        ((3, "x", {"a": "b"}), 42),
        ((BROKER, "", {"listeners": "X://:1"}), 42),
        ((BROKER, "1", {"log.cleaner.threads": "x"}), 42),
        ((BROKER, "1", {"of.a.plugin": "x"}), 0),
        ((BROKER, "1", {"min.insync.replicas": "1"}), 40),
        ((BROKER, "", {"log.cleaner.threads": "2"}), 40),
        ((GROUP, "g", {"consumer.session.timeout.ms": "1"}), 40),
        ((GROUP, "g", {"nonsense": "1"}), 40),
        ((GROUP, "", {"consumer.session.timeout.ms": "50000"}), 42),
        ((METRICS, "m", {"interval.ms": "1"}), 42),
        ((METRICS, "m", {"nonsense": "1"}), 42),
        ((METRICS, "m", {"match": "client_id=a.*"}), 0),
        ((METRICS, "m", {"match": "client_id=("}), 40),
        ((METRICS, "m", {"match": "foo=1"}), 40),
        ((METRICS, "m", {"metrics": "a,,b"}), 40),
        ((METRICS, "m", {"metrics": "a,a"}), 0),
        ((TOPIC, "a", {"cleanup.policy": "delete,,compact"}), 40),
        ((TOPIC, "a", {"cleanup.policy": "delete,delete"}), 0),
        ((TOPIC, "a", {"cleanup.policy": ""}), 0),
        ((BROKER, "1", {"log.cleanup.policy": "delete,delete"}), 42),
        ((BROKER, "1", {"log.cleanup.policy": ""}), 0),
        ((BROKER, "1", {"metric.reporters": "a,,b"}), 42),
        ((BROKER, "1", {"listeners": ""}), 42),
        ((BROKER, "1", {"config.providers": "a,,a"}), 0),
        ((BROKER, "1", {"group.share.assignor.offload.enable": "false"}), 0),
        ((GROUP, "g", {"share.auto.offset.reset": "by_duration:PT1H"}), 0),
        ((GROUP, "g", {"share.auto.offset.reset": "EARLIEST"}), 40),
        ((GROUP, "g", {"streams.rack.aware.assignment.tags": "a,a"}), 40),
        ((GROUP, "g", {"streams.assignor.name": "sticky"}), 0),
        ((GROUP, "g", {"streams.assignor.name": "other"}), 40),
    ],
)
def test_errors_of_the_newest_release(resource: Resource, error: int) -> None:
    assert alter(stage_of(), resource) == [error]
    if resource[0] != LOGGER and error != 3:
        operations = [(key, SET, value) for key, value in resource[2].items()]
        # AlterConfigs fails for all brokers since it would remove min.insync.replicas
        kept = 0 if resource[:2] == (BROKER, "") and error == 40 else error
        assert change(stage_of(), resource[0], resource[1], *operations) == kept


@pytest.mark.parametrize(
    ("release", "value", "shown"), [("4.1", "delete,delete", 2), ("4.4", "delete,delete", 1)]
)
def test_a_policy_given_twice_counts_once_since_4_2(release: str, value: str, shown: int) -> None:
    stage = stage_of(release)
    assert alter(stage, (TOPIC, "a", {"cleanup.policy": value})) == [0]
    held = stage.cluster.configs.effective_topic_value(own(stage), "cleanup.policy")
    assert str(held).split(",") == ["delete"] * shown


@pytest.mark.parametrize(("release", "error"), [("4.2", 0), ("4.3", 0), ("4.4", 42)])
def test_brokers_refuse_a_policy_given_twice_since_4_4(release: str, error: int) -> None:
    resource = (BROKER, "1", {"log.cleanup.policy": "delete,delete"})
    assert alter(stage_of(release), resource) == [error]


def test_an_element_appended_twice_is_added_once() -> None:
    stage = stage_of("4.1")
    assert change(stage, TOPIC, "a", ("cleanup.policy", APPEND, "compact,compact")) == 0
    assert own(stage)["cleanup.policy"] == "delete,compact"


@pytest.mark.parametrize("release", ["1.1", "2.3", "2.4"])
def test_retention_hours_cannot_be_altered_on_a_running_broker(release: str) -> None:
    """2.3.1 returns INVALID_REQUEST (42), although its DescribeConfigs has read_only = false."""
    resource = (BROKER, "1", {"log.retention.hours": "5"})
    assert alter(stage_of(release), resource) == [42]


def test_in_2_3_a_null_value_closes_the_connection() -> None:
    resource = (TOPIC, "a", {"retention.ms": None})
    with pytest.raises(CloseConnection):
        alter(stage_of("2.3"), resource)
    assert alter(stage_of("1.1"), resource) == [-1]
    assert alter(stage_of("2.7"), resource, who="User:nobody") == [-1]


def test_incremental_changes_keep_other_settings() -> None:
    stage = stage_of()
    assert change(stage, TOPIC, "a", ("retention.ms", REMOVE, None), ("segment.ms", SET, "5")) == 0
    assert own(stage) == {"segment.ms": "5"}


def test_append_and_subtract_change_a_list() -> None:
    stage = stage_of()
    assert change(stage, TOPIC, "a", ("cleanup.policy", APPEND, "compact")) == 0
    assert own(stage)["cleanup.policy"] == "delete,compact"
    assert change(stage, TOPIC, "a", ("cleanup.policy", APPEND, "compact")) == 0
    assert own(stage)["cleanup.policy"] == "delete,compact"
    assert change(stage, TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete")) == 0
    assert own(stage)["cleanup.policy"] == "compact"


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (("retention.ms", APPEND, "1"), 40),
        (("retention.ms", 9, "1"), -1),
        (("cleanup.policy", APPEND, None), 42),
        (("nonsense", REMOVE, None), 0),
    ],
)
def test_invalid_operations_change_nothing(operation: Any, error: int) -> None:
    stage = stage_of()
    before = dict(own(stage))
    assert change(stage, TOPIC, "a", operation) == error
    assert own(stage) == before


def test_repeated_resources_or_settings_are_rejected_by_newer_releases() -> None:
    twice = [(TOPIC, "a", {"retention.ms": "1"}), (TOPIC, "a", {"segment.ms": "2"})]
    assert alter(stage_of(), *twice, who="User:nobody") == [42, 42]
    for release in ("2.3", "2.8"):  # real brokers of 2.6 to 2.8 do not respond
        stage = stage_of(release)
        assert alter(stage, *twice) == [0]
        assert own(stage) == {"segment.ms": "2"}
    both = [("retention.ms", SET, "1"), ("retention.ms", REMOVE, None)]
    assert change(stage_of(), TOPIC, "a", *both, who="User:nobody") == 42
    assert change(stage_of("2.8"), TOPIC, "a", *both, who="User:nobody") == 29


def test_log_levels_are_set_and_removed() -> None:
    stage = stage_of()
    assert change(stage, LOGGER, "1", ("kafka", SET, "DEBUG"), who=ALICE) == 31
    assert change(stage, LOGGER, "1", ("kafka", SET, "DEBUG"), who=CAROL) == 0
    assert stage.cluster.configs.loggers == {1: {"kafka": "DEBUG"}}
    assert change(stage, LOGGER, "1", ("kafka", REMOVE, None)) == 0
    assert stage.cluster.configs.loggers == {1: {}}
    for operation, error in (
        (("kafka", SET, "LOUD"), 40),
        (("no.logger", SET, "INFO"), 40),
        (("root", REMOVE, None), 42),
        (("root", APPEND, "INFO"), 42),
    ):
        assert change(stage, LOGGER, "1", operation) == error
    assert change(stage, LOGGER, "2", ("kafka", SET, "INFO")) == 42


def test_topics_inherit_settings_of_all_brokers() -> None:
    stage = stage_of()
    assert change(stage, BROKER, "", ("log.retention.ms", SET, "55")) == 0
    assert stage.cluster.configs.effective_topic_value({}, "retention.ms") == "55"
    assert change(stage, BROKER, "", ("log.retention.ms", REMOVE, None)) == 0
    assert stage.cluster.configs.effective_topic_value({}, "retention.ms") == "604800000"


UNKNOWN = ("retention.ms", 99, "1")


@pytest.mark.parametrize(("release", "message"), [("2.4", "null"), ("2.5", "null"), ("2.6", None)])
def test_an_unknown_operation_has_the_message_of_its_release(
    release: str, message: str | None
) -> None:
    """Recorded from 2.3.1, 2.4.1, 2.5.1, 2.6.3, 2.7.2 and 2.8.2."""
    stage = stage_of(release)
    config = incremental_request.AlterableConfig("retention.ms", 99, "1")
    resource = incremental_request.AlterConfigsResource(TOPIC, "a", [config])
    request = incremental_request.IncrementalAlterConfigsRequest([resource])
    [response] = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, request).responses
    assert (response.error_code, response.error_message) == (-1, message)


@pytest.mark.parametrize(
    ("first", "errors"),
    [
        ((TOPIC, "a", UNKNOWN), [-1, -1]),
        ((TOPIC, "m", UNKNOWN), [-1, -1]),
        ((GROUP, "g", UNKNOWN), [-1, -1]),
        ((BROKER, "1", UNKNOWN), [42, 0]),
        ((TOPIC, "a", ("retention.ms", 2, "1")), [40, 0]),
    ],
)
def test_an_unknown_operation_fails_all_resources_of_the_controller(
    first: Any, errors: list[int]
) -> None:
    """Recorded from 4.3.1.

    The controller returns UNKNOWN_SERVER_ERROR (-1) for all of its resources, and changes nothing.
    """
    stage = stage_of()
    stage.topic("b")
    resources = [
        incremental_request.AlterConfigsResource(
            kind, name, [incremental_request.AlterableConfig(*operation)]
        )
        for kind, name, operation in (first, (TOPIC, "b", ("retention.ms", SET, "11")))
    ]
    resources.append(incremental_request.AlterConfigsResource(99, "x", []))
    request = incremental_request.IncrementalAlterConfigsRequest(resources)
    answer = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    assert [response.error_code for response in answer.responses] == [*errors, 42]
    topic = stage.cluster.topics.get("b")
    assert topic is not None
    assert topic.configs == ({} if errors[1] else {"retention.ms": "11"})


@pytest.mark.parametrize(("broker", "error"), [("7", 42), ("1", -1)])
def test_on_zookeeper_the_id_of_the_broker_is_checked_before_operations(
    broker: str, error: int
) -> None:
    found = change(stage_of("2.8"), ConfigResourceType.BROKER, broker, ("nonsense.key", 7, "1"))
    assert found == error


@pytest.mark.parametrize(("value", "error"), [(None, -1), ("1", 42)])
def test_on_zookeeper_a_null_value_fails_before_an_unknown_type(
    value: str | None, error: int
) -> None:
    """A real 2.8.2 returns the same."""
    assert alter(stage_of("2.8"), (99, "m", {"retention.ms": value})) == [error]


def described(release: str) -> Any:
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.BROKER_LOGGER, resource_name="1"
    )
    request = DescribeConfigsRequest(resources=[resource])
    return Stage(release).ask(ApiKey.DESCRIBE_CONFIGS, 4, request).results[0].configs


@pytest.mark.parametrize("release", json.loads(table_path().read_text()))
def test_all_loggers_of_a_real_broker_are_listed(release: str) -> None:
    recorded = json.loads(table_path().read_text())[release]
    levels = {name: level for level, names in recorded.items() for name in names}
    assert {config.name: config.value for config in described(release)} == levels
    assert len(levels) > 140


def test_before_log4j_2_only_configured_loggers_are_listed() -> None:
    assert len(described("3.9")) == 9
