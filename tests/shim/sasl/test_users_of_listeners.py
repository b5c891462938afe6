"""Users in the JAAS settings of a listener belong to that listener.

Real 3.9.1 accepts and refuses the same passwords: a listener's own line replaces its section, and
this one the section `KafkaServer`, also if it has no users for PLAIN (JaasContext). An unprefixed
`sasl.jaas.config` stands for `KafkaServer` here; a real broker ignores it.
"""

import argparse
from pathlib import Path

import pytest

from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.handlers.common.sasl_authentication import (
    begin_sasl_exchange,
    new_sasl_exchange,
)
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.sasl.mechanism import SaslFailure
from kafka_shim.shim.sasl.scram_credential import ScramMechanism
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
LISTENERS = """
listeners=INSIDE://127.0.0.1:0,EXT://127.0.0.1:0
listener.security.protocol.map=INSIDE:SASL_PLAINTEXT,EXT:SASL_PLAINTEXT
"""
INSIDE = f'listener.name.inside.plain.sasl.jaas.config={PLAIN} user_admin="in";\n'
EXT = f'listener.name.ext.plain.sasl.jaas.config={PLAIN} user_app="app" user_admin="out";\n'
ALL = f'sasl.jaas.config={PLAIN} user_admin="all";\n'


def config_of(folder: Path, text: str, *words: str, jaas: str = "") -> Config:
    path = folder / "server.properties"
    path.write_text(LISTENERS + text)
    (folder / "jaas.conf").write_text(jaas)
    variables = {"KAFKA_OPTS": f"-Djava.security.auth.login.config={folder / 'jaas.conf'}"}
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    args = parser.parse_args(["--config", str(path), *words])
    return config_from_arguments(args, variables if jaas else {})


def accepted(cluster: Cluster, *attempts: str) -> set[str]:
    """Return those of `LISTENER NAME PASSWORD` that PLAIN accepts."""
    return {attempt for attempt in attempts if _is_accepted(cluster, *attempt.split())}


def _is_accepted(cluster: Cluster, listener: str, name: str, password: str) -> bool:
    (config,) = (each for each in cluster.config.listeners if each.name == listener)
    exchange = new_sasl_exchange("PLAIN", Session(config, 1, "127.0.0.1", 1), cluster)
    try:
        return exchange.respond(f"\0{name}\0{password}".encode()).principal == f"User:{name}"
    except SaslFailure:
        return False


ATTEMPTS = tuple(
    f"{listener} {user}"
    for listener in ("INSIDE", "EXT")
    for user in ("admin in", "admin out", "admin all", "admin cli", "app app")
)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (INSIDE + EXT, "", {"INSIDE admin in", "EXT admin out", "EXT app app"}),
        (EXT + INSIDE, "", {"INSIDE admin in", "EXT admin out", "EXT app app"}),
        (INSIDE, "", {"INSIDE admin in"}),
        (ALL, "", {"INSIDE admin all", "EXT admin all"}),
        (INSIDE + ALL, "", {"INSIDE admin in", "EXT admin all"}),
        (INSIDE + EXT + ALL, "", {"INSIDE admin in", "EXT admin out", "EXT app app"}),
        (INSIDE.replace(' user_admin="in"', "") + ALL, "", {"EXT admin all"}),
        (INSIDE + EXT, "--user admin:cli", {"INSIDE admin cli", "EXT admin cli", "EXT app app"}),
        (
            INSIDE + f'listener.name.ext.oauthbearer.sasl.jaas.config={PLAIN};\n{ALL}',
            "",
            {"INSIDE admin in", "EXT admin all"},
        ),
    ],
)  # fmt: skip
def test_passwords_are_those_of_the_listener(
    tmp_path: Path, text: str, words: str, expected: set[str]
) -> None:
    cluster = Cluster(config_of(tmp_path, text, *words.split()), SystemClock())
    assert accepted(cluster, *ATTEMPTS) == expected


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ('inside.KafkaServer {{ {0} user_admin="in"; }};', {"INSIDE admin in"}),
        (
            'KafkaServer {{ {0} user_admin="all"; }}; inside.KafkaServer {{ {0} user_admin=in; }};',
            {"INSIDE admin in", "EXT admin all"},
        ),
        (
            'ext.KafkaServer {{ {1}; {0} user_app="app"; }}; KafkaServer {{ {0} user_admin=in; }};',
            {"INSIDE admin in", "EXT app app"},
        ),
        ('KafkaServer {{ {0} user_admin="in"; }};', {"INSIDE admin in", "EXT admin in"}),
        ('Client {{ {0} user_admin="in"; }};', set()),
        ("ext.KafkaServer {{ {1}; }}; KafkaServer {{ {0} user_admin=in; }};", {"INSIDE admin in"}),
    ],
)
def test_sections_of_a_jaas_file_are_those_of_the_listener(
    tmp_path: Path, sections: str, expected: set[str]
) -> None:
    config = config_of(tmp_path, "", jaas=sections.format(PLAIN, SCRAM))
    assert accepted(Cluster(config, SystemClock()), *ATTEMPTS) == expected


