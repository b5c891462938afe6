"""Sources of settings, and their precedence."""

from collections.abc import Iterable

import pytest

from kafka_shim.shim.state.settings.config_entries import ConfigEntry, ConfigSource
from kafka_shim.shim.state.settings.configs import Configs

STATIC = {"log.retention.hours": "24", "super.users": "User:a", "num.io.threads": "16"}


def configs(release: str = "4.3", **static: str) -> Configs:
    settings = STATIC | {key.replace("_", "."): value for key, value in static.items()}
    return Configs(release, lambda _: settings, {}, 1)


def entry(entries: Iterable[ConfigEntry], name: str) -> ConfigEntry:
    return next(entry for entry in entries if entry.name == name)


def test_the_strongest_source_wins() -> None:
    settings = configs(log_cleaner_threads="3")
    name = "log.cleaner.threads"
    seen = []
    for layer in (
        lambda: settings.all_brokers.update({name: "4"}),
        lambda: settings.brokers.setdefault(1, {}).update({name: "5"}),
    ):
        seen.append(
            (settings.effective_broker_value(name), settings.effective_broker_value(name, 2))
        )
        layer()
    seen.append((settings.effective_broker_value(name), settings.effective_broker_value(name, 2)))
    assert seen == [("3", "3"), ("4", "4"), ("5", "4")]
    synonyms = entry(settings.broker_entries(1, with_unknown=True), name).synonyms
    assert [(synonym.value, synonym.source) for synonym in synonyms] == [
        ("5", ConfigSource.BROKER),
        ("4", ConfigSource.DEFAULT_BROKER),
        ("3", ConfigSource.STATIC_BROKER),
        ("1", ConfigSource.DEFAULT),
    ]


def test_a_topic_inherits_from_the_broker_with_the_unit_converted() -> None:
    """Kafka reports such a value as DEFAULT, since the broker's setting has another name."""
    found = entry(configs().topic_entries({}), "retention.ms")
    assert found.value == str(24 * 3_600_000)
    assert (found.source, found.synonyms) == (ConfigSource.DEFAULT, ())


def test_synonyms_are_listed_after_the_setting_itself() -> None:
    settings = configs()
    settings.all_brokers["log.retention.ms"] = "500"
    found = entry(settings.topic_entries({"retention.ms": "9"}), "retention.ms")
    assert [(synonym.name, synonym.value, synonym.source) for synonym in found.synonyms] == [
        ("retention.ms", "9", ConfigSource.TOPIC),
        ("log.retention.ms", "500", ConfigSource.DEFAULT_BROKER),
        ("log.retention.hours", "24", ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "168", ConfigSource.DEFAULT),
    ]
    assert settings.effective_topic_value({}, "retention.ms") == "500"


def test_unlimited_retention_is_not_converted() -> None:
    assert configs(log_retention_hours="-1").effective_topic_value({}, "retention.ms") == "-1"


def test_unknown_settings_are_sensitive() -> None:
    found = entry(configs().broker_entries(1, with_unknown=True), "super.users")
    assert found.value is None
    assert found.is_sensitive
    assert found.read_only
    assert found.type_code == 0
    assert [synonym.value for synonym in found.synonyms] == [None]
    names = {entry.name for entry in configs().broker_entries(1, with_unknown=False)}
    assert "super.users" not in names


def test_passwords_are_never_returned() -> None:
    found = entry(
        configs(ssl_key_password="geheim").broker_entries(1, with_unknown=True),
        "ssl.key.password",
    )
    assert (found.value, found.is_sensitive, found.source) == (
        None,
        True,
        ConfigSource.STATIC_BROKER,
    )
    assert "geheim" not in repr(found)


@pytest.mark.parametrize(("release", "is_fixed"), [("1.0", True), ("1.1", False), ("4.3", False)])
def test_broker_settings_can_be_altered_since_kip_226(release: str, is_fixed: bool) -> None:
    found = entry(configs(release).broker_entries(1, with_unknown=False), "num.io.threads")
    assert (found.value, found.read_only) == ("16", is_fixed)


def test_internal_settings_are_hidden() -> None:
    assert "internal.segment.bytes" not in {entry.name for entry in configs().topic_entries({})}
    own = {"internal.segment.bytes": "100"}
    given = {
        entry.name
        for entry in configs().topic_entries(own, keeps_spelling_and_internal_configs=True)
    }
    assert "internal.segment.bytes" in given


def test_values_of_a_topic_can_be_returned_as_given() -> None:
    own = {"retention.ms": " 5 "}
    assert entry(configs().topic_entries(own), "retention.ms").value == "5"
    assert (
        entry(
            configs().topic_entries(own, keeps_spelling_and_internal_configs=True), "retention.ms"
        ).value
        == " 5 "
    )


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("4.3", ["consumer.session.timeout.ms", "group.consumer.session.timeout.ms"]),
        ("4.2", ["consumer.session.timeout.ms"]),
    ],
)
def test_settings_of_groups_have_broker_synonyms_since_4_3(release: str, names: list[str]) -> None:
    settings = configs(release)
    settings.groups["g"] = {"consumer.session.timeout.ms": "50000"}
    found = entry(settings.group_entries("g"), "consumer.session.timeout.ms")
    assert (found.value, found.source) == ("50000", ConfigSource.GROUP)
    assert [synonym.name for synonym in found.synonyms] == names
    assert entry(settings.group_entries("other"), names[0]).source is ConfigSource.DEFAULT


def test_a_group_setting_without_a_broker_setting_has_its_default_as_synonym() -> None:
    settings = configs()
    settings.groups["g"] = {"share.isolation.level": "read_committed"}
    found = entry(settings.group_entries("g"), "share.isolation.level")
    assert [(synonym.value, synonym.source) for synonym in found.synonyms] == [
        ("read_committed", ConfigSource.GROUP),
        ("read_uncommitted", ConfigSource.DEFAULT),
    ]


def test_client_metrics_are_returned_with_or_without_defaults() -> None:
    settings = configs()
    settings.client_metrics["m"] = {"interval.ms": "100"}
    some = list(settings.client_metrics_entries("m", with_defaults=False))
    assert [(entry.name, entry.value, entry.type_code) for entry in some] == [
        ("interval.ms", "100", 0)
    ]
    every = {
        entry.name: entry.value
        for entry in settings.client_metrics_entries("m", with_defaults=True)
    }
    assert every == {"interval.ms": "100", "match": "", "metrics": ""}


def test_levels_of_loggers_are_returned() -> None:
    settings = configs()
    settings.loggers[1] = {"kafka": "DEBUG"}
    levels = {entry.name: entry.value for entry in settings.logger_entries(1)}
    assert (levels["kafka"], levels["root"]) == ("DEBUG", "INFO")
    assert {entry.source for entry in settings.logger_entries(1)} == {ConfigSource.BROKER_LOGGER}


def test_the_log_directories_are_those_of_log_dirs() -> None:
    assert configs(log_dirs="/a, /b").log_directories(1) == ["/a", "/b"]
    assert configs().log_directories(1) == ["/tmp/kafka-logs"]
