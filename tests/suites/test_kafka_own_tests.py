"""Kafka's own tests: properties of the harness, options of shims, and figures on the page."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.suites.kafka import (
    figures,
    java_properties,
    known,
    shim_features,
    shim_pool,
    shim_settings,
)
from tests.suites.kafka.jars import VERSION
from tests.suites.kafka.running import Outcome
from tests.suites.outcome import FAILED, PASSED, Result

BROKER = {
    "process.roles": "broker",
    "node.id": "0",
    "listeners": "CLIENT://localhost:0,OUTSIDE://localhost:0,CONTROLLER://localhost:0",
    "controller.listener.names": "CONTROLLER",
    "super.users": "User:broker",
    "log.dirs": "/nowhere",
    "outside.cluster": "some-cluster",
    "outside.principal.CLIENT": "User:client",
    "outside.principal.CONTROLLER": "User:broker",
}
CONTROLLER = {"process.roles": "controller", "node.id": "1000", "num.partitions": "4"}
JAAS = """KafkaServer {
  org.apache.kafka.common.security.plain.PlainLoginModule required
  username="admin" password="admin-secret" user_alice="alice-secret";
};
KafkaClient {
  org.apache.kafka.common.security.plain.PlainLoginModule required
  username="client" password="client-secret";
};
"""


def test_properties_are_read_as_java_writes_them() -> None:
    text = (
        "#Mon Nov 23\nlisteners=A\\://localhost\\:0,B\\://\\:1\nempty=\nname=\\u00fcber a\\=b\\n\n"
    )
    found = java_properties.read(text)
    assert found == {"listeners": "A://localhost:0,B://:1", "empty": "", "name": "über a=b\n"}
    assert java_properties.read(java_properties.write(found)) == found


def test_a_shim_has_the_settings_of_all_nodes(tmp_path: Path) -> None:
    jaas = tmp_path / "jaas.conf"
    jaas.write_text(JAAS)
    nodes = {0: {**BROKER, "outside.jaas": str(jaas)}, 1: {**BROKER, "node.id": "1"}}
    words = shim_settings.words({1000: CONTROLLER, **nodes}, [0, 1], tmp_path)
    assert words[:4] == ["--brokers", "2", "--first-broker-id", "0"]
    users = [words[at + 1] for at, word in enumerate(words) if word == "--user"]
    assert users == ["admin:admin-secret", "alice:alice-secret"]
    named = [words[at + 1] for at, word in enumerate(words) if word == "--listener-principal"]
    assert named == ["CLIENT=User:client", "OUTSIDE=User:outside"]
    written = java_properties.read(Path(words[-1]).read_text())
    assert written == {
        "process.roles": "broker",
        "listeners": BROKER["listeners"],
        "controller.listener.names": "CONTROLLER",
        "super.users": "User:broker",
        "num.partitions": "4",
        "delegation.token.secret.key": "",
        "cluster.id": "some-cluster",
    }


def test_a_reporter_of_client_metrics_is_an_option(tmp_path: Path) -> None:
    words = shim_settings.words({0: {**BROKER, "outside.telemetry": "true"}}, [0], tmp_path)
    assert "--client-telemetry" in words


def test_features_that_the_format_omits_are_lowered() -> None:
    formatted = {"outside.feature.group.version": "1", "outside.feature.transaction.version": "1"}
    lowered = shim_features.lowered(formatted, VERSION)
    assert lowered["transaction.version"] == 1
    assert lowered["share.version"] == 0
    assert "group.version" not in lowered
    assert "metadata.version" not in lowered


def test_only_tests_that_pass_on_a_real_broker_count() -> None:
    inside = Result("c", FAILED, 1, "inside of the broker: replicaManager")
    real = [Result("a", PASSED, 1), Result("b", PASSED, 1), inside]
    shim = [Result("a", PASSED, 1), Result("b", FAILED, 1, "no"), Result("c", PASSED, 1)]
    row = figures.row(Outcome("kafka.api.T", real, 4.4, 2.2), Outcome("kafka.api.T", shim, 2, 1))
    assert (row["tests"], row["inside"], row["real"], row["shim"]) == (3, 1, 2, 1)
    assert row["failed"] == ["b"]
    table = figures.table([row])
    assert "| `T` | 3 | 1 | 2 | 1 | 4 | 2 | 2 | 1 |\n" in table
    assert f"| 1 | {figures.OPEN} |" in table


def test_a_later_class_of_the_same_name_has_its_whole_name() -> None:
    assert figures.label("org.apache.kafka.clients.consumer.ConsumerBounceTest") == (
        "ConsumerBounceTest"
    )
    assert figures.label("kafka.api.ConsumerBounceTest") == "kafka.api.ConsumerBounceTest"


def test_reasons_are_found_for_any_parameters_of_a_test() -> None:
    name = "OffsetFetchRequestTest.testGroupErrors()[1]"
    assert known.reason(name) == known.COORDINATORS
    assert known.unexplained([name, "OffsetFetchRequestTest.test()"]) == [
        "OffsetFetchRequestTest.test()"
    ]


def test_the_page_shows_the_stored_figures() -> None:
    shown = figures.shown(figures.load())
    assert figures.PAGE.read_text() == figures.INTRODUCTION + shown


def _key(folder: Path, **changes: str) -> str:
    folder.mkdir()
    words = shim_settings.words({0: {**BROKER, **changes}}, [0], folder)
    return shim_pool.settings_key(words)


def test_tests_share_a_shim_if_their_settings_are_equal(tmp_path: Path) -> None:
    first = _key(tmp_path / "a", **{"controller.quorum.voters": "1000@localhost:4711"})
    other = "CLIENT://localhost:0,OUTSIDE://localhost:0,CONTROLLER://localhost:4712"
    assert _key(tmp_path / "b", listeners=other) == first
    assert _key(tmp_path / "c", **{"num.partitions": "4"}) != first
    assert _key(tmp_path / "d", **{"outside.principal.CLIENT": "User:x"}) != first
    elsewhere = "CLIENT://localhost:4713,OUTSIDE://localhost:0,CONTROLLER://localhost:0"
    assert _key(tmp_path / "e", listeners=elsewhere) != first


class _Process:
    """A fake shim that records the calls of its methods."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.called: list[tuple[str, str]] = []

    def control(self, method: str, path: str) -> None:
        self.called.append((method, path))

    def closed_connections(self) -> float:
        return 0.0

    def stop(self) -> float:
        return 1.0


@pytest.mark.parametrize(("is_shared", "started"), [(True, 2), (False, 3)])
def test_a_shim_is_reset_for_the_next_test_with_equal_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_shared: bool, started: int
) -> None:
    monkeypatch.setattr(shim_pool, "ShimProcess", _Process)
    settings = tmp_path / "server.properties"
    settings.write_text("auto.create.topics.enable=false\n")
    words = ["--config", str(settings)]
    pool = shim_pool.ShimPool(is_shared=is_shared)
    first = pool.take(words, pool.folder())
    pool.give_back(first)
    second = pool.take(words, pool.folder())
    assert (second is first) == is_shared
    assert vars(second.process)["called"] == [("POST", "/reset")] * is_shared
    pool.give_back(pool.take(words, pool.folder()))
    pool.give_back(second)
    pool.close()
    assert (pool.clusters, pool.started, pool.processor_seconds) == (3, started, started)
