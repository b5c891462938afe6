"""ListConfigResources: resources that have settings (KIP-714, KIP-1142)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"


@pytest.fixture
def stage() -> Stage:
    stage = Stage(brokers=2)
    stage.topic("t")
    stage.cluster.configs.groups["g"] = {"consumer.session.timeout.ms": "50000"}
    stage.cluster.configs.client_metrics["m"] = {"interval.ms": "100"}
    return stage


def ask(stage: Stage, kinds: list[int], version: int = 1, who: str = ADMIN) -> Any:
    request = ListConfigResourcesRequest(kinds)
    response = stage.ask(ApiKey.LIST_CONFIG_RESOURCES, version, request, who)
    rows = [
        (resource.resource_name, resource.resource_type) for resource in response.config_resources
    ]
    return response.error_code or sorted(rows)


def test_resources_are_filtered_by_type(stage: Stage) -> None:
    every = [("1", 4), ("1", 8), ("2", 4), ("2", 8), ("g", 32), ("m", 16), ("t", 2)]
    assert ask(stage, []) == every
    assert ask(stage, [2]) == [("t", 2)]
    assert ask(stage, [16, 32]) == [("g", 32), ("m", 16)]


def test_version_0_lists_client_metrics_subscriptions_only(stage: Stage) -> None:
    assert ask(stage, [], 0) == [("m", 16)]


def test_permissions_are_checked_before_resource_types(stage: Stage) -> None:
    assert ask(stage, [3]) == 35
    assert ask(stage, [3], who=ALICE) == 31
    assert ask(stage, [], who=ALICE) == 31
    stage.allow(ALICE, Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, "kafka-cluster")
    assert ask(stage, [2], who=ALICE) == [("t", 2)]
