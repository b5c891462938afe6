import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.cli import EXIT_USAGE, main, serve
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, InitialTopic, ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.defaults import SUPER_USERS
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from tests.cli.conftest import Running


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser, first_default_port=9092)
    parser.add_argument("--ready-file")
    return parser.parse_args(words)


def make(*words: str, **environ: str) -> Config:
    return config_from_arguments(parse(*words), environ)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    def writing(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return writing


def test_without_options_the_defaults_apply() -> None:
    sasl = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9093)
    listeners = (*Config().listeners, sasl)
    assert make() == Config(listeners=listeners, super_users=SUPER_USERS)


def test_options_set_the_configuration() -> None:
    config = make(
        *("--listener", "PLAINTEXT://127.0.0.1:0", "--listener", "SASL_PLAINTEXT://127.0.0.1:0"),
        *("--listener-principal", "PLAINTEXT=User:x", "--kafka-version", "2.8", "--brokers", "3"),
        *("--super-user", "User:a", "--super-user", "User:b", "--user", "a:s:t"),
        *("--topic", "t:4", "--topic", "u", "-c", "a.b=c=d", "--seed", "7", "-l", "debug"),
        *("--allow-everyone-if-no-acl-found", "--authorizer", "none", "--log-format", "json"),
        *("--tls-dir", "certs"),
    )
    assert [listener.principal for listener in config.listeners] == ["User:x", "User:ANONYMOUS"]
    assert config.listeners[1].protocol is SecurityProtocol.SASL_PLAINTEXT
    assert config.super_users == ("User:a", "User:b")
    assert config.users == {"a": "s:t"}
    assert config.topics == (InitialTopic("t", 4), InitialTopic("u"))
    assert config.properties == {"a.b": "c=d", "shim.tls.directory": "certs"}
    assert config.allow_everyone_if_no_acl_found
    assert (config.release, config.brokers, config.seed) == ("2.8", 3, 7)
    assert (config.authorizer, config.log_format, config.log_level) == ("none", "json", "debug")


YAML = """
listener: [PLAINTEXT://127.0.0.1:1111]
kafka-version: 2.8
brokers: 3
super_user: User:file
user: {alice: secret, bob: "1234"}
topic: {orders: 3}
allow-everyone-if-no-acl-found: true
broker-config: {num.partitions: 2, delete.topic.enable: false}
log-level: warn
ready-file: here
"""
TOML = """
listener = ["PLAINTEXT://127.0.0.1:1111"]
kafka-version = "2.8"
brokers = 3
super-user = "User:file"
user = ["alice:secret", "bob:1234"]
topic = "orders:3"
allow-everyone-if-no-acl-found = true
broker-config = ["num.partitions=2", "delete.topic.enable=false"]
log-level = "warn"
ready-file = "here"
"""


@pytest.mark.parametrize(("name", "text"), [("a.yaml", YAML), ("a.toml", TOML)])
def test_a_file_has_the_same_options(
    write: Callable[[str, str], str], name: str, text: str
) -> None:
    args = parse("--config", write(name, text))
    config = config_from_arguments(args, {})
    assert config.listeners[0].port == 1111
    assert (config.release, config.brokers, config.log_level) == ("2.8", 3, "warn")
    assert config.super_users == ("User:file",)
    assert config.users == {"alice": "secret", "bob": "1234"}
    assert config.topics == (InitialTopic("orders", 3),)
    assert config.allow_everyone_if_no_acl_found
    assert config.properties == {"num.partitions": "2", "delete.topic.enable": "false"}
    assert args.ready_file == "here"


def test_a_file_has_the_options_of_a_playback_too(write: Callable[[str, str], str]) -> None:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    file = write("a.yaml", "upstream: [127.0.0.1:1, SSL=127.0.0.1:2]\nmask: value\nspeed: 2.5\n")
    args = parser.parse_args(["--config", file])
    config_from_arguments(args, {})
    assert args.upstream == ["127.0.0.1:1", "SSL=127.0.0.1:2"]
    assert (args.mask, args.speed) == (["value"], 2.5)


