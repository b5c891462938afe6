"""The defaults of a broker as clients see them, and options that replace them."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.cli.access_notes import startup_access_notes
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.defaults import SUPER_USERS
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.testing.settings import Settings
from tests.support.commands import SHIM, environment

PUBLISH = """
import os
from confluent_kafka import Producer

def publish(listener, **login):
    errors = []
    config = {
        "bootstrap.servers": os.environ[f"KAFKA_BOOTSTRAP_SERVERS_{listener}"],
        "security.protocol": os.environ[f"KAFKA_SECURITY_PROTOCOL_{listener}"],
        "message.timeout.ms": 10000,
    }
    if login:
        config |= {"sasl.mechanism": os.environ[f"KAFKA_SASL_MECHANISM_{listener}"]}
        config |= {f"sasl.{name}": value for name, value in login.items()}
    producer = Producer(config)
    producer.produce("orders", b"x", on_delivery=lambda error, _: errors.append(error))
    producer.flush(15)
    [error] = errors
    return "delivered" if error is None else error.name()
"""
OPEN = "kafka-shim: note: PLAINTEXT: no authentication, everything allowed"


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*SHIM, "run", *options, "--", sys.executable, "-c", PUBLISH + code]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment()
    )


@pytest.mark.client
def test_a_first_command_works_without_further_options() -> None:
    code = """
assert os.environ["KAFKA_BOOTSTRAP_SERVERS"] == os.environ["KAFKA_BOOTSTRAP_SERVERS_PLAINTEXT"]
print(publish("PLAINTEXT"))
print(publish("SASL_PLAINTEXT", username="alice", password="secret"))
print(publish("SASL_PLAINTEXT", username="admin", password="secret"))
"""
    users = ("--user", "alice:secret", "--user", "admin:secret")
    done = run(code, *users, "--topic", "orders:3")
    assert done.stdout.split() == ["delivered", "TOPIC_AUTHORIZATION_FAILED", "delivered"]
    [line] = [line for line in done.stderr.splitlines() if "note:" in line]
    assert line == (
        f"{OPEN}; SASL_PLAINTEXT: users authenticate, ACLs apply (not to admin: super user)"
    )


@pytest.mark.client
def test_acls_allow_users_of_the_default_listener(tmp_path: Path) -> None:
    acls = tmp_path / "acls.yaml"
    acls.write_text("[{principal: User:alice, allow: Write, topic: orders}]")
    code = 'print(publish("SASL_PLAINTEXT", username="alice", password="secret"))'
    done = run(code, "--user", "alice:secret", "--topic", "orders", "--acls", str(acls))
    assert done.stdout == "delivered\n", done.stderr


@pytest.mark.client
def test_named_listeners_replace_the_defaults() -> None:
    options = ("--listener", "PLAINTEXT://127.0.0.1:0", "--topic", "orders")
    code = """
