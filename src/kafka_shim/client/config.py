"""How a command connects: the properties that Kafka's own tools take with --command-config."""

from collections.abc import Mapping

import msgspec

from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.jaas import parse_jaas
from kafka_shim.shim.settings.java_properties import read_properties_file
from kafka_shim.text.whole_number import parse_whole_number

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


COMMAND_CONFIG = "--command-config"
_OWN_SETTINGS = ("username", "password")


class Login(msgspec.Struct, frozen=True):
    """The client's user and password."""

    mechanism: str
    username: str
    password: str


class Trust(msgspec.Struct, frozen=True):
    """The accepted server certificates; by default those of the system.

    `certificates` are PEM texts, `location` a PEM file. `key_location` is a PEM file with the
    client's key and certificates, `key_password` the key's password.
    """

    location: str | None = None
    certificates: str | None = None
    checks_host: bool = True
    key_location: str | None = None
    key_password: str | None = None


class ClientConfig(msgspec.Struct, frozen=True):
    """The settings of a connection; `option` names the file that they are from."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    login: Login | None = None
    trust: Trust = Trust()
    timeout_s: float = 10.0
    option: str = COMMAND_CONFIG


PLAINTEXT = ClientConfig()
"""Nothing but the address."""


def read_client_config(path: str | None, option: str = COMMAND_CONFIG) -> ClientConfig:
    """Read the properties file of an option; without one, return plaintext settings."""
    if path is None:
        return msgspec.structs.replace(PLAINTEXT, option=option)
    properties, where = read_properties_file(path, option), f"{option} {path}"
    try:
        config = client_config_from_properties(properties, where)
    except ConfigError as error:
        raise ConfigError(properties.locations(where).add_location(str(error))) from error
    return msgspec.structs.replace(config, option=option)


def client_config_from_properties(properties: Mapping[str, str], where: str) -> ClientConfig:
    """Read the properties that matter; others are ignored, as Kafka's clients do.

    The login is `sasl.jaas.config`, or `username` and `password` on their own, which Kafka does not
    have: it trims its own settings.
    """
    properties = {
        name: value if name in _OWN_SETTINGS else value.strip()
        for name, value in properties.items()
    }
    name = properties.get("security.protocol", "PLAINTEXT")
    try:
        protocol = SecurityProtocol(name.upper())
    except ValueError:
        names = ", ".join(known.value for known in SecurityProtocol)
        raise ConfigError(f"{where}: security.protocol `{name}` is not one of {names}") from None
    timeout_ms = properties.get("request.timeout.ms", "10000")
    if not parse_whole_number(timeout_ms):
        raise ConfigError(
            f"{where}: invalid request.timeout.ms `{timeout_ms}`; expected a number above 0"
        )
    return ClientConfig(
        protocol,
        _login_from_properties(properties, where) if protocol.uses_sasl else None,
        _trust_from_properties(properties, where) if protocol.uses_tls else Trust(),
        int(timeout_ms) / 1000,
    )


def _login_from_properties(properties: Mapping[str, str], where: str) -> Login:
    mechanism = properties.get("sasl.mechanism") or _mechanism_of_login_module(properties)
    if mechanism not in MECHANISMS:
        raise ConfigError(
            f"{where}: sasl.mechanism `{mechanism}` is not supported here;"
            f" use one of {', '.join(MECHANISMS)}"
        )
    options: Mapping[str, str] = properties
    if "sasl.jaas.config" in properties:
        options = parse_jaas(properties["sasl.jaas.config"], f"{where}: sasl.jaas.config").options
    if "username" not in options or "password" not in options:
        raise ConfigError(
            f"{where}: {mechanism} needs `username` and `password`, as properties of their own or"
            ' in sasl.jaas.config: `...PlainLoginModule required username="x" password="y";`'
        )
    return Login(mechanism, options["username"], options["password"])


def _mechanism_of_login_module(properties: Mapping[str, str]) -> str:
    """Return the mechanism of a client that names none; for Kafka's clients that is GSSAPI."""
    module = properties.get("sasl.jaas.config", "")
    if "Krb5LoginModule" in module or "sasl.kerberos.service.name" in properties:
        return "GSSAPI"
    return "OAUTHBEARER" if "OAuthBearerLoginModule" in module else "PLAIN"


def _trust_from_properties(properties: Mapping[str, str], where: str) -> Trust:
    for store in ("truststore", "keystore"):
        kind = properties.get(f"ssl.{store}.type", "JKS")
        if kind.upper() != "PEM" and f"ssl.{store}.location" in properties:
            raise ConfigError(
                f"{where}: ssl.{store}.location: a store of type `{kind}` cannot be read here;"
                f" convert it to PEM and set ssl.{store}.type=PEM (KIP-651)"
            )
    return Trust(
        properties.get("ssl.truststore.location"),
        properties.get("ssl.truststore.certificates"),
        properties.get("ssl.endpoint.identification.algorithm", "https") != "",
        properties.get("ssl.keystore.location"),
        properties.get("ssl.key.password"),
    )
