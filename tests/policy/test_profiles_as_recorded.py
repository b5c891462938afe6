"""Streams and Connect on a real broker need exactly the ACLs that their profiles require."""

import json
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.protocol.api_versions import parse_minor_release
from tests.policy.record_profiles import RECORDED, STREAMS, USER, names_for, wanted

CONTENT: dict[str, Any] = json.loads(RECORDED.read_text())
UNUSED = "|DELETE|ALLOW"
"""Streams purges repartition topics from time to time, and continues if this is denied."""


def test_every_application_is_recorded() -> None:
    assert set(CONTENT["runs"]) == {*STREAMS, "connect"}


@pytest.mark.parametrize("profile", CONTENT["runs"])
def test_a_profile_is_what_the_application_needs(profile: str) -> None:
    release = CONTENT["release"]
    everything, *others = CONTENT["runs"][profile]
    assert everything["failure"] == ""
    assert len(others) == len(wanted(profile, "name", release))
    for position, run in enumerate(others):
        acls = wanted(profile, run["name"], release)
        entry = {"principal": f"User:{USER}", "can": profile, **names_for(profile, run["name"])}
        expectation = parse_expectation(entry, profile, parse_minor_release(release))
        assert _judge(acls).check_expectation(expectation).holds
        gone = acls.pop(position)
        assert not _judge(acls).check_expectation(expectation).holds, gone
        assert bool(run["failure"]) != run["without"].endswith(UNUSED), run


def _judge(acls: list[Any]) -> ExpectationChecker:
    return ExpectationChecker(StandardAuthorizer(store=AclStore(acls)))