print(publish("PLAINTEXT"), "KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT" in os.environ)
"""
    done = run(code, *options)
    assert done.stdout == "delivered False\n"
    assert OPEN in done.stderr
    done = run(code, *options, "--authorizer", "standard")
    assert done.stdout == "TOPIC_AUTHORIZATION_FAILED False\n"
    assert "note: every request will be denied" in done.stderr
    assert "--super-user User:ANONYMOUS" in done.stderr


@pytest.mark.parametrize("words", ["", "--port 19092", "--listener PLAINTEXT://localhost:19092"])
def test_a_listener_alone_keeps_the_default_super_users(words: str, tmp_path: Path) -> None:
    assert make(*words.split()).super_users == SUPER_USERS
    acls = tmp_path / "acls"
    acls.write_text("[{principal: User:a, allow: Read, topic: t}]")
    expected = () if "listener" in words else SUPER_USERS
    assert make(*words.split(), "--acls", str(acls)).super_users == expected


def test_a_port_is_that_of_the_first_default_listener() -> None:
    listeners = make("--port", "19092", "--brokers", "3").listeners
    assert [listener.port for listener in listeners] == [19092, 19095]
    with pytest.raises(ConfigError, match="--port requires the default listeners"):
        make("--port", "1", "--listener", "PLAINTEXT://h:1")
    with pytest.raises(ConfigError, match="--port `70000`: expected 0 to 65535"):
        make("--port", "70000")


def make(*words: str, **environ: str) -> Config:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    return config_from_arguments(parser.parse_args(words), environ)


def test_the_fixture_has_the_same_defaults(tmp_path: Path) -> None:
    fixture = make(*Settings().serve_arguments(tmp_path))
    plain = make()
    assert (fixture.listeners, fixture.super_users) == (plain.listeners, plain.super_users)


@pytest.mark.parametrize(
    "words",
    [
        "--listener SASL_PLAINTEXT://127.0.0.1:0",
        "--super-user User:alice",
        "--authorizer standard",
        "--allow-everyone-if-no-acl-found",
        "-c listeners=PLAINTEXT://:0 --authorizer standard",
    ],
)
def test_named_super_users_replace_the_defaults(words: str) -> None:
    assert not {*SUPER_USERS}.intersection(make(*words.split()).super_users)


@pytest.mark.parametrize("users", ["[]", "[User:alice]"])
def test_super_users_of_the_state_replace_the_defaults(tmp_path: Path, users: str) -> None:
    state = tmp_path / "state.yaml"
    state.write_text(f"super_users: {users}")
    config = make("--state", str(state))
    assert config.super_users == (("User:alice",) if "alice" in users else ())
    assert len(config.listeners) == 2


def test_a_broker_with_a_node_id_has_kafkas_default_listener() -> None:
    [listener] = make(KAFKA_NODE_ID="1").listeners
    assert listener.name == "PLAINTEXT"


def test_several_brokers_have_different_ports() -> None:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser, first_default_port=9092)
    plain, sasl = config_from_arguments(parser.parse_args(["--brokers", "3"]), {}).listeners
    assert (plain.port, sasl.port) == (9092, 9095)


SASL = "--listener SASL_PLAINTEXT://127.0.0.1:0"
PLAIN = "--listener PLAINTEXT://127.0.0.1:0"
TLS = "--listener SSL://127.0.0.1:0 --super-user User:CN=client"


@pytest.mark.parametrize(
    ("words", "notes"),
    [
        ("", [": no authentication, everything allowed; SASL_PLAINTEXT: users authenticate, ACLs"]),
        ("--user a:b", ["PLAINTEXT: no authentication, everything allowed"]),
        ("--log-level warn", []),
        (f"{PLAIN} --user a:b --authorizer none", ["no listener authenticates users (a); add"]),
        (f"{SASL} -c sasl.enabled.mechanisms=OAUTHBEARER --user a:b --super-user User:c",
         ["users (a) cannot authenticate with OAUTHBEARER, which takes no passwords; add"]),
        (PLAIN, ["PLAINTEXT: no authentication, everything allowed"]),
        (f"{PLAIN} --authorizer standard",
         ["there is no super user; add --super-user User:ANONYMOUS, or --acls FILE"]),
        (SASL, ["add --user admin:admin-secret --super-user User:admin, or --acls FILE"]),
        (f"{SASL} --user a:b", ["there is no super user; add --super-user User:a"]),
        (f"{SASL} --user a:b --super-user User:c", ["no client can be a super user (User:c)"]),
        ("--authorizer standard", ["add --super-user User:ANONYMOUS"]),
        ("-c listeners=PLAINTEXT://:0", ["PLAINTEXT: no authentication, everything allowed"]),
        ("--authorizer kafka.security.authorizer.AclAuthorizer", ["every request will be denied"]),
        (f"{SASL} --user a:b --super-user User:a", []),
        (f"{SASL} --user a:b --acls acls", []),
        (f"{SASL} --user a:b --allow-everyone-if-no-acl-found", []),
        (f"{SASL} -c sasl.enabled.mechanisms=OAUTHBEARER --super-user User:a", []),
        (f"{PLAIN} --authorizer none", []),
        (f"{PLAIN} --authorizer examples.office_hours:OfficeHours", []),
        (f"{PLAIN} --listener-principal PLAINTEXT=User:a --super-user User:a",
         ["PLAINTEXT: no authentication, everything allowed"]),
        (TLS, ["no client can be a super user (User:CN=client)"]),
        (f"{TLS} -c ssl.client.auth=required", []),
        (f"{TLS} -c listener.name.ssl.ssl.client.auth=requested", []),
        (f"{PLAIN} --authorizer standard --state later.yaml", []),
    ],
)  # fmt: skip
def test_notes_about_access_are_one_line_each(
    words: str, notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acls").write_text("[{principal: User:a, allow: Read, topic: t}]")
    grant = "{grant: [{principal: User:a, allow: Read, topic: t}]}"
    (tmp_path / "later.yaml").write_text(f"faults: [{{action: {grant}}}]")
    monkeypatch.chdir(tmp_path)
    said = list(startup_access_notes(Broker(make(*words.split()))))
    assert len(said) == len(notes), said
    for line, note in zip(said, notes, strict=True):
        assert note in line


def test_notes_about_missing_acls_are_omitted_with_the_control_api() -> None:
    broker = Broker(make(*SASL.split()))
    assert list(startup_access_notes(broker))
    assert not list(startup_access_notes(broker, has_control_api=True))
