"""No step of a plan takes access away that both sides allow, or allows what both sides deny."""

import pytest
from hypothesis import given, settings

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.plan import steps_safe_at_every_point
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.policy.naive import questions
from tests.authorizer.test_against_naive import ACL_SETS, naive


@pytest.mark.deep
@settings(max_examples=25, deadline=None)
@given(ACL_SETS.map(lambda acls: acls[:8]), ACL_SETS.map(lambda acls: acls[:8]))
def test_every_step_is_safe(old: list[Acl], new: list[Acl]) -> None:
    asked = list(questions([*old, *new], [Operation.WRITE], [ResourceType.TOPIC]))
    before, after = ([naive(side, *question, False) for question in asked] for side in (old, new))
    present = set(old)
    for step in steps_safe_at_every_point(old, new):
        assert (step.acl in present) != step.is_addition
        (present.add if step.is_addition else present.discard)(step.acl)
        now = [naive(present, *question, False) for question in asked]
        for was, will, is_so in zip(before, after, now, strict=True):
            assert is_so if was and will else (was or will or not is_so)
    assert present == set(new)
