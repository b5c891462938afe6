"""DescribeClientQuotas and AlterClientQuotas (KIP-546): responses as recorded from 4.3.1."""

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from tests.shim.play import ADMIN, Stage

ALICE = {"user": "alice"}


def entry(entity: Mapping[str, str | None], **limits: float | None) -> RequestEntryData:
    parts = [RequestEntityData(kind, name) for kind, name in entity.items()]
    ops = [OpData(key, value or 0.0, value is None) for key, value in limits.items()]
    return RequestEntryData(parts, ops)


def alter(
    stage: Stage,
    *entries: RequestEntryData,
    validate: bool = False,
    who: str = ADMIN,
    version: int = 1,
) -> list[int]:
    request = AlterClientQuotasRequest(list(entries), validate_only=validate)
    response = stage.ask(ApiKey.ALTER_CLIENT_QUOTAS, version, request, who)
    return [entry.error_code for entry in response.entries]


def describe(stage: Stage, *components: Any, strict: bool = False, who: str = ADMIN) -> Any:
    request = DescribeClientQuotasRequest(
        [ComponentData(*component) for component in components], strict
    )
    response = stage.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, request, who)
    if response.error_code:
        assert response.entries is None
        return response.error_code
    return {
        tuple(
            sorted((component.entity_type, component.entity_name) for component in found.entity)
        ): {value.key: value.value for value in found.values}
        for found in response.entries
    }


def test_limits_are_kept_changed_and_removed() -> None:
    stage = Stage()
    assert alter(stage, entry(ALICE, producer_byte_rate=1000, request_percentage=1.5)) == [0]
    assert describe(stage) == {
        (("user", "alice"),): {"producer_byte_rate": 1000.0, "request_percentage": 1.5}
    }
    assert alter(stage, entry(ALICE, producer_byte_rate=None)) == [0]
    assert describe(stage) == {(("user", "alice"),): {"request_percentage": 1.5}}
    assert alter(stage, entry(ALICE, request_percentage=None)) == [0]
    assert describe(stage) == {}


def test_validate_only_changes_nothing() -> None:
    stage = Stage()
    assert alter(stage, entry(ALICE, producer_byte_rate=1000), validate=True) == [0]
    assert describe(stage) == {}


@pytest.mark.parametrize(
    ("entity", "limits", "error"),
    [
        ({}, {"producer_byte_rate": 1}, 42),
        ({"user": ""}, {"producer_byte_rate": 1}, 42),
        ({"what": "x"}, {"producer_byte_rate": 1}, 42),
        (ALICE, {"nonsense": 1}, 42),
        (ALICE, {"producer_byte_rate": -5}, 42),
        (ALICE, {"producer_byte_rate": 1.5}, 42),
        (ALICE, {"request_percentage": 1.5}, 0),
        (ALICE, {"controller_mutation_rate": 1.5}, 0),
        (ALICE, {"connection_creation_rate": 1}, 42),
        (ALICE, {}, 0),
        (ALICE, {"producer_byte_rate": None}, 0),
        ({"ip": "127.0.0.1"}, {"connection_creation_rate": 7}, 0),
        ({"ip": "127.0.0.1"}, {"producer_byte_rate": 3}, 42),
        ({"ip": "nohost.invalid"}, {"connection_creation_rate": 1}, 42),
        ({"ip": "127.0.0.1", "user": "a"}, {"connection_creation_rate": 1}, 42),
        ({"client-id": None}, {"producer_byte_rate": 7}, 0),
    ],
)
def test_quotas_depend_on_the_entity(entity: Any, limits: Any, error: int) -> None:
    stage = Stage()
    assert alter(stage, entry(entity, **limits)) == [error]
    if error:
        assert describe(stage) == {}


@pytest.mark.parametrize(
    ("release", "quota", "error"),
    [
        ("2.7", "request_percentage", 0),
        ("3.4", "controller_mutation_rate", 0),
        ("2.7", "producer_byte_rate", 42),
        ("3.5", "request_percentage", 42),
        ("", "controller_mutation_rate", 42),
    ],
)
def test_a_negative_quota_is_valid_up_to_3_4_if_it_may_be_a_fraction(
    release: str, quota: str, error: int
) -> None:
    assert alter(Stage(release), entry(ALICE, **{quota: -1.0}), version=0) == [error]


def test_a_duplicate_entity_fails_alone() -> None:
    stage = Stage()
    twice = entry(ALICE, producer_byte_rate=1), entry(ALICE, consumer_byte_rate=1)
    assert alter(stage, *twice, entry({"user": "bob"}, producer_byte_rate=1)) == [42, 0]
    assert list(describe(stage)) == [(("user", "bob"),)]


def test_filters_select_quotas_by_entity() -> None:
    stage = Stage()
    alter(
        stage,
        entry(ALICE, producer_byte_rate=1),
        entry({"user": "alice", "client-id": "c"}, producer_byte_rate=2),
        entry({"client-id": None}, producer_byte_rate=3),
    )
    alone, both = (("user", "alice"),), (("client-id", "c"), ("user", "alice"))
    default = (("client-id", None),)
    assert set(describe(stage)) == {alone, both, default}
    assert set(describe(stage, strict=True)) == set()
    assert set(describe(stage, ("user", 0, "alice"))) == {alone, both}
    assert set(describe(stage, ("user", 0, "alice"), strict=True)) == {alone}
    assert set(describe(stage, ("user", 2, None), strict=True)) == {alone}
    assert set(describe(stage, ("user", 1, None), strict=True)) == set()
    assert set(describe(stage, ("user", 2, None), ("client-id", 2, None))) == {both}
    assert set(describe(stage, ("client-id", 1, None))) == {default}
    assert set(describe(stage, ("user", 1, None))) == set()


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ([("what", 0, "x")], 35),
        ([("user", 9, "x")], 42),
        ([("user", 0, None)], 42),
        ([("user", 1, "x")], 42),
        ([("", 0, "x")], 42),
        ([("user", 0, "a"), ("user", 0, "b")], 42),
        ([("ip", 0, "127.0.0.1"), ("user", 0, "a")], 42),
    ],
)
def test_malformed_filters_are_rejected(components: Any, error: int) -> None:
    assert describe(Stage(), *components) == error


def test_quotas_need_describe_configs_and_alter_configs_on_the_cluster() -> None:
    stage = Stage()
    assert describe(stage, who="User:alice") == 31
    assert alter(stage, entry(ALICE, producer_byte_rate=1), who="User:alice") == [31]
    cluster = ResourceType.CLUSTER, "kafka-cluster"
    stage.allow("User:alice", Operation.ALTER_CONFIGS, *cluster)
    assert alter(stage, entry(ALICE, producer_byte_rate=1), who="User:alice") == [0]
    assert len(describe(stage, who="User:alice")) == 1  # ALTER_CONFIGS implies DESCRIBE_CONFIGS
