"""OAUTHBEARER tokens are accepted and rejected as by real brokers."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.handlers.common import sasl_authentication
from kafka_shim.shim.sasl.bearer_settings import build_token_validator
from kafka_shim.testing import KafkaBroker, start
from tests.shim.sasl.bearer_cases import (
    HALF_A_CHARACTER,
    IMPOSSIBLE,
    LENIENT,
    SETS,
    STARTS,
    key_set,
    message,
    outcome,
    unsecured,
)

RECORDED = json.loads(Path(__file__).with_name("bearer_recorded.json").read_text())
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("keys") / "keys.json"
    found.write_text(key_set())
    return found


@pytest.fixture(scope="module")
def brokers(keys: Path) -> Iterator[dict[tuple[str, str], KafkaBroker]]:
    found: dict[tuple[str, str], KafkaBroker] = {}
    for release, sets in SETS.items():
        for name, (_, has_keys, more) in sets.items():
            told = {"sasl.enabled.mechanisms": "OAUTHBEARER", **more}
            if has_keys:
                told[JWKS_URL] = keys.as_uri()
            found[release, name] = start(in_process=True, properties=told, kafka_version=release)
    yield found
    for broker in found.values():
        broker.stop()


def test_every_case_is_recorded() -> None:
    found = {
        release: {name: set(cases) for name, (cases, _, _) in sets.items()}
        | ({STARTS: set(IMPOSSIBLE)} if STARTS in RECORDED[release] else {})
        for release, sets in SETS.items()
    }
    assert found == {
        release: {name: set(responses) for name, responses in sets.items()}
        for release, sets in RECORDED.items()
    }


@pytest.mark.parametrize(
    ("release", "name", "title"),
    [
        (release, name, title)
        for release, sets in SETS.items()
        for name, (cases, _, _) in sets.items()
        for title in cases
    ],
)
def test_a_token_is_accepted_or_rejected_as_recorded(
    brokers: dict[tuple[str, str], KafkaBroker], release: str, name: str, title: str
) -> None:
    case = SETS[release][name].cases[title]
    address = brokers[release, name].listeners["SASL_PLAINTEXT"]
    recorded = RECORDED[release][name][title]
    if title == HALF_A_CHARACTER:  # see docs/explanation/differences.md
        assert recorded == [[0, "", True]]
        recorded = RECORDED[release][name]["expires twice"]
    assert outcome(address, case) == recorded


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_unverified_issuers_and_audiences_must_be_allowed_since_4_4(keys: Path, name: str) -> None:
    told = {"sasl.enabled.mechanisms": "OAUTHBEARER", JWKS_URL: keys.as_uri(), **IMPOSSIBLE[name]}
    listener = ListenerConfig("X", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 0)
    config = Config(listeners=(listener,), properties=told, release="4.4")
    assert RECORDED["4.4.0"][STARTS][name] is False
    with pytest.raises(ConfigError, match=r"unverified\.(audience|issuer)"):
        Broker(config)


@pytest.mark.parametrize(("release", "ends"), [("2.8", False), ("3.3", True)])
def test_a_session_expires_with_its_token_in_later_releases(release: str, ends: bool) -> None:
    told = {"sasl.enabled.mechanisms": "OAUTHBEARER"}
    with start(in_process=True, properties=told, kafka_version=release) as broker:

        def case(now: int) -> bytes:
            return message(unsecured({"sub": "alice", "exp": now + 60}))

        assert outcome(broker.listeners["SASL_PLAINTEXT"], case) == [[0, "", ends]]


def test_settings_of_a_listener_override_those_of_the_broker(keys: Path) -> None:
    told = {JWKS_URL: "https://elsewhere", f"listener.name.inner.{JWKS_URL}": keys.as_uri()}
    build_token_validator(told, "INNER", LENIENT)
    with pytest.raises(ConfigError, match="read from files only"):
        build_token_validator(told, "OUTER", LENIENT)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "cannot read the keys in .*: No such file"),
        ("{", "not a JSON web key set"),
        ("[]", "not a JSON web key set"),
        ('{"keys": 1}', "not a JSON web key set"),
        ('{"keys": ["x"]}', "not a JSON web key set"),
        ('{"keys": [{"kty": "RSA"}]}', "not a JSON web key set"),
        ('{"keys": []}', "no usable key"),
        ('{"keys": [{"kty": "new"}]}', "no usable key"),
    ],
)
def test_invalid_keys_are_reported_at_startup(
    tmp_path: Path, content: str | None, text: str
) -> None:
    path = tmp_path / "keys.json"
    if content is not None:
        path.write_text(content)
    told = {"sasl.enabled.mechanisms": "OAUTHBEARER", JWKS_URL: path.as_uri()}
    listener = ListenerConfig("X", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 0)
    with pytest.raises(ConfigError, match=text):
        Broker(Config(listeners=(listener,), properties=told, release="4.3"))


def test_an_invalid_skew_is_reported(keys: Path) -> None:
    told = {JWKS_URL: keys.as_uri(), "sasl.oauthbearer.clock.skew.seconds": "-1"}
    with pytest.raises(ConfigError, match="expected a number of 0 or more"):
        build_token_validator(told, "X", LENIENT)


def test_without_the_extra_the_error_names_the_package() -> None:
    """Run in a new process where importing joserfc fails."""
    program = (
        "import sys; sys.modules['joserfc'] = None\n"
        "from kafka_shim.shim.sasl.bearer_settings import build_token_validator\n"
        f"build_token_validator({{{JWKS_URL!r}: 'file:///keys'}}, 'X', None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30
    )
    assert "checking signed tokens requires the extra `oauth`" in done.stderr


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("not-a-token", "it is not an unsecured JSON web token"),
        (unsecured({"sub": "alice", "iat": 1, "exp": 2}), "it has expired"),
        (unsecured({"exp": 4_102_444_800}), "its subject is missing"),
    ],
)
def test_the_log_says_why_a_token_is_refused(
    token: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients only get `invalid_token`, as from a real broker."""
    logged: list[dict[str, Any]] = []
    log = SimpleNamespace(info=lambda _, **values: logged.append(values))
    monkeypatch.setattr(sasl_authentication, "log", log)
    broker = start(properties={"sasl.enabled.mechanisms": "OAUTHBEARER"}, in_process=True)
    with broker:
        responses = outcome(broker.listeners["SASL_PLAINTEXT"], lambda _: message(token))
    assert [code for code, _, _ in responses] == [0, 58]
    assert [values["reason"] for values in logged] == [f"the token is refused: {reason}"]
