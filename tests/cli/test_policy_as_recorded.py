"""`policy diff` and `policy plan` agree with a real broker's recorded decisions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.policy.access_changes import access_changes
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.config import Config
from tests.cli import record_policy_plan
from tests.cli.conftest import PLAINTEXT, SASL, Running
from tests.policy.naive import authorizer

SEEN = (179, 7, 23)
"""Numbers of decisions that the broker shows, that it hides, and that differ."""
MASK = (1 << 31) - 1
RECORDED: dict[str, Any] = json.loads(record_policy_plan.RECORDED.read_text())


HIDDEN = {"carol topic zebra"}
"""Topics that a user may not DESCRIBE, for which the broker returns no operations."""


def test_the_difference_is_that_of_the_brokers_decisions() -> None:
    """Compare the decisions about all names of the scenario, except for hidden ones."""
    old, new = (authorizer(parse_distinct_acls(RECORDED[side])) for side in ("old", "new"))
    changes = access_changes(old, new, RECORDED["release"])
    seen = unseen = differ = 0
    for question, before in RECORDED["before"].items():
        user, kind, name = question.split(" ")
        after = RECORDED["after"][question]
        for operation in supported_operations(ResourceType[kind.upper()]):
            actor = Actor(f"User:{user}", "127.0.0.1")
            action = Action(operation, ResourceType[kind.upper()], name)
            said = {change.gained for change in changes if change.affects_access(actor, action)}
            if question in HIDDEN and operation is not Operation.DESCRIBE:
                unseen += 1
                continue
            was, will = (bool(bits >> operation & 1) for bits in (before, after))
            assert said == ({will} if was != will else set()), (question, operation)
            seen += 1
            differ += was != will
    assert (seen, unseen, differ) == SEEN


def test_decisions_agree_with_the_broker() -> None:
    for side, responses in (("old", "before"), ("new", "after")):
        engine = authorizer(parse_distinct_acls(RECORDED[side]))
        for question, bits in RECORDED[responses].items():
            user, kind, name = question.split(" ")
            allowed = 0
            for operation in supported_operations(ResourceType[kind.upper()]):
                action = Action(operation, ResourceType[kind.upper()], name)
                is_allowed = engine.authorize(Actor(f"User:{user}", "127.0.0.1"), action).allowed
                allowed |= is_allowed << operation
            if bits or question not in HIDDEN:
                assert allowed == bits & MASK, (side, question)


def test_a_failed_plan_leaves_the_acls_of_a_real_broker_unchanged() -> None:
    assert RECORDED["failed"] == {"exit_code": 1, "acls_are_as_before": True}


def test_the_shim_behaves_as_recorded(
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
