"""Addresses in Kafka's configuration: those of old settings, empty hosts, and of controllers."""

import argparse
import socket
from pathlib import Path

import pytest

from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments


def config_of(*words: str, environ: dict[str, str] | None = None) -> Config:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    return config_from_arguments(parser.parse_args(words), environ or {})


def config_of_file(folder: Path, text: str, *words: str) -> Config:
    path = folder / "server.properties"
    path.write_text(text)
    return config_of("--config", str(path), *words)


def addresses(config: Config) -> list[tuple[str, str, int, tuple[str, int] | None]]:
    return [(each.name, each.host, each.port, each.advertised) for each in config.listeners]


ANY = "0.0.0.0"


@pytest.mark.parametrize("release", ["0.11", "1.1", "2.8", "2.8.2"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("port=27770\nhost.name=127.0.0.1", [("PLAINTEXT", "127.0.0.1", 27770, None)]),
        ("port=27770", [("PLAINTEXT", ANY, 27770, None)]),
        ("host.name=::1", [("PLAINTEXT", "::1", 9092, None)]),
        (
            "port=27770\nhost.name=127.0.0.1\nadvertised.host.name=localhost\nadvertised.port=1",
            [("PLAINTEXT", "127.0.0.1", 27770, ("localhost", 1))],
        ),
        (
            "port=27770\nhost.name=127.0.0.1\nadvertised.port=1",
            [("PLAINTEXT", "127.0.0.1", 27770, ("127.0.0.1", 1))],
        ),
        (
            "port=27770\nadvertised.host.name=a",
            [("PLAINTEXT", ANY, 27770, ("a", 27770))],
        ),
        ("broker.id=1\nadvertised.host.name=a", [("PLAINTEXT", "127.0.0.1", 0, ("a", 9092))]),
        (
            "port=1\nadvertised.port=1\nlisteners=SSL://127.0.0.1:5,PLAINTEXT://127.0.0.1:6",
            [("SSL", "127.0.0.1", 5, None), ("PLAINTEXT", "127.0.0.1", 6, (ANY, 1))],
        ),
        (
            "port=7\nadvertised.host.name=a\nadvertised.listeners=PLAINTEXT://b:8",
            [("PLAINTEXT", ANY, 7, ("b", 8))],
        ),
    ],
)
def test_old_settings_are_addresses_up_to_2_8(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    text: str,
    expected: list[tuple[str, str, int, tuple[str, int] | None]],
) -> None:
    """Kafka's `KafkaConfig.listeners` and `effectiveAdvertisedListeners` of 2.8 have these."""
    monkeypatch.setattr(socket, "getfqdn", lambda: ANY)
    assert addresses(config_of_file(tmp_path, text, "--kafka-version", release)) == expected


def test_old_settings_are_variables_too() -> None:
    environ = {
        "KAFKA_ADVERTISED_HOST_NAME": "kafka.example",
        "KAFKA_ADVERTISED_PORT": "29095",
        "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
        "KAFKA_PORT": "tcp://10.0.0.1:9092",
    }
    (listener,) = config_of("--kafka-version", "2.8", environ=environ).listeners
    assert listener.advertised == ("kafka.example", 29095)


def test_a_listener_of_the_command_line_takes_precedence(tmp_path: Path) -> None:
    words = ("--kafka-version", "2.8", "--listener", "PLAINTEXT://127.0.0.1:0")
    config = config_of_file(tmp_path, "port=27770\nadvertised.host.name=a", *words)
    assert addresses(config) == [("PLAINTEXT", "127.0.0.1", 0, ("a", 27770))]


@pytest.mark.parametrize("release", ["3.0", "3.9", "4.4"])
def test_old_settings_are_named_as_unknown_since_3_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], release: str
) -> None:
    text = "broker.id=1\nport=27770\nhost.name=127.0.0.1"
    config = config_of_file(tmp_path, text, "--kafka-version", release)
    assert addresses(config) == [("PLAINTEXT", "127.0.0.1", 0, None)]
    note = f"note: settings unknown to Kafka {release}: host.name, port; set listeners and"
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("port", "x"), ("advertised.port", "65536")])
def test_an_invalid_port_is_an_error(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^invalid {name} `{value}`: must be between 0 and"):
        config_of("-c", f"{name}={value}", "--kafka-version", "2.8")


@pytest.mark.parametrize(
    "text",
    [
        "PLAINTEXT://:29092",
        "plaintext://:29092",
        " PLAINTEXT://:29092 ",
        "SSL://a:1,PLAINTEXT://:29092",
        "PLAINTEXT://:29092,CONTROLLER://:9",
    ],
)
def test_an_empty_advertised_host_is_the_name_of_the_machine(text: str) -> None:
    """As `InetAddress.getLocalHost.getCanonicalHostName` in real 4.1.1."""
    settings = [f"advertised.listeners={text}", "controller.listener.names=CONTROLLER"]
    config = config_of(
        *("--listener", "PLAINTEXT://127.0.0.1:29092"),
        *(word for setting in settings for word in ("-c", setting)),
    )
    assert config.listeners[0].advertised == (socket.getfqdn(), 29092)
    assert socket.getfqdn()


@pytest.mark.parametrize("host", ["${HOST}", "_{HOSTNAME_COMMAND}", '"a', "a b"])
@pytest.mark.parametrize("setting", ["listeners", "advertised.listeners"])
def test_a_host_that_something_else_replaces_is_an_error(setting: str, host: str) -> None:
    """As by Kafka's `URI_PARSE_REGEXP`."""
    with pytest.raises(ConfigError, match=f"{setting}: listener `.*: expected NAME://HOST:P"):
        config_of("-c", f"{setting}=PLAINTEXT://{host}:9092")


def test_an_advertised_listener_has_a_host_that_clients_reach() -> None:
    """As Kafka's `KafkaConfig`, which calls it the nonroutable meta-address."""
    with pytest.raises(ConfigError, match=f"clients cannot connect to {ANY}"):
        config_of("-c", f"advertised.listeners=PLAINTEXT://{ANY}:9092")


def test_an_advertised_listener_that_is_there_twice_is_an_error() -> None:
    with pytest.raises(ConfigError, match="listener PLAINTEXT is there twice"):
        config_of("-c", "advertised.listeners=PLAINTEXT://a:1,plaintext://b:2")


CONTROLLER = "listeners=CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"process.roles=controller\n{CONTROLLER}", "process.roles is `controller`"),
        ("process.roles= controller ,", "clients cannot use a controller alone"),
        ("process.roles=controller\nnode.id=3", "set process.roles=broker,controller"),
        (f"process.roles=broker,controller\n{CONTROLLER}", "add a listener for clients"),
        (
            "listeners=SSL://:9093,PLAINTEXT://:9094\ncontroller.listener.names=plaintext,SSL",
            "controller.listener.names has all of them",
        ),
    ],
)
def test_the_file_of_a_controller_alone_is_an_error(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        config_of_file(tmp_path, text)
    words = ("-c", "process.roles=broker,controller", "--listener", "PLAINTEXT://127.0.0.1:0")
    assert len(config_of_file(tmp_path, text, *words).listeners) == 1
