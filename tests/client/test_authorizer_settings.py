"""Settings of the authorizer that brokers return, as recorded from real brokers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE, SUPER_USERS
from kafka_shim.client.client import connect
from kafka_shim.client.cluster_policy import (
    AuthorizerSettings,
    describe_authorizer_settings,
)
from kafka_shim.shim.config import Config
from tests.cli.conftest import PLAINTEXT, Running
from tests.client.record_authorizer_settings import RECORDED, SET_UPS, returned_entries

RECORDINGS: dict[str, Any] = json.loads(RECORDED.read_text())
HIDDEN = (None, None)
SETTINGS = {
    ("1.0.2", "open"): HIDDEN,
    ("1.0.2", "closed"): HIDDEN,
    ("1.0.2", "mode unset"): HIDDEN,
    ("open",): HIDDEN,
    ("closed",): HIDDEN,
    ("mode unset",): ("false", None),
}


@pytest.fixture
def start() -> Any:
    running = []

    def start_broker(config: Config) -> Running:
        running.append(Running(config))
        return running[-1]

    yield start_broker
    for each in running:
        each.stop()


@pytest.mark.parametrize("release", sorted(RECORDINGS))
@pytest.mark.parametrize("set_up", list(SET_UPS))
def test_settings_are_known_as_far_as_a_real_broker_lists_them(
    release: str,
    set_up: str,
    start: Callable[[Config], Running],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broker here lists what a real one does, so the client sees the same, unless it asks by
    the name that no real broker knows.
    """
    properties = SET_UPS[set_up]
    users = tuple(properties[SUPER_USERS].split(";"))
    fields: dict[str, Any] = {"super_users": users}
    if ALLOW_EVERYONE in properties:
        fields["properties"] = {ALLOW_EVERYONE: properties[ALLOW_EVERYONE]}
        fields["allow_everyone_if_no_acl_found"] = properties[ALLOW_EVERYONE] == "true"
    broker = start(Config(release=release, listeners=(PLAINTEXT,), **fields))
    recorded = RECORDINGS[release][set_up]
    assert returned_entries(broker.plaintext, (1, 2)) == recorded
    with connect(broker.plaintext) as client:
        known = describe_authorizer_settings(client)
        monkeypatch.setattr(
            "kafka_shim.client.cluster_policy._NAMES", [ALLOW_EVERYONE, SUPER_USERS]
        )
        settings = describe_authorizer_settings(client)
    mode = properties.get(ALLOW_EVERYONE, "false")
    assert known == AuthorizerSettings(mode, ";".join(sorted(users)), release.rpartition(".")[0])
    expected = SETTINGS.get((release, set_up)) or SETTINGS[(set_up,)]
    assert (settings.allow_everyone, settings.super_users) == expected


def test_who_may_not_describe_configs_knows_no_setting(start: Callable[[Config], Running]) -> None:
    broker = start(Config(listeners=(PLAINTEXT,), super_users=("User:admin",)))
    with connect(broker.plaintext) as client:
        settings = describe_authorizer_settings(client)
    assert settings == AuthorizerSettings()
