"""No proposed step opens or closes what it does not name, whatever was observed.

The truth is a brute force over all accesses in a small world, written from the semantics of ACLs.
"""

import itertools
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.remedy import (
    CheckedAction,
    RequiredAccess,
    Step,
    opening_of_unknown_setting,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.guards import (
    acls_that_alone_allow_access,
    acls_that_open_access,
    find_overruled_allows,
    notes_on_last_acls,
)
from kafka_shim.pipeline.acls.removable import usage_of_each_acl
from kafka_shim.policy.formats import format_acls_losslessly, parse_distinct_acls
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from tests.pipeline.traces import TraceMaker, random_trace
from tests.support.acls import make_acl
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.folders("examples/demo.yaml")]

USERS, HOSTS = ("User:a", "User:b"), ("h1", "h2")
NAMES = ("orders", "orders-secret", "other", "x")
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
WORLD = list(itertools.product(USERS, HOSTS, OPERATIONS, NAMES))
PATTERNS = (
    *(("orders", False), ("orders-secret", False), ("other", False), ("*", False)),
    *(("ord", True), ("orders-", True)),
)
DEMO = Path(__file__).parents[2] / "examples" / "demo.yaml"


def is_allowed(access: tuple[str, str, Operation, str], acls: list[Acl], everyone: bool) -> bool:
    """Decide as KIP-11 and KIP-290 say: a DENY wins, READ and WRITE include DESCRIBE."""
    user, host, operation, name = access
    on_name = [
        acl
        for acl in acls
        if acl.resource_name in (name, "*")
        or (acl.pattern_type is PatternType.PREFIXED and name.startswith(acl.resource_name))
    ]
    if not on_name:
        return everyone
    mine = [a for a in on_name if a.principal in (user, "User:*") and a.host in (host, "*")]
    denied = {a.operation for a in mine if a.permission is Permission.DENY}
    allowed = {a.operation for a in mine if a.permission is Permission.ALLOW}
    if denied & {operation, Operation.ALL}:
        return False
    included = {Operation.READ, Operation.WRITE} if operation is Operation.DESCRIBE else set()
    return bool(allowed & {operation, Operation.ALL, *included})


def random_policy(rng: random.Random) -> list[Acl]:
    found = set()
    for _ in range(rng.randint(2, 10)):
        name, is_prefix = rng.choice(PATTERNS)
        found.add(
            Acl(
                ResourceType.TOPIC,
                name,
                PatternType.PREFIXED if is_prefix else PatternType.LITERAL,
                rng.choice((*USERS, "User:*")),
                rng.choice((*HOSTS, "*", "*")),
                rng.choice((*OPERATIONS, Operation.ALL)),
                rng.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
            )
        )
    return sorted(found, key=str)