PROPERTIES = """
listeners=OUTSIDE://:9092
listener.security.protocol.map=OUTSIDE:SASL_PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:file
num.partitions=2
"""
LISTENER = ("--listener", "PLAINTEXT://127.0.0.1:2222")


@pytest.mark.parametrize("name", ["a.yaml", "a.properties"])
def test_command_line_overrides_environment_overrides_file_overrides_default(
    write: Callable[[str, str], str], name: str
) -> None:
    file = ("--config", write(name, YAML if name == "a.yaml" else PROPERTIES))
    env = {"KAFKA_SUPER_USERS": "User:env", "KAFKA_NUM_PARTITIONS": "5"}
    typed = ("--super-user", "User:cli", "-c", "num.partitions=8")

    def found(*words: str, **environ: str) -> tuple[object, object]:
        config = make(*words, **environ)
        return config.super_users, config.properties.get("num.partitions")

    assert found() == (SUPER_USERS, None)
    assert found(*file) == (("User:file",), "2")
    assert found(*file, **env) == (("User:env",), "5")
    assert found(*file, *typed, **env) == (("User:cli",), "8")
    assert found(*file, "-c", "super.users=User:c", **env) == (("User:c",), "5")


def test_settings_are_merged_from_several_places(
    write: Callable[[str, str], str],
) -> None:
    file = ("--config", write("a.properties", PROPERTIES))
    (listener,) = make(*file, KAFKA_ADVERTISED_LISTENERS="OUTSIDE://kafka:9094").listeners
    assert listener.protocol is SecurityProtocol.SASL_PLAINTEXT
    assert listener.advertised == ("kafka", 9094)
    assert make(*file, *LISTENER).listeners[0].port == 2222


@pytest.mark.parametrize("where", ["command line", "environment", "file", "nowhere"])
def test_any_listener_may_have_an_advertised_address(
    write: Callable[[str, str], str], where: str
) -> None:
    """The listener may be set elsewhere, as in a container image, or not at all."""
    words = {
        "command line": ("--listener", "PLAINTEXT://0.0.0.0:9092"),
        "file": ("--config", write("a.yaml", "listener: [PLAINTEXT://0.0.0.0:9092]")),
    }.get(where, ())
    environ = {"KAFKA_LISTENERS": "PLAINTEXT://:9092"} if where == "environment" else {}
    setting = "PLAINTEXT://localhost:19092"
    for listener in (
        make(*words, **environ, KAFKA_ADVERTISED_LISTENERS=setting).listeners[0],
        make(*words, "-c", f"advertised.listeners={setting}", **environ).listeners[0],
    ):
        assert listener.port == 9092
        assert listener.advertised == ("localhost", 19092)


CONFLUENT = {
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://broker:29092,PLAINTEXT_HOST://localhost:9092",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
}


@pytest.mark.parametrize("has_file", [False, True])
def test_listeners_are_taken_from_the_advertised_ones_as_in_confluents_image(
    write: Callable[[str, str], str], has_file: bool
) -> None:
    """The file is that of the shim's own image, which has another listener."""
    file = ("--config", write("a.yaml", "listener: [PLAINTEXT://0.0.0.0:9092]"))
    found = make(*(file if has_file else ()), **CONFLUENT).listeners
    assert [
        (listener.name, listener.host, listener.port, listener.advertised) for listener in found
    ] == [
        ("PLAINTEXT", "0.0.0.0", 29092, ("broker", 29092)),
        ("PLAINTEXT_HOST", "0.0.0.0", 9092, ("localhost", 9092)),
    ]


