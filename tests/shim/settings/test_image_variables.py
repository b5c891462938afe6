"""Variables of the container images that name files, and JAAS files."""

import argparse
from pathlib import Path

import pytest

from kafka_shim.shim.config import OTHER_LISTENERS, Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.image_variables import settings_of_image_variables
from kafka_shim.shim.settings.jaas import JaasModule, parse_jaas, parse_jaas_file
from kafka_shim.shim.settings.kafka_properties import settings_in_environment
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
// of the other listener
external.KafkaServer {
   org.apache.kafka.common.security.scram.ScramLoginModule required username="x" password="y";
   org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="b";
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
    config = config_from_arguments(parser.parse_args([]), {"JAVA_TOOL_OPTIONS": options})
    assert config.listener_users == {
        OTHER_LISTENERS: {"admin": "admin-secret", "alice": 'a{b};"c//d'},
        "EXTERNAL": {"bob": "b"},
    }


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
        ('KafkaServer { A required x="1" };', "section KafkaServer: expected `package.LoginModule"),
        ("A { B required x='1'; };", "Java rejects `'` in a JAAS file: values have double quotes"),
        ("A {\n# x\nB required; };", "Java rejects `#` in a JAAS file: comments begin with `//`"),
        ('KafkaServer { A required x="1; };', "a quote is not closed"),
        ("A { B required; }; A { B required; };", "section A is there twice"),
        ('A { B required user_a="${pw}"; };', "user_a: Java replaces `${...}`"),
    ],
)
def test_an_invalid_file_is_an_error(text: str, message: str) -> None:
    """Java's `JavaLoginConfig` (JDK 17) rejects these files, too, or replaces `${...}`."""
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
        "HOSTNAME_COMMAND": "hostname -f",
        "KAFKA_PLAIN_SASL_JAAS_CONFIG": "x",
    }
    config_from_arguments(parser.parse_args([]), environ)
    notes = capsys.readouterr().err
    assert "ignored: HOSTNAME_COMMAND, KAFKA_CREATE_TOPICS, KAFKA_TLS_TYPE\n" in notes
    assert "did you mean `KAFKA_LISTENER_NAME_<LISTENER>_PLAIN_SASL_JAAS_CONFIG`?" in notes


def test_all_modules_of_a_section_have_users(tmp_path: Path) -> None:
    """Kafka's `configEntryOption` takes the first password of a user."""
    path = tmp_path / "jaas.conf"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    path.write_text(f'KafkaServer {{ {module} user_a="1"; {module} user_a="2" user_b="3"; }};')
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    environ = {"KAFKA_OPTS": f"-Djava.security.auth.login.config={path}"}
    users = config_from_arguments(parser.parse_args([]), environ).users
    assert users == {"a": "1", "b": "3"}


def test_a_file_without_a_section_of_servers_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "jaas.conf"
    path.write_text('\ufeffKafkaServer { a.PlainLoginModule required user_a="1"; };')
    settings_of_image_variables({"KAFKA_OPTS": f"-Djava.security.auth.login.config={path}"})
    assert "jaas.conf: no section KafkaServer, so it has no users\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "users"),
    [
        ({"KAFKA_JVM_PERFORMANCE_OPTS": "-server {option}"}, {"a": "1"}),
        ({"KAFKA_HEAP_OPTS": "-Xmx1g {option}"}, {"a": "1"}),
        ({"JAVA_TOOL_OPTIONS": "{option}"}, {"a": "1"}),
        ({"EXTRA_ARGS": "-name kafkaServer {option}"}, {"a": "1"}),
        ({"KAFKA_OPTS": "-Djava.security.auth.login.config=none {option}"}, {"a": "1"}),
        ({"EXTRA_ARGS": "{option}", "KAFKA_OPTS": "{other}"}, {"a": "1"}),
        ({"JAVA_TOOL_OPTIONS": "{other}", "KAFKA_OPTS": "{option}"}, {"a": "1"}),
        ({"JAVA_TOOL_OPTIONS": "-Dx='unclosed"}, {}),
    ],
)
def test_the_last_option_of_the_jvm_names_the_jaas_file(
    tmp_path: Path, variables: dict[str, str], users: dict[str, str]
) -> None:
    """kafka-run-class.sh puts the variables into the command of the JVM in this order."""
    for name, number in (("own", "1"), ("other", "2")):
        module = (
            f'org.apache.kafka.common.security.plain.PlainLoginModule required user_a="{number}"'
        )
        (tmp_path / name).write_text(f"KafkaServer {{ {module}; }};")
    option = "-Djava.security.auth.login.config="
    paths = {"option": f"{option}file:{tmp_path / 'own'}", "other": f"{option}{tmp_path / 'other'}"}
    environ = {name: value.format(**paths) for name, value in variables.items()}
    assert config_of(environ).users == users