@pytest.mark.parametrize("everyone", [False, True])
def test_nothing_that_is_denied_is_allowed_after_a_proposed_removal(everyone: bool) -> None:
    rng = random.Random(54)
    removed = 0
    for _ in range(300):
        acls = random_policy(rng)
        present = AclSet(tuple(acls), allow_everyone_if_no_acl=everyone)
        allows = [acl for acl in acls if acl.permission is Permission.ALLOW]
        kept = frozenset(rng.sample(allows, len(allows) // 2))  # the trace cannot show their use
        gone = {
            use.acl
            for use in usage_of_each_acl(present, [], [], kept)
            if use.can_be_removed_with_others
        }
        rest = [acl for acl in acls if acl not in gone]
        removed += len(gone)
        for access in WORLD:
            before, after = (is_allowed(access, each, everyone) for each in (acls, rest))
            assert before or not after, (access, acls, gone)
    assert removed > 100


def test_what_a_deny_holds_back_is_named() -> None:
    """Every access that only the removal of a DENY would allow is by a named ALLOW."""
    rng = random.Random(55)
    held = 0
    for _ in range(300):
        acls = random_policy(rng)
        allows = [acl for acl in acls if acl.permission is Permission.ALLOW]
        for deny in (acl for acl in acls if acl.permission is Permission.DENY):
            named = set(find_overruled_allows(deny, allows))
            rest = [acl for acl in acls if acl is not deny]
            without = [acl for acl in rest if acl not in named]
            for access in WORLD:
                if is_allowed(access, rest, False) and not is_allowed(access, acls, False):
                    held += 1
                    assert not is_allowed(access, without, False), (access, deny, named)
            for allow in named:  # alone, it allows something that the DENY takes back
                assert any(
                    is_allowed(access, [allow], False)
                    and not is_allowed(access, [allow, deny], False)
                    for access in WORLD
                ), (deny, allow)
    assert held > 300


ADDRESSES = {"h1": "10.0.0.1", "h2": "10.0.0.2", "*": "*"}
ADDRESSED_WORLD = [(user, ADDRESSES[host], what, name) for user, host, what, name in WORLD]


def addressed_policy(rng: random.Random) -> list[Acl]:
    """Return a policy without hosts that no client can have, since these have no effect."""
    return [msgspec.structs.replace(acl, host=ADDRESSES[acl.host]) for acl in random_policy(rng)]


def after_steps(acls: list[Acl], steps: tuple[Step, ...]) -> list[Acl]:
    removed = {step.acl for step in steps if not step.is_addition}
    added = [step.acl for step in steps if step.is_addition]
    return [*(acl for acl in acls if acl not in removed), *added]


@pytest.mark.parametrize("everyone", [False, True])
def test_what_a_remedy_opens_and_closes_is_said(everyone: bool) -> None:
    """Opened is only what an added ACL or a removed DENY names, or what the texts name."""
    rng = random.Random(56)
    said = {"open to everyone": 0, "on all topics": 0, "to all names": 0, "other principals": 0}
    for _ in range(300):
        acls = random_policy(rng)
        user, host, operation, name = rng.choice(WORLD)
        name = rng.choice((name, name, "*"))
        if is_allowed((user, host, operation, name), acls, everyone):
            continue
        authorizer = StandardAuthorizer(store=AclStore(acls), allow_everyone=everyone)
        check = CheckedAction(Action(operation, ResourceType.TOPIC, name))
        needed = RequiredAccess(Actor(user, host), ((check,),))
        steps = steps_to_allow(authorizer, [needed])
        text = "; ".join(side_effects_of_steps(authorizer, steps, [needed]))
        rest = after_steps(acls, steps)
        added = [step.acl for step in steps if step.is_addition]
        for access in WORLD:
            before, after = (is_allowed(access, each, everyone) for each in (acls, rest))
            assert after or not before, (access, acls, steps)
            if before or not after or access[3] == name:
                is_own = access[0] == user or "other principals" in text
                assert before or not after or is_own or "open to everyone" in text, (access, text)
                continue
            if is_allowed(access, added, False):
                kind = "on all topics"
            elif is_allowed(access, [each for each in rest if each not in added], False):
                kind = "other principals" if access[0] != user else "to all names"
            else:
                kind = "open to everyone"
            said[kind] += 1
            assert kind in text, (access, acls, steps, text)
    del said["other principals"]
    assert bool(said.pop("open to everyone")) is everyone
    assert min(said.values()) > 5, said


def test_steps_open_nothing_in_between_on_a_broker_with_an_unknown_setting() -> None:
    """The steps are computed without `allow.everyone.if.no.acl.found`, and the broker has it."""
    rng = random.Random(58)
    several = opening = 0
    for _ in range(600):
        acls = random_policy(rng)
        user, host, operation, name = rng.choice(WORLD)
        authorizer = StandardAuthorizer(store=AclStore(acls))
        check = CheckedAction(Action(operation, ResourceType.TOPIC, name))
        needed = RequiredAccess(Actor(user, host), ((check,),))
        steps = steps_to_allow(authorizer, [needed])
        states = [after_steps(acls, steps[:taken]) for taken in range(len(steps) + 1)]
        several += len(steps) > 1
        texts = side_effects_of_steps(authorizer, steps, [needed])
        text = "; ".join((*texts, *opening_of_unknown_setting(authorizer, steps)))
        for access in WORLD:
            first, *between = (is_allowed(access, each, True) for each in states)
            last = is_allowed(access, states[-1], True)
            assert first or last or not any(between), (access, acls, steps)
            if last and not first and access[0] != user:
                opening += "open to everyone" in text
                assert "open to everyone" in text or "other principals" in text, (access, steps)
    assert min(several, opening) > 20, (several, opening)


@pytest.mark.parametrize("permission", [Permission.ALLOW, Permission.DENY])
def test_what_a_first_acl_closes_is_said(permission: Permission) -> None:
    rng = random.Random(57)
    closing = 0
    for _ in range(300):
        acls = addressed_policy(rng)[:2]
        chosen = rng.choice(addressed_policy(rng))
        acl = msgspec.structs.replace(chosen, permission=permission)
        if acl in acls:
            continue
        steps = (Step(is_addition=True, acl=acl),)
        authorizer = StandardAuthorizer(store=AclStore(acls), allow_everyone=True)
        text = "; ".join(side_effects_of_steps(authorizer, steps, ()))
        lost = [
            access
            for access in ADDRESSED_WORLD
            if is_allowed(access, acls, True) and not is_allowed(access, [*acls, acl], True)
        ]
        is_of_others = any(access[0] != acl.principal != "User:*" for access in lost)
        closing += is_of_others
        assert "the first ACL closes" in text or not is_of_others, (acl, acls)
        opens = set(acls_that_open_access(AclSet(tuple(acls), (), True), [acl]))
        gained = any(
            is_allowed(access, [*acls, acl], True) and not is_allowed(access, acls, True)
            for access in ADDRESSED_WORLD
        )
        assert opens or not gained, (acl, acls)
    assert closing > 20


@pytest.mark.parametrize("job", ["unused-acls", "least-acls", "findings"])
def test_no_job_proposes_to_remove_the_deny_of_the_demo(
    job: str, tmp_path: Path, capsys: Any
) -> None:
    acls = parse_distinct_acls(DEMO.read_text())
    file = tmp_path / "acls.yaml"
    file.write_text(format_acls_losslessly(acls, "yaml"))
    random_trace(tmp_path / "trace", random.Random(1), StandardAuthorizer(store=AclStore(acls)), 50)
    words = ["pipeline", job, str(tmp_path / "trace"), "--accept-incomplete"]
    words += ["--against" if job == "least-acls" else "--acls", str(file)]
    if job == "findings":
        words += ["--history", str(tmp_path / "h"), "--pull-request", str(tmp_path / "pr")]
    assert main(words) == 0
    output = capsys.readouterr().out
    if job == "findings":
        output += (tmp_path / "pr" / "kafka-acls.sh").read_text()
        assert (
            "Deny" in (tmp_path / "pr" / "acls.yaml").read_text()
            or "deny" in (tmp_path / "pr" / "acls.yaml").read_text()
        )
    (deny,) = (acl for acl in acls if acl.permission is Permission.DENY)
    assert re.search("--remove --force", output)
    assert format_command("--remove --force", deny) not in output
    if job == "unused-acls":
        assert "kept: 1 DENY ACL" in output
        assert (
            "overrules {principal: User:bob, allow: Read, topic: orders, pattern: prefixed}"
            in output
        )


def test_acls_that_change_access_are_told_from_those_that_do_not() -> None:
    rng = random.Random(7)

    def decisions(acls: list[Acl]) -> list[bool]:
        return [is_allowed(access, acls, False) for access in ADDRESSED_WORLD]

    told = {True: 0, False: 0}
    for _ in range(300):
        acls = addressed_policy(rng)
        before = decisions(acls)
        allows = [acl for acl in acls if acl.permission is Permission.ALLOW]
        alone = acls_that_alone_allow_access(AclSet(tuple(acls)), allows)
        idle = set(allows) - set(alone)
        assert decisions([acl for acl in acls if acl not in idle]) == before
        added = rng.choice(addressed_policy(rng))
        opening = acls_that_open_access(AclSet(tuple(acls)), [added])
        if added.permission is Permission.ALLOW and not opening:
            assert decisions([*acls, added]) == before
        told[bool(idle)] += 1
        told[bool(opening)] += 1
    assert min(told.values()) > 50


def test_removals_that_take_access_away_are_listed_apart(tmp_path: Path, capsys: Any) -> None:
    """Describe on the group was observed, Delete was not: the trace does not show its use."""
    acls = [
        make_acl(Operation.READ, "orders"),
        make_acl(Operation.DESCRIBE, "orders"),
        make_acl(Operation.DELETE, "orders"),
    ]
    path = tmp_path / "acls.csv"
    path.write_text(format_acls_losslessly(acls, "csv"))
    maker = TraceMaker(tmp_path / "trace", StandardAuthorizer(store=AclStore(acls)))
    for operation in (Operation.READ, Operation.DESCRIBE):
        asked = [(operation, ResourceType.TOPIC, "orders")]
        maker.ask("User:alice", "h", ApiKey.FETCH, asked)
    maker.close()
    words = ["pipeline", "unused-acls", str(tmp_path / "trace"), "--accept-incomplete"]
    assert main([*words, "--acls", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    harmless = lines.index("1 of these change no access, observed or not:")
    taking = next(n for n, line in enumerate(lines) if "take away access" in line)
    commands = {n: line for n, line in enumerate(lines) if "--remove" in line}
    assert {n: "Delete" in line for n, line in commands.items()} == {
        harmless + 1: False,
        taking + 1: True,
    }


@pytest.mark.parametrize("everyone", [False, True])
def test_removals_that_may_open_resources_say_so(everyone: bool) -> None:
    """Whether they do is up to a setting that a trace need not show."""
    rng = random.Random(58)
    may_open = 0
    for _ in range(300):
        acls = [acl for acl in random_policy(rng) if acl.permission is Permission.ALLOW]
        removed = set(rng.sample(acls, len(acls) // 2))
        rest = [acl for acl in acls if acl not in removed]
        opens = any(
            is_allowed(access, rest, True) and not is_allowed(access, acls, True)
            for access in WORLD
        )
        notes = notes_on_last_acls(AclSet(tuple(acls), (), everyone), removed)
        may_open += opens
        assert notes or not opens or everyone, (acls, removed)
        assert not everyone or not notes
    assert may_open > 50


def test_added_acls_that_open_access_are_named(tmp_path: Path, capsys: Any) -> None:
    """Today's ACL is for one host, and the least ACL for the same access is for all."""
    acls = [make_acl(Operation.READ, "orders", host="h")]
    path = tmp_path / "acls.csv"
    path.write_text(format_acls_losslessly(acls, "csv"))
    maker = TraceMaker(tmp_path / "trace", StandardAuthorizer(store=AclStore(acls)))
    maker.ask("User:alice", "h", ApiKey.FETCH, [(Operation.READ, ResourceType.TOPIC, "orders")])
    maker.close()
    words = ["pipeline", "least-acls", str(tmp_path / "trace"), "--accept-incomplete"]
    assert main([*words, "--against", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1 to add would open what today's ACLs deny" in text
    assert "  {principal: User:alice, allow: Read, topic: orders}" in text


def test_acls_that_close_what_is_open_to_everyone_are_named(tmp_path: Path, capsys: Any) -> None:
    """The first of two ACLs denies the second principal until its own follows."""
    path = tmp_path / "acls.csv"
    path.write_text(format_acls_losslessly([make_acl(Operation.READ, "other")], "csv"))
    authorizer = StandardAuthorizer(allow_everyone=True)
    maker = TraceMaker(tmp_path / "trace", authorizer)
    for user in ("User:alice", "User:bob"):
        maker.ask(user, "h", ApiKey.FETCH, [(Operation.READ, ResourceType.TOPIC, "orders")])
    maker.close()
    words = ["pipeline", "least-acls", str(tmp_path / "trace"), "--accept-incomplete"]
    assert main([*words, "--against", str(path)]) == 0
    text = capsys.readouterr().out
    assert "2 to add would close what is open to everyone today, to all others:" in text
    assert "in one request, as `policy plan --apply` does" in text
    assert "would open" not in text
    assert main(words) == 0
    assert "these ACLs close theirs to all others" in capsys.readouterr().out
