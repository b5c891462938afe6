"""No step of a plan takes access away that both sides allow, or allows what both sides deny."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.policy.formats.documents import load_document
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.policy.interim_access import InterimChange, interim_changes
from kafka_shim.policy.plan import REQUEST_STEPS_MAX, StepGroup, pack_requests, planned_groups
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive, naive_by_type
from tests.policy.naive import NEWEST, authorizer, questions

WRITE, TOPIC = Operation.WRITE, ResourceType.TOPIC


def planned_requests(
    old: list[Acl], new: list[Acl], release: str, steps_max: int = REQUEST_STEPS_MAX
) -> list[StepGroup]:
    return pack_requests(planned_groups(old, new, release), steps_max)


def interim(
    old: Sequence[Acl], new: Sequence[Acl], units: Sequence[StepGroup], *, everyone: bool
) -> list[InterimChange]:
    sides = (authorizer(old, everyone=everyone), authorizer(new, everyone=everyone))
    return interim_changes(*sides, units, NEWEST)


def acls(text: str) -> list[Acl]:
    return parse_acl_content(load_document(text))


def is_stated(changes: list[InterimChange], unit: int, actor: Actor, action: Action | None) -> bool:
    return any(
        each.first <= unit <= each.last
        and (
            each.change is None
            or (
                each.change.affects_access(actor, action)
                if action is not None
                else each.change.names is None and each.change.applies_to_actor(actor)
            )
        )
        for each in changes
    )


@pytest.mark.deep
@settings(max_examples=30, deadline=None)
@given(
    ACL_SETS.map(lambda acls: acls[:8]),
    ACL_SETS.map(lambda acls: acls[:8]),
    st.booleans(),
    st.sampled_from(["step", "group", "request"]),
)
def test_what_is_lost_or_opened_between_steps_is_stated(
    old: list[Acl], new: list[Acl], everyone: bool, unit: str
) -> None:
    """The naive engine finds nothing else, for named topics and for any topic (KIP-679)."""
    groups = planned_groups(old, new, NEWEST)
    units_by_kind: dict[str, list[StepGroup]] = {
        "step": [(step,) for group in groups for step in group],
        "group": groups,
        "request": planned_requests(old, new, NEWEST),
    }
    units = units_by_kind[unit]
    stated = interim(old, new, units, everyone=everyone)
    named = list(questions([*old, *new], [WRITE], [TOPIC]))
    unnamed = list(questions([*old, *new], [WRITE], [TOPIC], stems=False))

    def decide(present: set[Acl], actor: Actor, action: Action | None) -> bool:
        if action is not None:
            return naive(present, actor, action, everyone)
        probe = Action(WRITE, TOPIC, "hardcode")
        return naive(present, actor, probe, everyone) or bool(
            naive_by_type(present, actor, WRITE, TOPIC)
        )

    accesses = [*named, *((actor, None) for actor, _ in unnamed)]
    before, after = ([decide(set(side), *each) for each in accesses] for side in (old, new))
    present = set(old)
    for number, steps in enumerate(units, start=1):
        for step in steps:
            assert (step.acl in present) != step.is_addition
            (present.add if step.is_addition else present.discard)(step.acl)
        now = [decide(present, *each) for each in accesses]
        for access, was, will, is_so in zip(accesses, before, after, now, strict=True):
            if was is will and is_so is not was:
                assert is_stated(stated, number, *access), (number, access, was)
    assert present == set(new)
    if unit == "request" and not any(step.acl.resource_type is TOPIC for u in units for step in u):
        assert not stated


OPEN_TO_TWO = """
- {principal: User:a, allow: Read, topic: t}
- {principal: User:b, allow: Read, topic: t}
"""


def test_acls_that_close_a_resource_are_added_together() -> None:
    """One after the other, the first one would lock the second principal out."""
    new = acls(OPEN_TO_TWO)
    [request] = planned_requests([], new, NEWEST)
    assert len(request) == 2
    steps = [(step,) for step in request]
    [locked_out] = interim([], new, steps, everyone=True)
    assert (locked_out.first, locked_out.last) == (1, 1)
    assert locked_out.change is not None
    assert (locked_out.change.principal, locked_out.change.gained) == ("User:b", False)
    assert not interim([], new, steps, everyone=False)
    assert not interim([], new, [request], everyone=True)
    assert interim(new, [], [(step,) for [step] in steps], everyone=True) == []


def test_acls_that_open_a_resource_are_removed_together() -> None:
    old = acls(OPEN_TO_TWO)
    steps = [(step,) for step in planned_requests(old, [], NEWEST)[0]]
    [locked_out] = interim(old, [], steps, everyone=True)
    assert locked_out.change is not None
    assert locked_out.change.principal == "User:a"


def test_a_resource_that_keeps_other_acls_is_safe_in_any_order() -> None:
    kept = acls("- {principal: User:c, allow: Read, topic: t}")
    steps = [(step,) for step in planned_requests(kept, kept + acls(OPEN_TO_TWO), NEWEST)[0]]
    assert not interim(kept, kept + acls(OPEN_TO_TWO), steps, everyone=True)


MOVED = """
- {principal: User:a, allow: Write, topic: t}
- {principal: User:a, deny: Write, topic: u}
"""


def test_write_on_any_topic_that_moves_from_one_topic_to_another_is_lost_in_between() -> None:
    """Both sets allow it, but while both exist, each DENY covers the other's ALLOW."""
    old = acls(MOVED)
    new = acls(MOVED.replace("topic: t", "topic: x").replace("topic: u", "topic: t"))
    new = [replace(acl, resource_name=acl.resource_name.replace("x", "u")) for acl in new]
    requests = planned_requests(old, new, NEWEST)
    assert [request[0].is_addition for request in requests] == [True, False]
    [lost] = interim(old, new, requests, everyone=False)
    assert lost.change is not None
    assert (lost.change.names, lost.change.gained, lost.first, lost.last) == (None, False, 1, 1)


def test_groups_are_not_split_unless_they_exceed_a_request() -> None:
    topics = [f"- {{principal: User:a, allow: [Read, Alter], topic: t{n}}}" for n in range(6)]
    new = acls("\n".join(topics))
    requests = planned_requests([], new, NEWEST, steps_max=5)
    assert [len(request) for request in requests] == [4, 4, 4]
    whole = acls("- {principal: User:a, allow: Delete, topic: '*'}")
    assert [len(r) for r in planned_requests([], new + whole, NEWEST, steps_max=5)] == [5, 5, 3]
