"""Variables of the container images of Kafka that are no settings, as settings.

Apache's and Confluent's images read names of files in /etc/kafka/secrets (KAFKA_SSL_*_FILENAME and
_CREDENTIALS), CLUSTER_ID, and a JAAS file in options of the JVM, such as KAFKA_OPTS; Bitnami's
reads KAFKA_CLIENT_USERS.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.jaas import OTHER_USERS, PLAIN_MODULE, JaasModule, parse_jaas_file
from kafka_shim.text.input_files import read_text_file
from kafka_shim.text.message_text import print_note

SECRETS: Final = Path("/etc/kafka/secrets")
"""Folder of the files that variables name, in the images of Apache and Confluent."""

IGNORED: Final = frozenset(
    {
        *("KAFKA_TLS_TYPE", "KAFKA_CERTIFICATE_PASSWORD", "KAFKA_TLS_TRUSTSTORE_FILE"),
        *("KAFKA_INTER_BROKER_USER", "KAFKA_INTER_BROKER_PASSWORD"),
        *("KAFKA_BROKER_USER", "KAFKA_BROKER_PASSWORD"),
        *("KAFKA_CLIENT_USERS_FILE", "KAFKA_CLIENT_PASSWORDS_FILE"),
        *("KAFKA_CONTROLLER_USER", "KAFKA_CONTROLLER_PASSWORD", "KAFKA_EXTRA_FLAGS"),
        *("KAFKA_KRAFT_CLUSTER_ID", "KAFKA_CREATE_TOPICS", "KAFKA_ZOOKEEPER_PROTOCOL"),
        *("KAFKA_ZOOKEEPER_USER", "KAFKA_ZOOKEEPER_PASSWORD"),
        *("HOSTNAME_COMMAND", "PORT_COMMAND", "RACK_COMMAND", "BROKER_ID_COMMAND"),
        *("KAFKA_ZOOKEEPER_TLS_KEYSTORE_PASSWORD", "KAFKA_ZOOKEEPER_TLS_TRUSTSTORE_PASSWORD"),
    }
)
"""Variables of Bitnami's and wurstmeister's images that have no effect here.

Those of the JVM and its logs (KAFKA_HEAP_OPTS) are not among them: many shells have these.
"""

_JAAS_OPTION: Final = "-Djava.security.auth.login.config="
_JAVA_OPTIONS: Final = (
    *("_JAVA_OPTIONS", "EXTRA_ARGS", "KAFKA_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_JMX_OPTS"),
    *("KAFKA_GC_LOG_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_HEAP_OPTS", "JDK_JAVA_OPTIONS"),
    "JAVA_TOOL_OPTIONS",
)
"""Variables with options of the broker's JVM, those that override others first.

