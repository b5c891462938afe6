"""Loggers of brokers are those of real brokers."""

import json
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.shim.state.settings.broker_loggers import table_path
from tests.shim.play import Stage


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
