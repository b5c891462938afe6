"""Diff and plan agree with a real broker: what it answered before and after is what they say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.acl_formats import read
from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.authorizer.policy.difference import difference
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.config import Config
from tests.authorizer.policy.naive import authorizer
from tests.shim.cli import record_policy_plan
from tests.shim.cli.conftest import PLAINTEXT, SASL, Running

RECORDED: dict[str, Any] = json.loads(record_policy_plan.RECORDED.read_text())


def test_the_difference_is_what_the_broker_answers_differently() -> None:
    old, new = (authorizer(read(RECORDED[side])) for side in ("old", "new"))
    changes = difference(old, new, RECORDED["release"])
    seen = 0
    for question, before in RECORDED["before"].items():
        user, kind, name = question.split(" ")
        after = RECORDED["after"][question]
        for operation in Operation:
            action = Action(operation, ResourceType[kind.upper()], name)
            actor = Actor(f"User:{user}", "127.0.0.1")
            said = {change.gained for change in changes if change.covers(actor, action)}
            if operation is Operation.DESCRIBE:
                was, will = bool(before), bool(after)
            elif before > 0 and after > 0:
                was, will = (bool(bits >> operation & 1) for bits in (before, after))
            else:  # who may not describe it, or a group without members, is shown nothing else
                continue
            assert said == ({will} if was != will else set()), (question, operation)
            seen += was != will
    assert seen > 5


def test_the_shim_answers_as_the_broker_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Callable[..., Running]
) -> None:
    running = Running(
        Config(
            listeners=(PLAINTEXT, SASL),
            users={user: f"{user}-secret" for user in record_policy_plan.USERS},
            super_users=("User:ANONYMOUS", "User:admin"),
        )
    )
    monkeypatch.setattr(record_policy_plan, "RECORDED", tmp_path / "now.json")
    try:
        record_policy_plan.record(running.plaintext, running.sasl, RECORDED["release"])
    finally:
        running.stop()
    assert json.loads((tmp_path / "now.json").read_text()) == RECORDED
