"""Variables of the container images that name files, and JAAS files."""

import argparse
from pathlib import Path

import pytest

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.image_variables import settings_of_image_variables
from kafka_shim.shim.settings.jaas import JaasModule, parse_jaas, parse_jaas_file
from kafka_shim.shim.settings.option_arguments import add_broker_arguments

JAAS = """\
// as in the images' examples
KafkaServer {
   org.apache.kafka.common.security.plain.PlainLoginModule required
   username="admin"
   password="admin-secret"
   user_admin="admin-secret" /* two
   lines */ user_alice="a{b};\\"c//d";
};
# of the other listener
external.KafkaServer {
   org.apache.kafka.common.security.scram.ScramLoginModule required username="x" password="y";
   org.apache.kafka.common.security.plain.PlainLoginModule required user_bob='b';
};
Client { org.apache.zookeeper.server.auth.DigestLoginModule required username="z" password="z"; };
"""


def test_files_of_secrets_are_settings(tmp_path: Path) -> None:
    (tmp_path / "key_creds").write_text("key-secret\n")
    (tmp_path / "store_creds").write_text("store-secret\n")
    settings = settings_of_image_variables(
        {
            "KAFKA_SSL_KEYSTORE_FILENAME": "kafka.jks",
            "KAFKA_SSL_KEYSTORE_CREDENTIALS": "store_creds",
            "KAFKA_SSL_KEY_CREDENTIALS": "key_creds",
            "KAFKA_SSL_TRUSTSTORE_FILENAME": "trust.p12",
            "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": "store_creds",
            "KAFKA_TLS_CLIENT_AUTH": "required",
        },
        secrets=tmp_path,
    )
    assert settings == {
        "ssl.keystore.location": str(tmp_path / "kafka.jks"),
        "ssl.keystore.password": "store-secret",
        "ssl.key.password": "key-secret",
        "ssl.truststore.location": str(tmp_path / "trust.p12"),
        "ssl.truststore.password": "store-secret",
        "ssl.client.auth": "required",
    }


def test_a_missing_file_of_secrets_is_an_error_with_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"KAFKA_SSL_KEY_CREDENTIALS .*/none: No such file"):
        settings_of_image_variables({"KAFKA_SSL_KEY_CREDENTIALS": "none"}, secrets=tmp_path)


def test_users_of_a_jaas_file_can_log_in(tmp_path: Path) -> None:
    path = tmp_path / "jaas file.conf"
    path.write_text(JAAS)
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    options = f"-Xmx1g '-Djava.security.auth.login.config={path}' -Dx=y"
    config = config_from_arguments(parser.parse_args([]), {"KAFKA_OPTS": options})
    assert config.users == {"admin": "admin-secret", "alice": 'a{b};"c//d', "bob": "b"}


def test_sections_and_modules_of_a_file_are_separate() -> None:
    sections = parse_jaas_file(JAAS, "x")
    assert {name: len(modules) for name, modules in sections.items()} == {
        "KafkaServer": 1, "external.KafkaServer": 2, "Client": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("KafkaServer", "expected `NAME { package.LoginModule required ...; };`"),
        ("KafkaServer { A required; }", "section KafkaServer must end with `};`"),
        ("KafkaServer { A required x; };", "section KafkaServer: an option is not of the form"),
        ("KafkaServer { A required x='1' };", "section KafkaServer: expected `package.LoginModule"),
        ('KafkaServer { A required x="1; };', "a quote is not closed"),
    ],
)
def test_an_invalid_file_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_jaas_file(text, "KAFKA_OPTS: f")
    assert str(error.value).startswith("KAFKA_OPTS: f: ")
    assert message in str(error.value)


def test_a_module_is_read_as_it_was_written() -> None:
    module = JaasModule("a.PlainLoginModule", {"user_x": 'a"\\;b', "serviceName": "kafka"})
    assert parse_jaas(module.as_setting(), "x") == module


def test_an_unsupported_login_module_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "jaas.conf"
    path.write_text("KafkaServer { com.sun.security.auth.module.Krb5LoginModule required; };")
    with pytest.raises(ConfigError, match="unsupported login module com"):
        settings_of_image_variables(
            {"KAFKA_OPTS": f"-Djava.security.auth.login.config={path}"}, secrets=tmp_path
        )


def test_a_variable_without_effect_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    environ = {
        "KAFKA_TLS_TYPE": "JKS",
        "KAFKA_CREATE_TOPICS": "orders:1:1",
        "KAFKA_HEAP_OPTS": "-X",
    }
    config_from_arguments(parser.parse_args([]), environ)
    assert "ignored: KAFKA_CREATE_TOPICS, KAFKA_TLS_TYPE\n" in capsys.readouterr().err
