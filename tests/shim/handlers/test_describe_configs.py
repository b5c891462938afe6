"""DescribeConfigs: permissions by resource type, and fields by version (KIP-133, 226, 569)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType, Operation, ResourceType
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers import describe_configs
from tests.shim.play import ADMIN, Stage

ALICE, CAROL = "User:alice", "User:carol"
TOPIC, BROKER, LOGGER, METRICS, GROUP = (
    ConfigResourceType.TOPIC,
    ConfigResourceType.BROKER,
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.CLIENT_METRICS,
    ConfigResourceType.GROUP,
)


def ask(
    stage: Stage,
    *resources: tuple[int, str],
    who: str = ADMIN,
    version: int | None = None,
    **more: Any,
) -> Any:
    keys = more.pop("keys", ["retention.ms", "num.io.threads", "root"])
    rows = [DescribeConfigsResource(kind, name, keys) for kind, name in resources]
    newest = stage.dispatcher.apis.advertised[ApiKey.DESCRIBE_CONFIGS][1]
    request = DescribeConfigsRequest(rows, **more)
    asked = newest if version is None else version
    return stage.ask(ApiKey.DESCRIBE_CONFIGS, asked, request, who).results


def outcome(results: Any) -> list[tuple[str, int]]:
    return [(result.resource_name, result.error_code) for result in results]


def stage_of(release: str = "") -> Stage:
    stage = Stage(release)
    stage.topic("a", configs={"retention.ms": "7"})
    stage.topic("hidden")
    for name in ("a", "m"):
        stage.allow(ALICE, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, name)
    stage.allow(CAROL, Operation.ALTER_CONFIGS, ResourceType.CLUSTER, "kafka-cluster")
    return stage


def test_denied_resources_come_last() -> None:
    asked = [(TOPIC, "hidden"), (BROKER, "1"), (TOPIC, "m"), (TOPIC, "a")]
    assert outcome(ask(stage_of(), *asked, who=ALICE)) == [
        ("m", 3),
        ("a", 0),
        ("hidden", 29),
        ("1", 31),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "denied"),
    [
        (TOPIC, "hidden", 29),
        (BROKER, "1", 31),
        (LOGGER, "1", 31),
        (METRICS, "m", 31),
        (GROUP, "g", 30),
    ],
)
def test_each_resource_type_has_its_own_authorization_error(
    kind: int, name: str, denied: int
) -> None:
    stage = stage_of()
    assert outcome(ask(stage, (kind, name), who=ALICE)) == [(name, denied)]
    assert outcome(ask(stage, (kind, name))) == [(name, 0)]
    allowed = 0 if denied == 31 else denied
    assert outcome(ask(stage, (kind, name), who=CAROL)) == [(name, allowed)]


def test_describing_a_group_needs_describe_configs_on_it() -> None:
    stage = stage_of()
    stage.allow(ALICE, Operation.DESCRIBE_CONFIGS, ResourceType.GROUP, "g")
    assert outcome(ask(stage, (GROUP, "g"), (GROUP, "h"), who=ALICE)) == [("g", 0), ("h", 30)]


def test_0_11_hides_denied_topics_and_describes_missing_ones() -> None:
    stage = stage_of("0.11")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "seen")
    asked = [(TOPIC, "hidden"), (TOPIC, "seen"), (TOPIC, "unseen"), (TOPIC, "m")]
    assert outcome(ask(stage, *asked, who=ALICE)) == [
        ("m", 0),
        ("hidden", 3),
        ("seen", 29),
        ("unseen", 3),
    ]


@pytest.mark.parametrize(
    ("release", "kind"),
    [("0.11", LOGGER), ("2.3", LOGGER), ("3.6", METRICS), ("3.9", GROUP), ("4.3", 3)],
)
def test_an_unknown_resource_type_fails_the_whole_request(release: str, kind: int) -> None:
    results = ask(stage_of(release), (TOPIC, "a"), (kind, "x"), who=ALICE)
    assert outcome(results) == [("a", 42), ("x", 42)]


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC, "", 17),
        (TOPIC, "a b", 17),
        (BROKER, "2", 42),
        (BROKER, "abc", 42),
        (LOGGER, "", 42),
        (GROUP, "", 42),
        (METRICS, "", 42),
        (BROKER, "", 0),
    ],
)
def test_invalid_resource_names_are_rejected(kind: int, name: str, error: int) -> None:
    assert outcome(ask(stage_of(), (kind, name))) == [(name, error)]


def test_fields_depend_on_the_version() -> None:
    stage = stage_of("3.9")
    told = {}
    for version in (0, 1, 3):
        (result,) = ask(stage, (TOPIC, "a"), version=version, keys=["retention.ms"])
        (told[version],) = result.configs
    assert (told[0].value, told[0].is_default, told[0].config_source) == ("7", False, -1)
    assert (told[1].config_source, told[1].synonyms, told[1].config_type) == (1, [], 0)
    assert (told[3].config_type, told[3].documentation) == (5, None)


@pytest.mark.parametrize(("release", "is_default"), [("2.6", True), ("2.7", False)])
def test_version_0_marks_defaults_in_2_6_and_not_in_2_7(release: str, is_default: bool) -> None:
    (result,) = ask(stage_of(release), (TOPIC, "hidden"), version=0, keys=["retention.ms"])
    assert result.configs[0].is_default is is_default


@pytest.mark.parametrize(
    ("release", "name", "read_only"),
    [
        ("2.3", "log.retention.hours", False),
        ("2.4", "log.retention.hours", True),
        ("2.3", "log.retention.ms", False),
        ("2.3", "log.flush.scheduler.interval.ms", True),
    ],
)
def test_read_only_depends_on_setting_and_release(release: str, name: str, read_only: bool) -> None:
    (result,) = ask(stage_of(release), (BROKER, "1"), keys=[name])
    assert result.configs[0].read_only is read_only


def test_synonyms_and_documentation_are_returned_on_request() -> None:
    stage = stage_of()
    (result,) = ask(
        stage,
        (TOPIC, "a"),
        include_synonyms=True,
        include_documentation=True,
        keys=["cleanup.policy"],
    )
    (config,) = result.configs
    assert [(synonym.name, synonym.value, synonym.source) for synonym in config.synonyms] == [
        ("log.cleanup.policy", "delete", 5)
    ]
    assert "compact" in config.documentation


def test_broker_settings_have_documentation_too() -> None:
    (result,) = ask(stage_of(), (BROKER, "1"), include_documentation=True, keys=None)
    texts = {config.name: config.documentation for config in result.configs}
    assert "compact" in texts["log.cleanup.policy"]
    assert texts["broker.id"].startswith("broker.id: int, default -1")
    assert all(text.startswith(f"{name}: ") for name, text in texts.items() if text is not None)
    assert [name for name, text in texts.items() if text is None] == ["super.users"]


@pytest.mark.parametrize(("keys", "count"), [(None, 33), ([], 33), (["nonsense"], 0)])
def test_null_or_empty_keys_return_all_settings(keys: list[str] | None, count: int) -> None:
    (result,) = ask(stage_of("4.3"), (TOPIC, "a"), keys=keys)
    assert len(result.configs) == count  # recorded from 4.3.1


def test_in_2_6_an_empty_list_of_keys_returns_nothing() -> None:
    (result,) = ask(stage_of("2.6"), (TOPIC, "a"), keys=[])
    assert result.configs == []


def test_too_many_settings_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe_configs, "SETTINGS_MAX", 3)
    assert len(ask(stage_of(), *[(TOPIC, "a")] * 3)) == 3
    with pytest.raises(CloseConnection, match="more than 3 settings"):
        ask(stage_of(), *[(TOPIC, "a")] * 4)
