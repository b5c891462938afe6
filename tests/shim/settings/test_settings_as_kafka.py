"""Files and variables with settings, and what Kafka's own classes make of them.

The files were read by `java.util.Properties` and `KafkaConfig` of 4.4.0 and 3.9.1, whose
`ChannelBuilders` and `JaasContext` have the settings and the users of a listener. The variables
were read by `KafkaDockerWrapper` of 4.4.0, the program of the image `apache/kafka`.
"""

import argparse
from pathlib import Path

import pytest

from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.jaas import parse_jaas
from kafka_shim.shim.settings.kafka_properties import settings_in_environment
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
INSIDE = "listener.name.inside.plain.sasl.jaas.config"
LISTENERS = """
listeners=PLAINTEXT://127.0.0.1:0,INSIDE://127.0.0.1:0
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INSIDE:SASL_PLAINTEXT
"""


def config_of(folder: Path, text: str, *words: str) -> Config:
    path = folder / "server.properties"
    path.write_text(text)
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    return config_from_arguments(parser.parse_args(["--config", str(path), *words]), {})


@pytest.mark.parametrize(
    "setting",
    [
        f'listener.name.INSIDE.plain.sasl.jaas.config={PLAIN} user_a="b";',
        f'listener.name.Inside.plain.sasl.jaas.config={PLAIN} user_a="b";',
        "listener.name.INSIDE.max.connections=1",
        "listener.name.INSIDE.sasl.enabled.mechanisms=SCRAM-SHA-512",
    ],
)
def test_settings_of_a_listener_in_capitals_have_no_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    """`ListenerName.configPrefix` is in lower case; 4.4.0 and 3.9.1 find no users in these."""
    config = config_of(tmp_path, f"{LISTENERS}sasl.enabled.mechanisms=PLAIN\n{setting}\n")
    name = setting.partition("=")[0]
    expected = f"without effect: {name}; Kafka reads names of listeners in lower case\n"
    assert expected in capsys.readouterr().err
    assert config.users_of_listener("INSIDE") == {}
    cluster = Cluster(config, SystemClock())
    assert cluster.mechanisms_by_listener["INSIDE"] == ("PLAIN",)


@pytest.mark.parametrize(
    ("name", "module", "is_noted"),
    [
        (INSIDE, PLAIN, False),
        ("sasl.jaas.config", PLAIN, True),
        ("listener.name.inside.scram-sha-256.sasl.jaas.config", SCRAM, True),
    ],
)
def test_users_that_kafka_does_not_read_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, module: str, is_noted: bool
) -> None:
    """`JaasContext` of 4.4.0 and 3.9.1 has users for the first of these settings only."""
    config = config_of(tmp_path, f'{LISTENERS}{name}={module} user_a="b";\n')
    assert config.users_of_listener("INSIDE") == {"a": "b"}
    note = f"a real broker does not read users in {name}, but in listener.name.NAME.plain."
    assert (note in capsys.readouterr().err) == is_noted


@pytest.mark.parametrize(
    ("text", "release", "message"),
    [
        (f'{LISTENERS}{INSIDE}={PLAIN} user_a="b\\nc";', "4.4", "a quote is not closed"),
        ("listener.security.protocol.map=INSIDE:SSL", "4.4", "map: `PLAINTEXT` of listeners is no"),
        ("listener.security.protocol.map=", "4.4", "map: `PLAINTEXT` of listeners is not in it"),
        ("listener.security.protocol.map=PLAINTEXT:PLAINTEXT,", "4.4", "map: invalid entry `:`"),
        ("listener.security.protocol.map=PLAINTEXT:SSL,A:B", "3.9", "map: invalid entry `A:B`"),
        ("listener.security.protocol.map=PLAINTEXT:SSL,Plaintext:SSL", "4.4", "is there twice"),
        ("advertised.listeners=", "4.4", "advertised.listeners must not be empty"),
        ("advertised.listeners=PLAINTEXT://a:1,", "4.4", "`PLAINTEXT://a:1,` of advertised.liste"),
        ("listeners=PLAINTEXT://127.0.0.1:0,", "4.4", "`PLAINTEXT://127.0.0.1:0,` of listeners: "),
        ("listeners=PLAINTEXT://127.0.0.1:1,PLAINTEXT://127.0.0.1:1", "4.4", "two listeners are"),
        ("listeners=", "4.4", "listeners must not be empty"),
        ("listeners=", "3.9", "listeners must not be empty"),
        ("listeners=\nport=3", "2.8", "listeners must not be empty"),
        ("advertised.listeners=", "3.9", "advertised.listeners must not be empty"),
        ("advertised.listeners=\nadvertised.host.name=x", "2.8", "advertised.listeners must not"),
    ],
)
def test_what_kafka_rejects_is_rejected(
    tmp_path: Path, text: str, release: str, message: str
) -> None:
    """`KafkaConfig` and `JaasContext` of this release reject these files, too."""
    if not text.startswith("listeners=") and "\nlisteners=" not in text:
        text = f"listeners=PLAINTEXT://127.0.0.1:0\n{text}"
    with pytest.raises(ConfigError) as caught:
        config_of(tmp_path, text, "--kafka-version", release)
    assert message in str(caught.value)


