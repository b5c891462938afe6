"""Each setting of Kafka is obeyed, refused, or noted as without effect."""

import argparse
import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import kafka_shim.shim.state.settings as settings_package
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.releases.facts import REBALANCE_PROTOCOLS
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.kafka_properties import settings_in_environment
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.settings.setting_effects import SettingEffect, setting_effect
from kafka_shim.shim.state.settings.configs import FETCH_BYTES_MAX, SYNONYMS

_SHIM: Final = Path(settings_package.__file__).parents[2]
_READERS: Final = (
    "handlers",
    "network",
    "observing",
    "sasl",
    "settings",
    "state",
    "storage",
    "tls",
)
"""The folders whose code acts on settings."""
_CHECKS: Final = (
    *("broker_config_checks.py", "config_change.py", "configs.py"),
    *("setting_effects.py", "generate_definitions.py"),
)
"""Modules that name settings only to validate, to list or to return them."""
_READ_ELSEWHERE: Final = frozenset(
    {
        "listeners",
        "log.dir",
        "log.dirs",
        "match",
        "metrics",
        "port",
        FETCH_BYTES_MAX,
        REBALANCE_PROTOCOLS,
    }
)
"""Settings that the shim reads, but without a dot in their name, in one of `_CHECKS`, or by the
name in the facts of releases.
"""


@cache
def names_that_have_an_effect() -> frozenset[str]:
    """Return the names in the source, and the defaults of settings of topics that are there."""
    definitions = json.loads(_DEFINITIONS.read_text(encoding="utf-8"))
    with_default = definitions["topic"] | definitions["group"]
    names = set(names_in_source())
    for name in names_in_source() & with_default.keys():
        newest = [definition for definition in with_default[name].values() if definition][-1]
        if default := newest.get("broker"):
            names |= {synonym for synonym, _ in SYNONYMS.get(default, ((default, 1),))}
    return frozenset(names)