As in kafka-run-class.sh and kafka-server-start.sh, which put EXTRA_ARGS last.
"""
_JVM_VARIABLES: Final = ("_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
"""Those that the JVM reads itself, with quotes; the scripts split the others at spaces alone."""
_SERVER_SECTION: Final = "KafkaServer"
_MECHANISM_BY_MODULE: Final = {"PlainLoginModule": "plain", "ScramLoginModule": "scram-sha-256"}


class _SecretFile(NamedTuple):
    """A setting whose value a variable has as the name of a file, or as its content."""

    setting: str
    has_content: bool


_SECRET_FILES: Final = {
    "KAFKA_SSL_KEYSTORE_FILENAME": _SecretFile("ssl.keystore.location", has_content=False),
    "KAFKA_SSL_KEYSTORE_CREDENTIALS": _SecretFile("ssl.keystore.password", has_content=True),
    "KAFKA_SSL_KEY_CREDENTIALS": _SecretFile("ssl.key.password", has_content=True),
    "KAFKA_SSL_TRUSTSTORE_FILENAME": _SecretFile("ssl.truststore.location", has_content=False),
    "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": _SecretFile("ssl.truststore.password", has_content=True),
}
NAMES: Final = frozenset((*_SECRET_FILES, "KAFKA_CLIENT_USERS", "KAFKA_CLIENT_PASSWORDS")) | {
    "KAFKA_TLS_CLIENT_AUTH",
    *IGNORED,
}
"""Variables that begin with `KAFKA_` and look like settings of a broker, but are none."""


def settings_of_image_variables(
    environ: Mapping[str, str], secrets: Path = SECRETS
) -> dict[str, str]:
    """Return the settings. Raise ConfigError if a value, or a file that it names, is invalid."""
    settings = {}
    for name, secret in _SECRET_FILES.items():
        if environ.get(name):
            path = secrets / environ[name]
            content = read_text_file(str(path), name).strip() if secret.has_content else str(path)
            settings[secret.setting] = content
    if environ.get("CLUSTER_ID"):
        settings["cluster.id"] = environ["CLUSTER_ID"]
    if environ.get("KAFKA_TLS_CLIENT_AUTH"):
        settings["ssl.client.auth"] = environ["KAFKA_TLS_CLIENT_AUTH"]
    users = _bitnami_client_users(environ)
    if users:
        settings[OTHER_USERS] = JaasModule(
            "PlainLoginModule", {f"user_{name}": word for name, word in users.items()}
        ).as_setting()
    if (jaas_file := _effective_jaas_file(environ)) is not None:
        settings |= _jaas_file_settings(*jaas_file)
    return settings


def _effective_jaas_file(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable that names a JAAS file, and the file; None if none does."""
    for variable in _JAVA_OPTIONS:
        if _JAAS_OPTION not in environ.get(variable, ""):
            continue
        for word in reversed(_split_java_options(variable, environ[variable])):
            if word.startswith(_JAAS_OPTION):
                # `==` replaces the files of java.security, which brokers do not have
                file = word.removeprefix(_JAAS_OPTION).removeprefix("=")
                return variable, re.sub("^file:(//(?=/))?", "", file)
    return None


def _split_java_options(variable: str, text: str) -> list[str]:
    """Return the options. Raise ConfigError if a quote is not closed."""
    if variable not in _JVM_VARIABLES:
        if re.search(rf"""["']{_JAAS_OPTION}""", text):
            raise ConfigError(
                f"{variable}: Kafka's scripts keep quotes; write `{_JAAS_OPTION}FILE`"
            )
        return text.split()
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split, words.escape, words.commenters = True, "", ""
    try:
        return list(words)
    except ValueError as error:
        raise ConfigError(f"{variable}: {str(error).lower()}") from error


def _jaas_file_settings(variable: str, path: str) -> dict[str, str]:
    """Return a setting for the login modules of the sections `KafkaServer`, `NAME.KafkaServer`."""
    where = f"{variable}: {path}"
    settings: dict[str, JaasModule] = {}
    sections = parse_jaas_file(read_text_file(path, variable), where)
    if not any(section.rpartition(".")[2] == _SERVER_SECTION for section in sections):
        print_note(f"{where}: no section {_SERVER_SECTION}, so it has no users")
    for section, modules in sections.items():
        listener, _, name = section.rpartition(".")
        if name != _SERVER_SECTION:
            continue
        prefix = f"listener.name.{listener.lower()}"
        for module in modules:
            mechanism = _MECHANISM_BY_MODULE.get(module.name.rpartition(".")[2])
            if mechanism is None:
                raise ConfigError(f"{where}: unsupported login module {module.name}")
            key = f"{prefix}.{mechanism}.sasl.jaas.config" if listener else OTHER_USERS
            if listener or mechanism == "plain":
                first = settings.setdefault(key, module)  # its passwords take precedence
                settings[key] = JaasModule(module.name, module.options | first.options)
        if listener:  # the section replaces KafkaServer, also without users for PLAIN
            settings.setdefault(f"{prefix}.plain.sasl.jaas.config", JaasModule(PLAIN_MODULE, {}))
    return {key: module.as_setting() for key, module in settings.items()}


def _bitnami_client_users(environ: Mapping[str, str]) -> dict[str, str]:
    names, words = (  # of the first line, as the image's `read -a` splits them
        re.sub("[,;]", " ", environ.get(variable, "").partition("\n")[0]).split()
        for variable in ("KAFKA_CLIENT_USERS", "KAFKA_CLIENT_PASSWORDS")
    )
    if len(names) != len(words):
        raise ConfigError("KAFKA_CLIENT_USERS and KAFKA_CLIENT_PASSWORDS differ in length")
    return dict(zip(names, words, strict=True))
