"""The rights matrix has every version of every API, and finds a permission check that is gone."""

from typing import Any

import msgspec
import pytest

from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.shim.request.access import Access
from tests.oracle.comparing import Tally
from tests.oracle.rights import principal_count, scenario
from tests.recordings.conformance.draw import Draw
from tests.recordings.conformance.generate import pairs_of
from tests.recordings.conformance.play import CLIENT_ID, play
from tests.recordings.peers.in_process import InProcess

RELEASE = "4.4.0"


def bodies(seed: int) -> list[tuple[str, int]]:
    return [(step.api, step.version) for step in scenario(RELEASE, seed).steps]


def test_all_principals_send_bodies_of_every_version() -> None:
    assert bodies(0) == bodies(7)
    known = {(key.wire_name, version) for key, version in pairs_of(Draw(RELEASE, 0))}
    assert set(bodies(0)) == known


def test_principals_differ() -> None:
    seeds = range(0, principal_count(RELEASE), 5)
    acls = {
        msgspec.json.encode(scenario(RELEASE, seed).acls).replace(b"r%d" % seed, b"r")
        for seed in seeds
    }
    assert len(acls) == len(seeds)


def test_a_missing_check_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def played() -> list[Any]:
        return play(made, InProcess(RELEASE, "authorizer", client_id=CLIENT_ID))

    made = scenario(RELEASE, 0)
    wanted = played()
    equal, planted = Tally(), Tally()
    equal.add(0, made, wanted, played())
    assert equal.all_equal
    allows = Access.allows_bound

    def allows_offset_deletion(self: Access, bound: BoundRequirement, *rest: Any) -> bool:
        return allows(self, bound, *rest) or bound.requirement.id == "OffsetDelete.group"

    monkeypatch.setattr(Access, "allows_bound", allows_offset_deletion)
    planted.add(0, made, wanted, played())
    assert {difference.step.api for difference in planted.differences} == {"OffsetDelete"}
