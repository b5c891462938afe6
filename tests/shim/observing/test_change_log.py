"""Changes that requests make, by the clients that sent them."""

import pytest

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.shim.observing.change_log import ChangeLog
from kafka_shim.shim.observing.originators import RequestOfClient
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.state_change import StateChange
from tests.shim.play import ADMIN, Stage


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.dispatcher.set_history(History())
    return stage


@pytest.fixture
def log(stage: Stage) -> ChangeLog:
    return ChangeLog(stage.cluster)


def alter_quota(stage: Stage, op: OpData) -> None:
    entities = [RequestEntityData("user", "alice"), RequestEntityData("client-id", None)]
    request = AlterClientQuotasRequest([RequestEntryData(entities, [op])])
    stage.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, request)


def alter_setting(
    stage: Stage, altered: tuple[ConfigResourceType, str], key: str, value: str
) -> None:
    resource = AlterConfigsResource(*altered, [AlterableConfig(key, 0, value)])
    response = stage.ask(
        ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([resource])
    )
    assert response.responses[0].error_code == 0


def test_quotas_are_recorded_with_their_limits_before(stage: Stage, log: ChangeLog) -> None:
    alter_quota(stage, OpData("producer_byte_rate", 1000.0))
    alter_quota(stage, OpData("producer_byte_rate", 104857600.0))
    alter_quota(stage, OpData("producer_byte_rate", remove=True))
    name = "quotas of client-id=default, user=alice"
    values = [(item.name, item.before, item.after) for change in log for item in change.items]
    rate = "producer_byte_rate"
    assert values == [
        (name, {rate: None}, {rate: "1000"}),
        (name, {rate: "1000"}, {rate: "104857600"}),
        (name, {rate: "104857600"}, {rate: None}),
    ]
    assert [change.originator for change in log] == [
        RequestOfClient(number, ADMIN, "play") for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("altered", "key", "value", "resource"),
    [
        ((ConfigResourceType.BROKER, ""), "log.retention.ms", "5", "all brokers"),
        ((ConfigResourceType.BROKER, "1"), "log.retention.ms", "5", "broker 1"),
        ((ConfigResourceType.GROUP, "g"), "consumer.session.timeout.ms", "50000", "group g"),
        ((ConfigResourceType.CLIENT_METRICS, "m"), "interval.ms", "500", "client metrics m"),
        ((ConfigResourceType.BROKER_LOGGER, "1"), "kafka", "DEBUG", "loggers of broker 1"),
    ],
)
def test_settings_of_all_resources_are_recorded(
    stage: Stage,
    log: ChangeLog,
    altered: tuple[ConfigResourceType, str],
    key: str,
    value: str,
    resource: str,
) -> None:
    alter_setting(stage, altered, key, value)
    alter_setting(stage, altered, key, value)  # changes nothing
    [change] = log
    assert change.items == [StateChange("settings", "changed", resource, {key: None}, {key: value})]


def test_what_the_broker_does_itself_has_no_originator(stage: Stage, log: ChangeLog) -> None:
    stage.cluster.create_topic_with_defaults("orders", {})
    stage.clock.advance(1)
    stage.cluster.topics.delete_topic("orders")
    assert [(c.originator, c.items[0].action) for c in log] == [(None, "added"), (None, "removed")]
