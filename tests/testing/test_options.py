"""The keywords of `start` are the options of `serve`, are validated, and reach the broker."""

import argparse
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from kafka_shim.cli import serve
from kafka_shim.shim.settings.options import OPTIONS, Place
from kafka_shim.testing import BrokerError, generate_options, start
from kafka_shim.testing.options import Options
from kafka_shim.testing.settings import Settings
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]
NOT_OF_SERVE = {"in_process", "startup_timeout", "tls"}


KEY_BY_OPTION = {option.name: option.key for option in OPTIONS if option.plural}
REASON_BY_OPTION = {option.name: option.why_no_keyword for option in OPTIONS}


def test_every_option_of_serve_is_a_keyword_or_has_a_reason() -> None:
    keywords = Options.__annotations__.keys()
    of_serve = {option.key for option in OPTIONS if Place.COMMAND_LINE in option.places}
    left_out = {name for name, reason in REASON_BY_OPTION.items() if reason}
    assert of_serve - keywords == left_out
    assert keywords - of_serve == NOT_OF_SERVE


def test_the_types_are_those_of_the_table() -> None:
    written = generate_options.FILE.read_text(encoding="utf-8")
    assert generate_options.options_source() == written, outdated("testing/options.py")
    declarations = generate_options.TYPESCRIPT_FILE.read_text(encoding="utf-8")
    assert generate_options.typescript_file() == declarations, outdated("packages/npm/index.d.ts")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"kafka_versoin": "3.9"},
            "unknown keyword `kafka_versoin`; did you mean `kafka_version",
        ),
        ({"topic": ["orders"]}, "unknown keyword `topic`; did you mean `topics`?"),
        ({"broker_config": {}}, "unknown keyword `broker_config`; did you mean `properties`?"),
        ({"qqq": 1}, "unknown keyword `qqq`; expected one of kafka_version, topics, "),
        ({"ready_file": "r"}, "keyword `ready_file` is not offered: the broker is ready when"),
    ],
)
def test_the_error_for_a_wrong_keyword_suggests_the_right_one(options: Any, complaint: str) -> None:
    with pytest.raises(TypeError) as caught:
        start(**options)
    assert str(caught.value).startswith(complaint)


EVERY_VALUE: dict[str, Any] = {
    "kafka_version": "3.9",
    "topics": {"orders": {"partitions": 2, "configs": {"retention.ms": "60000"}}, "audit": 3},
    "users": {"alice": "her-password"},
    "allow_everyone_if_no_acl_found": True,
    "authorizer": "standard",
    "acl_propagation_delay": 1,
    "brokers": 2,
    "first_broker_id": 4,
    "racks": ["east", "west"],
    "listeners": ["PLAINTEXT://127.0.0.1:0", "SASL_PLAINTEXT://127.0.0.1:0"],
    "listener_principals": {"PLAINTEXT": "User:operator"},
    "super_users": ["User:operator"],
    "properties": {"auto.create.topics.enable": "false"},
    "client_telemetry": True,
    "manual_clock": True,
    "seed": 7,
    "record_compression": "zlib",
    "record_keep": 3,
    "log_format": "json",
    "log_level": "error",
}

STATE = """
users: {bob: his-password}
super_users: [User:root]
topics: {audit: 1, seeded: 2}
groups: {billing: {seeded: {0: 42}}}
acls: [{principal: User:bob, allow: Read, topic: seeded}]
"""


def files(folder: Path) -> dict[str, str]:
    (folder / "state.yaml").write_text(STATE)
    (folder / "shim.yaml").write_text("broker_config: [num.partitions=5]\nbrokers: 1\n")
    rule = "acls: [{principal: User:alice, allow: Write, topic: orders}]\n"
    (folder / "acls.yaml").write_text(rule)
    return {
        "state": "state.yaml",
        "config": "shim.yaml",
        "acls": "acls.yaml",
        "record": "trace",
        "data_dir": "data",
    }


@pytest.mark.parametrize("in_process", [True, False], ids=["in process", "own process"])
def test_every_keyword_reaches_the_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    options = EVERY_VALUE | files(tmp_path)
    untested = Options.__annotations__.keys() - options.keys()
    assert untested == {*NOT_OF_SERVE, "tls_dir"}  # tested in test_tls.py
    with start(in_process=in_process, **options) as broker:
        state = broker.state()
        assert state.release == "3.9"
        assert {topic.name: topic.partitions for topic in state.topics} == {
            "orders": 2, "audit": 3, "seeded": 2,
        }  # fmt: skip
        assert state.topics[[topic.name for topic in state.topics].index("orders")].configs == {
            "retention.ms": "60000"
        }
        assert state.users == ["admin", "alice", "bob"]
        assert state.super_users == ["User:operator", "User:root"]
        assert {(acl.principal, acl.operation) for acl in state.acls} == {
            ("User:alice", "WRITE"), ("User:bob", "READ"),
        }  # fmt: skip
        assert [group.group_id for group in state.groups] == ["billing"]
        assert len(broker.nodes.list()) == 2
        assert broker.config("bob")["sasl.password"] == "his-password"
        assert broker.config("alice")["sasl.password"] == "her-password"
        assert broker.topics.create("new").partitions == 1
        before = broker.clock.now_ms()
        assert broker.clock.advance(10) == before + 10
        metadata = AdminClient(broker.config()).list_topics(timeout=20)
        assert set(metadata.brokers) == {4, 5}
        assert {row.principal for row in broker.requests("Metadata")} == {"User:operator"}
    assert list((tmp_path / "trace").iterdir())
    assert list((tmp_path / "data").iterdir())