def test_empty_items_of_a_list_are_accepted_up_to_3_9(tmp_path: Path) -> None:
    """`KafkaConfig` of 3.9.1 accepts the listeners that 4.4.0 rejects."""
    text = "listeners=PLAINTEXT://127.0.0.1:0,\n"
    assert len(config_of(tmp_path, text, "--kafka-version", "3.9").listeners) == 1


def test_a_listener_that_is_not_advertised_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`effectiveAdvertisedBrokerListeners` of 4.4.0 and 3.9.1 has PLAINTEXT alone."""
    config_of(tmp_path, f"{LISTENERS}advertised.listeners=PLAINTEXT://localhost:0\n")
    assert "advertised.listeners lacks INSIDE, on which" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variable", "value", "setting"),
    [
        ("SUPER_USERS", "User:\xe9", ("super.users", "User:\xc3\xa9")),
        ("LISTENER_NAME_A____B_MAX_CONNECTIONS", "1", None),
        ("LISTENER_NAME_A___B_MAX_CONNECTIONS", "1", ("listener.name.a-b.max.connections", "1")),
        (
            "LISTENER_NAME_A_____B_MAX_CONNECTIONS",
            "1",
            ("listener.name.a-_b.max.connections", "1"),
        ),
    ],
)
def test_variables_are_those_of_the_image(
    variable: str, value: str, setting: tuple[str, str] | None
) -> None:
    """Four underscores are `-.`, which makes `max.connections` one of no listener."""
    environ = {f"KAFKA_{variable}": value}
    if setting is None:
        with pytest.raises(ConfigError, match=r"unknown setting `listener\.name\.a-\.b\."):
            settings_in_environment(environ)
    else:
        assert settings_in_environment(environ) == dict([setting])


@pytest.mark.parametrize(
    ("variable", "setting"),
    [
        ("LISTENER_NAME_SASL_PLAINTEXT_MAX_CONNECTIONS", "sasl_plaintext.max.connections"),
        ("LISTENER_NAME_SASL_SSL_SSL_CLIENT_AUTH", "sasl_ssl.ssl.client.auth"),
        ("LISTENER_NAME_SASL_SSL_SASL_ENABLED_MECHANISMS", "sasl_ssl.sasl.enabled.mechanisms"),
        ("LISTENER_NAME_CLIENT_SSL_CLIENT_AUTH", "client.ssl.client.auth"),
    ],
)
def test_variables_of_bitnami_are_those_of_its_image(variable: str, setting: str) -> None:
    """`kafka_configure_from_environment_variables` of the image's `libkafka.sh`."""
    name = f"listener.name.{setting}"
    assert settings_in_environment({f"KAFKA_CFG_{variable}": "1"}) == {name: "1"}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("a,b", "1,2"),
        ("a;b", "1;2"),
        (" a, b ", "1 2"),
        ("a,,b,", "1;2"),
        ("a,b\nc", "1,2\n3,4"),
    ],
)
def test_users_of_bitnami_are_those_of_its_image(names: str, words: str) -> None:
    """As bash 5 has the arrays of `read -r -a users <<<"$(tr ',;' ' ' <<<"$KAFKA_CLIENT_USERS")"`,
    of `kafka_configure_server_jaas` in the image's `libkafka.sh`.
    """
    environ = {"KAFKA_CLIENT_USERS": names, "KAFKA_CLIENT_PASSWORDS": words}
    (jaas,) = settings_in_environment(environ).values()
    assert parse_jaas(jaas, "jaas").plain_passwords_by_user == {"a": "1", "b": "2"}
