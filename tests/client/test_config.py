import pytest

from kafka_shim.client.config import (
    PLAINTEXT,
    Login,
    Trust,
    client_config_from_properties,
    read_client_config,
)
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.errors import ConfigError

JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="alice" password="secret";'
)
SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}


def test_without_a_file_the_client_uses_plaintext() -> None:
    assert read_client_config(None) == PLAINTEXT
    assert client_config_from_properties({}, "file") == PLAINTEXT


@pytest.mark.parametrize(
    "login", [{"sasl.jaas.config": JAAS}, {"username": "alice", "password": "secret"}]
)
def test_credentials_are_read_from_a_jaas_line_or_from_properties(login: dict[str, str]) -> None:
    config = client_config_from_properties(SASL | login, "file")
    assert config.protocol is SecurityProtocol.SASL_PLAINTEXT
    assert config.login == Login("PLAIN", "alice", "secret")


def test_scram_is_read() -> None:
    properties = SASL | {"sasl.mechanism": "SCRAM-SHA-512", "username": "a", "password": "s"}
    assert client_config_from_properties(properties, "file").login == Login(
        "SCRAM-SHA-512", "a", "s"
    )


def test_settings_are_trimmed() -> None:
    """As `AdminClientConfig` of real 4.4.0 trims these."""
    spaced = {
        "security.protocol": " sasl_plaintext ",
        "sasl.mechanism": " PLAIN\t",
        "request.timeout.ms": " 5000 ",
        "sasl.jaas.config": f" {JAAS} ",
    }
    config = client_config_from_properties(spaced, "file")
    trimmed = {name: value.strip() for name, value in spaced.items()}
    assert config == client_config_from_properties(trimmed, "file")
    assert config.timeout_s == 5
    own = SASL | {"username": "a", "password": " b "}
    login = client_config_from_properties(own, "file").login
    assert login is not None
    assert login.password == " b "


def test_credentials_are_ignored_for_plaintext() -> None:
    assert client_config_from_properties({"sasl.jaas.config": JAAS}, "file").login is None


def test_pem_files_are_read() -> None:
    config = client_config_from_properties(
        {
            "security.protocol": "ssl",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": "ca.pem",
            "ssl.endpoint.identification.algorithm": "",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": "me.pem",
            "request.timeout.ms": "1500",
        },
        "file",
    )
    assert config.protocol is SecurityProtocol.SSL
    assert config.trust == Trust("ca.pem", None, checks_host=False, key_location="me.pem")
    assert config.timeout_s == 1.5


WITHOUT_MECHANISM = {"security.protocol": "SASL_SSL"}
"""Without a mechanism, for which Kafka's default is GSSAPI."""


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"security.protocol": "TLS"}, "`TLS` is not one of PLAINTEXT, SASL_PLAINTEXT, SSL"),
        (SASL, "PLAIN needs `username` and `password`"),
        (SASL | {"sasl.mechanism": "GSSAPI"}, "`GSSAPI` is not supported here; use one of PLAIN"),
        (
            WITHOUT_MECHANISM
            | {"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"},
            "sasl.mechanism `GSSAPI` is not supported here; use one of PLAIN",
        ),
        (
            WITHOUT_MECHANISM | {"sasl.kerberos.service.name": "kafka"},
            "sasl.mechanism `GSSAPI` is not supp",
        ),
        (
            WITHOUT_MECHANISM | {"sasl.jaas.config": "a.OAuthBearerLoginModule required;"},
            "sasl.mechanism `OAUTHBEARER` is not supported here",
        ),
        (SASL | {"sasl.jaas.config": "x"}, "sasl.jaas.config: expected"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "a.jks"}, "convert it to PEM"),
        ({"request.timeout.ms": "soon"}, "expected a number above 0"),
    ],
)
def test_errors_are_reported(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"^file: .*{complaint}"):
        client_config_from_properties(properties, "file")