@cache
def names_in_source() -> frozenset[str]:
    """Return the names of settings in the shim's code, also those after a prefix of the module."""
    names = set[str]()
    for path in _source_files():
        texts = {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        prefixes = {text for text in texts if text.endswith(".") and " " not in text}
        names |= texts | {prefix + text for prefix in prefixes for text in texts}
    kinds = json.loads(_DEFINITIONS.read_text(encoding="utf-8")).values()
    defined = {name for kind in kinds for name in kind if "." in name}
    return frozenset(names & defined | _READ_ELSEWHERE)


def _source_files() -> Iterator[Path]:
    yield _SHIM / "config.py"
    for folder in _READERS:
        yield from (path for path in (_SHIM / folder).rglob("*.py") if path.name not in _CHECKS)


_DEFINITIONS: Final = Path(settings_package.__file__).parent / "config_definitions.json"
_TABLE: Final[dict[str, Any]] = json.loads(_DEFINITIONS.read_text(encoding="utf-8"))

_NAMED_WITHOUT_EFFECT: Final = {
    *("metric.reporters", "config.providers", "ssl.engine.factory.class"),
    *("ssl.keymanager.algorithm", "ssl.protocol", "ssl.provider"),
    *("ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "sasl.oauthbearer.scope"),
}
"""Settings that the code names to report them, or by coincidence (`scope`)."""
_COMPOSED: Final = {
    "sasl.oauthbearer.allow.unverified.audience",
    "sasl.oauthbearer.allow.unverified.issuer",
}
"""Settings whose names the code composes."""
_VALUES: Final = {
    "advertised.listeners": "PLAINTEXT://localhost:0",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
    "process.roles": "broker",
    "sasl.jaas.config": 'PlainLoginModule required user_a="b";',
    "broker.rack": "a",
    "node.id": "1",
    "broker.id": "1",
    "advertised.port": "1",
    "port": "1",
}
"""Valid values that the type of a setting does not show."""
OWN: Final = "com.example.Own"


def config_of(*words: str, environ: dict[str, str] | None = None) -> Config:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    return config_from_arguments(parser.parse_args(words), environ or {})


def settings_with_releases() -> Iterator[tuple[str, str]]:
    """Yield each setting of brokers with the newest release that has it."""
    for name, history in sorted(_TABLE["broker"].items()):
        held, newest = None, ""
        for release in RELEASES:
            held = history.get(release, held)
            newest = release if held else newest
        yield name, newest


@pytest.mark.parametrize(("name", "release"), tuple(settings_with_releases()))
def test_each_setting_is_obeyed_refused_or_noted(
    capsys: pytest.CaptureFixture[str], name: str, release: str
) -> None:
    words = ("--kafka-version", release, "-c", f"{name}={_VALUES.get(name, OWN)}")
    note = f"note: settings without effect: {name}\n"
    if setting_effect(name) is SettingEffect.REFUSED:
        with pytest.raises(ConfigError, match=f"^{name}: `{OWN}` decides .* set -c {name}=$"):
            config_of(*words)
        assert name not in config_of(*words, "-c", f"{name}=").properties
    elif setting_effect(name) is SettingEffect.NOTED:
        assert config_of(*words).properties[name] == OWN
        assert note in capsys.readouterr().err
    else:
        config_of(*words)
        assert note not in capsys.readouterr().err


def test_the_settings_in_the_code_are_obeyed() -> None:
    names = {name for kind in _TABLE.values() for name in kind}
    obeyed = {name for name in names if setting_effect(name) is SettingEffect.OBEYED}
    inheriting = {
        name
        for kind in _TABLE.values()
        for name, history in kind.items()
        if [row for row in history.values() if row][-1].get("broker") in names_that_have_an_effect()
    }
    named = names_that_have_an_effect() | inheriting
    assert obeyed == (named - _NAMED_WITHOUT_EFFECT | _COMPOSED) & names


@pytest.mark.parametrize(
    "name",
    [
        "listener.name.inside.principal.builder.class",
        "listener.name.inside.plain.sasl.server.callback.handler.class",
        "listener.name.in-side.scram-sha-512.sasl.server.callback.handler.class",
        "listener.name.inside.oauthbearer.sasl.login.callback.handler.class",
        "listener.name.inside.gssapi.sasl.login.class",
        "listener.name.inside.ssl.engine.factory.class",
    ],
)
def test_java_classes_of_a_listener_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: `{OWN}` decides .* set -c {name}=$"):
        config_of("-c", f"{name}={OWN}")
    assert name not in config_of("-c", f"{name}=").properties


def test_a_java_class_is_refused_wherever_it_is_set(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(f"num.partitions=1\nprincipal.builder.class={OWN}\n")
    environ = {"KAFKA_LISTENER_NAME_INSIDE_PLAIN_SASL_SERVER_CALLBACK_HANDLER_CLASS": OWN}
    for words, variables in ((("--config", str(path)), {}), ((), environ)):
        with pytest.raises(ConfigError, match=f"`{OWN}` decides which"):
            config_of(*words, environ=variables)
    (name,) = settings_in_environment(environ)
    empty = ("-c", "principal.builder.class=", "-c", f"{name}=")
    config = config_of("--config", str(path), *empty, environ=environ)
    assert config.properties == {"num.partitions": "1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("principal.builder.class", "authenticator.DefaultKafkaPrincipalBuilder"),
        (
            "listener.name.a.oauthbearer.sasl.server.callback.handler.class",
            "oauthbearer.secured.OAuthBearerValidatorCallbackHandler",
        ),
        (
            "sasl.server.callback.handler.class",
            "oauthbearer.OAuthBearerValidatorCallbackHandler",
        ),
        ("ssl.engine.factory.class", "ssl.DefaultSslEngineFactory"),
        ("sasl.oauthbearer.jwt.validator.class", "oauthbearer.DefaultJwtValidator"),
    ],
)
def test_kafkas_own_classes_are_valid(name: str, value: str) -> None:
    text = f"org.apache.kafka.common.security.{value}"
    assert config_of("-c", f"{name}={text}").properties[name] == text


def test_the_settings_without_effect_are_in_one_note(capsys: pytest.CaptureFixture[str]) -> None:
    names = (
        "metric.reporters",
        "log.flush.interval.ms",
        "listener.name.a.socket.send.buffer.bytes",
    )
    config_of(*(word for name in names for word in ("-c", f"{name}=1")), "-c", "num.partitions=1")
    assert capsys.readouterr().err == (
        "kafka-shim: note: settings without effect: listener.name.a.socket.send.buffer.bytes,"
        " log.flush.interval.ms, metric.reporters\n"
    )


def test_a_broker_without_settings_has_no_notes(capsys: pytest.CaptureFixture[str]) -> None:
    config_of("--topic", "a", "--user", "a:b")
    assert capsys.readouterr().err == ""