def test_every_keyword_becomes_an_option_of_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keywords that are written to the state file are tested above."""
    monkeypatch.chdir(tmp_path)
    options = EVERY_VALUE | files(tmp_path)
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    parsed = vars(parser.parse_args(Settings(**options, tls_dir="certs").serve_arguments(tmp_path)))
    given = {KEY_BY_OPTION.get(name, name) for name, value in parsed.items() if value is not None}
    in_state = {"users", "topics", "super_users"}
    assert (options.keys() | {"tls_dir"}) - in_state <= given
    for name in ("brokers", "seed", "acl_propagation_delay", "record_keep", "log_format"):
        assert parsed[name] == options[name]
    for name in ("config", "acls", "record", "data_dir"):
        assert str(parsed[name]) == str(tmp_path / options[name])


def test_rules_are_added_to_those_of_a_state_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files(tmp_path)
    rule = {"principal": ["alice", "carol"], "deny": "Read", "topic": "seeded"}
    with start(state="state.yaml", acls=[rule], topics=["orders"], in_process=True) as broker:
        found = {(acl.principal, acl.permission) for acl in broker.acls.list()}
        assert found == {
            ("User:alice", "DENY"), ("User:carol", "DENY"), ("User:bob", "ALLOW"),
        }  # fmt: skip
        assert {topic.name for topic in broker.topics.list()} == {"orders", "audit", "seeded"}


@pytest.mark.parametrize("in_process", [True, False], ids=["in process", "own process"])
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"state": "missing.yaml"}, "missing.yaml: No such file"),
        ({"acls": "missing.csv"}, "missing.csv: No such file"),
        (
            {"brokers": "three"},
            "--brokers: invalid value `three`; expected a whole number",
        ),
        ({"log_level": "loud"}, "unknown value `loud`; expected "),
        ({"record_keep": 2}, "--record"),
        ({"listener_principals": {"SSL": "User:a"}}, "no listener is named SSL"),
    ],
)
def test_an_invalid_value_is_reported(options: Any, complaint: str, in_process: bool) -> None:
    with pytest.raises(BrokerError) as caught:
        start(in_process=in_process, **options)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("in_process", [True, False], ids=["in process", "own process"])
def test_using_a_stopped_broker_is_an_error_and_stopping_it_is_not(in_process: bool) -> None:
    broker = start(in_process=in_process)
    broker.stop()
    with pytest.raises(BrokerError, match="the broker was stopped"):
        broker.denials()
    broker.stop()


def test_pages_name_every_keyword_and_every_option_that_is_left_out() -> None:
    reference = (ROOT / "docs" / "reference" / "python-api.md").read_text()
    table = reference.split("\n### Options\n", 1)[1].split("\n### ", 1)[0]
    assert (
        set(re.findall(r"^\| `([a-z_]+)`", table, re.MULTILINE)) == Options.__annotations__.keys()
    )
    guide = (ROOT / "docs" / "guides" / "pytest.md").read_text()
    section = guide.split("\n## Keywords\n", 1)[1].split("\n## ", 1)[0]
    left_out = {option.replace("-", "_") for option in re.findall(r"`--([a-z-]+)`", section)}
    assert left_out == {
        name for name, reason in REASON_BY_OPTION.items() if reason not in ("", "see `playback`")
    }


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGABRT for processes")
def test_a_broker_that_is_not_ready_shows_what_it_was_doing(tmp_path: Path) -> None:
    """It waits for somebody who writes its configuration."""
    os.mkfifo(tmp_path / "config.yaml")
    began = time.monotonic()
    with pytest.raises(BrokerError) as caught:
        start(config=tmp_path / "config.yaml", startup_timeout=2.5)
    assert time.monotonic() - began < 20
    text = str(caught.value)
    assert text.startswith("the broker was not ready in 2.5 s; wait longer with startup_timeout.")
    assert re.search(r'File ".*/settings/config_file\.py", line \d+ in ', text), text


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"topics": "orders"}, "topics is the string 'orders': expected a list"),
        ({"listeners": "PLAINTEXT://:0"}, "expected a list"),
        ({"super_users": "User:a"}, "expected a list"),
        ({"users": ["alice"]}, r"users is \['alice'\]: expected a mapping"),
        ({"properties": "a=b"}, "properties is 'a=b': expected a mapping"),
        ({"kafka_version": 3.9}, "kafka_version is 3.9: expected a string, as in '3.9'"),
    ],
)
def test_ambiguous_values_are_rejected(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        Settings(**settings)