def test_an_advertised_listener_needs_a_protocol() -> None:
    with pytest.raises(ConfigError, match=r"`OTHER` is not one of .*map=OTHER:SASL_PLAINTEXT"):
        make(KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://a:1,OTHER://b:2")


def test_an_advertised_listener_that_is_missing_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = "CONTROLLER://b:1,PLAINTEXT://a:2,OTHER://c:3"
    words = ("-c", f"advertised.listeners={asked}", "-c", "controller.listener.names=CONTROLLER")
    (listener,) = make("--listener", "PLAINTEXT://127.0.0.1:0", *words).listeners
    assert listener.advertised == ("a", 2)
    assert capsys.readouterr().err == (
        "kafka-shim: note: advertised.listeners names OTHER, but no such listener exists\n"
    )


def test_kafka_settings_without_authorizer_class_name_disable_the_authorizer(
    write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROPERTIES.replace("authorizer.class.name", "#")
    file = ("--config", write("a.properties", text))
    assert make(*file).authorizer == "none"
    assert "no authorizer.class.name, so nothing is denied" in capsys.readouterr().err
    assert make(*file, "--authorizer", "standard").authorizer == "standard"
    assert make(KAFKA_LISTENERS="PLAINTEXT://:9092").authorizer == "none"
    capsys.readouterr()
    assert make(KAFKA_NUM_PARTITIONS="2").authorizer == "standard"
    assert make(*LISTENER).authorizer == "standard"
    assert capsys.readouterr().err == ""


def test_mistyped_variables_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    make(KAFKA_NUM_PARTITONS="3", KAFKA_HEAP_OPTS="-Xmx1G")
    assert capsys.readouterr().err == (
        "kafka-shim: note: `KAFKA_NUM_PARTITONS` is not a setting of any Kafka release;"
        " did you mean `KAFKA_NUM_PARTITIONS`?\n"
    )


def test_unknown_settings_are_reported(
    write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    make("-c", "my.setting=1", "-c", "num.partitions=1")
    assert capsys.readouterr().err == (
        "kafka-shim: note: settings unknown to every Kafka release: my.setting\n"
    )


STATE = """
users: {alice: from-state, bob: from-state}
super_users: [User:state]
topics: {orders: 3, payments: 1}
acls: [{principal: User:a, allow: Read, topic: t}]
groups: {g: {orders: {0: 1}}}
"""


def test_the_state_is_added_to_the_options(write: Callable[[str, str], str]) -> None:
    acls = write("acls.yaml", "[{principal: User:b, allow: Read, topic: t}]")
    config = make(
        *("--state", write("state.yaml", STATE), "--acls", acls, "--super-user", "User:cli"),
        *("--user", "alice:typed", "--topic", "orders:9"),
    )
    assert config.users == {"alice": "typed", "bob": "from-state"}
    assert config.super_users == ("User:cli", "User:state")
    assert config.topics == (InitialTopic("orders", 9), InitialTopic("payments", 1))
    assert [acl.principal for acl in config.acls] == ["User:b", "User:a"]
    assert [group.name for group in config.groups] == ["g"]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.yaml", "brokkers: 3", "unknown key `brokkers`"),
        ("a.yaml", "brokers: many", "--brokers: invalid value"),
        ("a.yaml", "log-level: loud", "-l/--log-level: unknown value `loud`; expected "),
        ("a.yaml", "config: b.yaml", "`config` cannot be set in a file"),
        ("a.yaml", "help: true", "`help` cannot be set in a file"),
        ("a.yaml", "[1]", "expected option names with values"),
        ("a.yaml", "listener: {a: b}", "`listener` is a mapping; expected"),
        ("a.yaml", "topic: [[1]]", "line 1: invalid value of `topic`: a list; expected a string"),
        (
            "a.yaml",
            "brokers: 1\nlisener: x",
            "line 2: unknown key `lisener`; did you mean",
        ),
        ("a.yaml", "user: [secret]", "--user: expected NAME:PASSWORD"),
        ("a.toml", "a = " + "[" * 5000, "unsupported TOML"),
        ("a.toml", "brokers = 1\nbrokkers = 2", "line 2: unknown key `brokkers`"),
        (
            "a.yaml",
            "broker-config: {auto.create.topic.enable: false}",
            "unknown setting `auto.create.topic.enable`; did you mean `auto.create.topics.enable`",
        ),
        ("a.properties", "num.partition=1", "`num.partition`; did you mean `num.partitions`"),
        ("a.properties", "a=1\nb=\\ud800", "line 2: `b` has an escape of half a character"),
        ("a.toml", "a = ", "not TOML"),
        ("a.yaml", "a: [", "not YAML"),
        ("a.conf", "", "expected the ending .yaml, .json, .toml or .properties"),
        ("a.properties", "listeners=9092", "listener `9092`: expected NAME://HOST:PORT"),
    ],
)
def test_errors_in_a_file_are_reported(
    write: Callable[[str, str], str], name: str, text: str, complaint: str
) -> None:
    path = write(name, text)
    with pytest.raises(ConfigError) as caught:
        make("--config", path)
    assert str(caught.value).startswith(f"--config {path}: ")
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--user", "alice"), "--user: expected NAME:PASSWORD"),
        (("--topic", "t:0"), "--topic `t:0`: expected NAME:PARTITIONS"),
        (("--listener", "9092"), "listener `9092`"),
        (("--listener-principal", "X=User:a"), "no listener is named X"),
        (("-c", "num.partition=1"), "setting `num.partition`; did you mean `num.partitions`"),
        (("-c", "x"), "--broker-config `x`: expected KEY=VALUE"),
        (("--acls", "none"), "--acls none: No such file"),
        (("--config", "none.properties"), "--config none.properties: No such file"),
    ],
)
def test_errors_in_an_option_are_reported(words: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make(*words)


def test_errors_in_the_environment_are_reported() -> None:
    with pytest.raises(ConfigError, match=r"^environment: "):
        make(KAFKA_LISTENERS="nonsense")
    with pytest.raises(ConfigError, match=r"^advertised.listeners: listener `nonsense`: expected"):
        make(KAFKA_ADVERTISED_LISTENERS="nonsense")


def test_clients_get_the_advertised_address(start: Callable[..., Running]) -> None:
    told = ListenerConfig(
        "PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0, advertised=("kafka.example", 9094)
    )
    running = start(listeners=(told,), brokers=2)
    assert running.plaintext == "kafka.example:9094,kafka.example:9095"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--brokers 0", "--brokers `0`: expected 1 to 1000"),
        ("--brokers 100000", "--brokers `100000`: expected 1 to 1000"),
        ("--listener PLAINTEXT://h:65530 --brokers 10", "need ports above 65535"),
        ("--listener PLAINTEXT://h:1 --listener PLAINTEXT://h:2", "two listeners are named"),
        ("--listener PLAINTEXT://[::1:9092", "expected NAME://HOST:PORT"),
        ("--listener PLAINTEXT://::1:9092", "expected NAME://HOST:PORT"),
        ("--listener-principal PLAINTEXT=alice", "`alice` is not of the form Type:name"),
    ],
)
def test_impossible_clusters_are_rejected(words: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        make(*words.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            "-c num.partitions=abc",
            "invalid value `abc` of num.partitions: expected a 32-bit integer",
        ),
        ("-c offsets.topic.num.partitions=2000000000", "at most 100000 can be kept"),
        ("-c num.partitions=-4", "invalid value `-4` of num.partitions: expected at least 1"),
        ("-c auto.create.topics.enable=perhaps", "expected true or false"),
        ("-c connections.max.reauth.ms=soon", "`soon` of connections.max.reauth.ms"),
        ("--acl-propagation-delay -3", "`-3`: expected 0 or more milliseconds"),
    ],
)
def test_invalid_settings_are_rejected_at_startup(words: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        Broker(make(*words.split()))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("topics:\n  a: 1\n  'b c': 1\n", "line 3: topic name `b c`"),
        ("topics:\n- a\n- 'b c'\n", "line 3: topic name `b c`"),
        ("groups:\n  g:\n    t: {0: 1}\n", "line 3: group `g`: unknown topic `t`"),
        ("client_metrics:\n\n  m: {interval.ms: x}\n", "line 3: client metrics `m`"),
        ("acls:\n- {principal: User:a, allow: Write, user: b}\n", "line 2: Kafka 2.8 rejects"),
    ],
)
def test_what_the_release_rejects_of_a_state_file_is_named_with_its_line(
    write: Callable[[str, str], str],
    capsys: pytest.CaptureFixture[str],
    text: str,
    place: str,
) -> None:
    file = write("state.yaml", text)
    words = ["--listener", "PLAINTEXT://127.0.0.1:0", "--kafka-version", "2.8", "--state", file]
    assert main(["run", *words, "--", "true"]) == EXIT_USAGE
    assert f"kafka-shim run: --state {file}: {place}" in capsys.readouterr().err
