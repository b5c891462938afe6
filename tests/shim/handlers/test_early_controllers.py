"""Altering settings on KRaft 3.0 and 3.1: responses as recorded from 3.0.2 and 3.1.2."""

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages import incremental_alter_configs as incremental_request
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.shim.play import ADMIN, Stage

TOPIC, BROKER, LOGGER = (
    ConfigResourceType.TOPIC,
    ConfigResourceType.BROKER,
    ConfigResourceType.BROKER_LOGGER,
)
SET, DELETE, APPEND, SUBTRACT = range(4)
BOTH = pytest.mark.parametrize("release", ["3.0", "3.1"])


def alter(stage: Stage, *rows: tuple[int, str, Mapping[str, str | None]]) -> list[tuple[int, int]]:
    request = AlterConfigsRequest(
        [
            AlterConfigsResource(kind, name, [AlterableConfig(*row) for row in settings.items()])
            for kind, name, settings in rows
        ]
    )
    response = stage.ask(ApiKey.ALTER_CONFIGS, 1, request, ADMIN)
    return [(row.resource_type, row.error_code) for row in response.responses]


def change(stage: Stage, *operations: tuple[str, int, str | None], name: str = "a") -> int:
    configs = [incremental_request.AlterableConfig(*operation) for operation in operations]
    row = incremental_request.AlterConfigsResource(TOPIC, name, configs)
    request = incremental_request.IncrementalAlterConfigsRequest([row])
    response = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, request, ADMIN)
    code: int = response.responses[0].error_code
    return code


def create(stage: Stage, name: str, **settings: str) -> int:
    configs = [CreatableTopicConfig(key.replace("_", "."), text) for key, text in settings.items()]
    request = CreateTopicsRequest([CreatableTopic(name, 1, 1, configs=configs)])
    code: int = stage.ask(ApiKey.CREATE_TOPICS, 6, request, ADMIN).topics[0].error_code
    return code


def described(stage: Stage, kind: int, name: str) -> Any:
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name)])
    return stage.ask(ApiKey.DESCRIBE_CONFIGS, 4, request, ADMIN).results[0]


def value(stage: Stage, kind: int, name: str, key: str) -> str | None:
    return next(row.value for row in described(stage, kind, name).configs if row.name == key)


def offset_code(stage: Stage, name: str) -> int:
    row = ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)])
    response = stage.ask(ApiKey.LIST_OFFSETS, 6, ListOffsetsRequest(-1, topics=[row]), ADMIN)
    code: int = response.topics[0].partitions[0].error_code
    return code


@BOTH
def test_unknown_resource_types_come_first_and_repeated_resources_once(release: str) -> None:
    stage = Stage(release)
    stage.topic("a")
    responded = alter(stage, (TOPIC, "a", {}), (99, "x", {}), (TOPIC, "a", {}), (99, "x", {}))
    assert responded == [(99, 35), (99, 35), (TOPIC, 42)]
    assert alter(stage, (LOGGER, "1", {}), (BROKER, "x", {}), (TOPIC, "..", {})) == [
        (LOGGER, 42),
        (BROKER, 42),
        (TOPIC, 42),
    ]


@BOTH
def test_settings_of_a_missing_topic_apply_once_it_is_created(release: str) -> None:
    stage = Stage(release)
    assert alter(stage, (TOPIC, "late", {"flush.ms": "77"})) == [(TOPIC, 0)]
    assert create(stage, "late") == 0
    assert value(stage, TOPIC, "late", "flush.ms") == "77"


@BOTH
def test_invalid_broker_settings_are_ignored(release: str) -> None:
    stage = Stage(release)
    settings = {"log.cleaner.backoff.ms": "12345", "broker.id": "2", "message.max.bytes": "x"}
    assert alter(stage, (BROKER, "1", settings), (BROKER, "7", {})) == [(BROKER, 0), (BROKER, 0)]
    assert value(stage, BROKER, "1", "log.cleaner.backoff.ms") == "12345"
    assert value(stage, BROKER, "1", "message.max.bytes") == "1048588"


@BOTH
def test_null_values_are_ignored(release: str) -> None:
    stage = Stage(release)
    stage.topic("a", configs={"flush.ms": "5", "retention.ms": "7"})
    assert alter(stage, (TOPIC, "a", {"flush.ms": None, "retention.ms": "8"})) == [(TOPIC, 0)]
    assert stage.found("a").configs == {"retention.ms": "8"}
    assert change(stage, ("retention.ms", SET, None)) == 0
    assert stage.found("a").configs == {}


@BOTH
def test_append_and_subtract_take_one_element_at_a_time(release: str) -> None:
    stage = Stage(release)
    stage.topic("a")
    assert change(stage, ("cleanup.policy", APPEND, "compact")) == 0
    assert stage.found("a").configs == {"cleanup.policy": "delete,compact"}
    assert change(stage, ("cleanup.policy", SUBTRACT, "delete,compact")) == 0
    assert stage.found("a").configs == {"cleanup.policy": "delete,compact"}
    assert change(stage, ("cleanup.policy", SUBTRACT, "delete")) == 0
    assert stage.found("a").configs == {"cleanup.policy": "compact"}
    assert change(stage, ("flush.ms", APPEND, "7")) == 40
    assert change(stage, ("flush.ms", SET, "7"), ("flush.ms", SET, "8")) == 0
    assert stage.found("a").configs["flush.ms"] == "8"
    assert change(stage, ("flush.ms", 9, "7")) == -1


def test_3_1_rejects_unknown_settings_and_allows_delete_with_a_value() -> None:
    first, second = Stage("3.0"), Stage("3.1")
    for stage in (first, second):
        stage.topic("a")
    deleting = ("flush.ms", DELETE, "x")
    assert (change(first, deleting), change(second, deleting)) == (42, 0)
    unknown = ("nonsense", SET, "1")
    assert (change(first, unknown), change(second, unknown)) == (0, 40)
    assert (create(first, "n", nonsense="1"), create(second, "n", nonsense="1")) == (0, 40)
    shown = next(row for row in described(first, TOPIC, "n").configs if row.name == "nonsense")
    assert (shown.value, shown.is_sensitive, shown.read_only) == (None, True, False)


def test_a_topic_with_unparsable_settings_has_no_leader() -> None:
    stage = Stage("3.0")
    assert create(stage, "bad", flush_ms="x") == 0
    assert offset_code(stage, "bad") == 6
    assert described(stage, TOPIC, "bad").error_code == -1
    producers = DescribeProducersRequest([TopicRequest("bad", [0])])
    response = stage.ask(ApiKey.DESCRIBE_PRODUCERS, 0, producers, ADMIN)
    assert response.topics[0].partitions[0].error_code == 6
    dirs = stage.ask(ApiKey.DESCRIBE_LOG_DIRS, 2, DescribeLogDirsRequest(), ADMIN)
    assert dirs.results[0].topics == []
    assert alter(stage, (TOPIC, "bad", {"flush.ms": "5"})) == [(TOPIC, 0)]
    assert value(stage, TOPIC, "bad", "flush.ms") == "5"
    assert offset_code(stage, "bad") == 6