@pytest.mark.parametrize("module", [SCRAM, PLAIN.replace(".plain.", ".")])
def test_users_of_plain_are_those_of_its_module(tmp_path: Path, module: str) -> None:
    with pytest.raises(ConfigError, match=r"LoginModule has no users of PLAIN"):
        config_of(tmp_path, INSIDE.replace(PLAIN, module))


def test_scram_users_are_those_of_the_listener(tmp_path: Path) -> None:
    inside = f'listener.name.inside.scram-sha-256.sasl.jaas.config={SCRAM} user_a="1";\n'
    cluster = Cluster(config_of(tmp_path, inside + EXT), SystemClock())
    users, kind = cluster.users, ScramMechanism.SCRAM_SHA_256
    assert users.scram_credential(kind, "a", "INSIDE") is not None
    assert users.scram_credential(kind, "a", "EXT") is None
    assert users.scram_credential(kind, "app", "EXT") is not None
    assert users.scram_credential(kind, "app", "INSIDE") is None


def test_a_new_password_is_that_of_all_listeners(tmp_path: Path) -> None:
    cluster = Cluster(config_of(tmp_path, INSIDE + EXT), SystemClock())
    assert cluster.users.names() == ["admin", "app"]
    before = cluster.users.scram_credential(ScramMechanism.SCRAM_SHA_256, "admin", "EXT")
    cluster.users.set_configured_user("admin", "cli")
    after = cluster.users.scram_credential(ScramMechanism.SCRAM_SHA_256, "admin", "EXT")
    assert before != after
    assert accepted(cluster, *ATTEMPTS) == {"INSIDE admin cli", "EXT admin cli", "EXT app app"}
    cluster.users.remove_configured_user("admin")
    assert accepted(cluster, *ATTEMPTS) == {"EXT app app"}


def test_users_without_a_listener_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "controller.listener.names=CONTROLLER\n" + "".join(
        EXT.replace(".ext.", f".{name}.") for name in ("other", "controller", "ext")
    )
    config = config_of(tmp_path, other)
    assert "note: no listener is named OTHER, so its users cannot" in capsys.readouterr().err
    assert accepted(Cluster(config, SystemClock()), *ATTEMPTS) == {"EXT app app", "EXT admin out"}


@pytest.mark.parametrize(
    ("text", "inside", "ext"),
    [
        ("", None, None),
        ("listener.name.inside.sasl.enabled.mechanisms=PLAIN", ("PLAIN",), None),
        ("sasl.enabled.mechanisms=SCRAM-SHA-512", ("SCRAM-SHA-512",), ("SCRAM-SHA-512",)),
        (
            "sasl.enabled.mechanisms=SCRAM-SHA-512\nlistener.name.ext.sasl.enabled.mechanisms=PLAIN",
            ("SCRAM-SHA-512",),
            ("PLAIN",),
        ),
        (
            "listener.name.ext.sasl.enabled.mechanisms=PLAIN, OAUTHBEARER",
            None,
            ("PLAIN", "OAUTHBEARER"),
        ),
    ],
)
def test_mechanisms_are_those_of_the_listener(
    tmp_path: Path, text: str, inside: tuple[str, ...] | None, ext: tuple[str, ...] | None
) -> None:
    """Kafka's `valuesWithPrefixOverride`: the setting of a listener takes precedence."""
    cluster = Cluster(config_of(tmp_path, text), SystemClock())
    for listener, expected in zip(cluster.config.listeners, (inside, ext), strict=True):
        mechanisms = expected or cluster.mechanisms
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"):
            session = Session(listener, 1, "127.0.0.1", 1)
            next_phase = AuthenticationPhase.AUTHENTICATE
            is_begun = begin_sasl_exchange(mechanism, session, cluster, next_phase)
            assert is_begun == (mechanism in mechanisms)


def test_an_unknown_mechanism_of_a_listener_is_an_error(tmp_path: Path) -> None:
    config = config_of(tmp_path, "listener.name.ext.sasl.enabled.mechanisms=MAGIC")
    with pytest.raises(ConfigError, match=r"unknown sasl.enabled.mechanisms MAGIC"):
        Cluster(config, SystemClock())