@pytest.mark.parametrize(
    ("variable", "options", "message"),
    [
        ("KAFKA_OPTS", "'{}/a b'", "KAFKA_OPTS: Kafka's scripts keep quotes"),
        ("KAFKA_OPTS", "{}'/a'", "KAFKA_OPTS '/a': No such file"),
        ("KAFKA_OPTS", "-Dx=it's {}/a\\b", "KAFKA_OPTS /a\\b: No such file"),
        ("JAVA_TOOL_OPTIONS", "{}'/a b'", "JAVA_TOOL_OPTIONS /a b: No such file"),
        ("JDK_JAVA_OPTIONS", "{}/a\\b", "JDK_JAVA_OPTIONS /a\\b: No such file"),
        ("_JAVA_OPTIONS", "-Dx=it's {}/a", "_JAVA_OPTIONS: no closing quotation"),
    ],
)
def test_only_the_jvm_reads_quotes(variable: str, options: str, message: str) -> None:
    """As the JVM of JDK 17 has the property behind `exec java $KAFKA_OPTS`, the form in which
    kafka-run-class.sh starts it, or fails to start.
    """
    with pytest.raises(ConfigError) as caught:
        config_of({variable: options.format("-Djava.security.auth.login.config=")})
    assert message in str(caught.value)


@pytest.mark.parametrize("variable", ["EXTRA_ARGS", "JAVA_TOOL_OPTIONS", "KAFKA_OPTS"])
def test_a_missing_jaas_file_is_an_error_with_the_variable(variable: str) -> None:
    with pytest.raises(ConfigError, match=f"{variable} /none: No such file"):
        config_of({variable: "-Djava.security.auth.login.config=/none"})


def config_of(environ: dict[str, str]) -> Config:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    return config_from_arguments(parser.parse_args([]), environ)


MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LINE = f'{MODULE} user_a="b";'


@pytest.mark.parametrize(
    ("variable", "value", "settings"),
    [
        ("KAFKA_SASL_JAAS_CONFIG", f'{MODULE} \\\nuser_a="b";\n', {"sasl.jaas.config": LINE}),
        ("KAFKA_SASL_JAAS_CONFIG", f'{MODULE} \\\r\n\tuser_a="b";', {"sasl.jaas.config": LINE}),
        ("KAFKA_SASL_JAAS_CONFIG", f'{MODULE} user_a=\\"b\\";', {"sasl.jaas.config": LINE}),
        ("KAFKA_CFG_SUPER_USERS", "User:a;\\\n   User:b", {"super.users": "User:a;User:b"}),
        ("KAFKA_SUPER_USERS", "User:CN=a\\\\,b", {"super.users": "User:CN=a\\,b"}),
        ("KAFKA_SSL_KEYSTORE_PASSWORD", "  a\\u0041=b", {"ssl.keystore.password": "aA=b"}),
        ("KAFKA_PORT", "3\nbroker.rack=a\n# b", {"port": "3", "broker.rack": "a"}),
        ("KAFKA_LISTENERS", "", {"listeners": ""}),
    ],
)  # fmt: skip
def test_values_are_read_as_lines_of_server_properties(
    variable: str, value: str, settings: dict[str, str]
) -> None:
    """The values are those of java.util.Properties for the line that the images write."""
    assert settings_in_environment({variable: value}) == settings


@pytest.mark.parametrize("value", [f'{MODULE}\nuser_a="secret";', "a\\\nb\n\nsecret"])
def test_a_further_line_without_a_known_setting_is_an_error(value: str) -> None:
    with pytest.raises(ConfigError, match=r"SASL_JAAS_CONFIG: line [24] of the value is") as error:
        settings_in_environment({"KAFKA_SASL_JAAS_CONFIG": value})
    assert "secret" not in str(error.value)
