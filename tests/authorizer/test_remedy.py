"""The steps that allow accesses: whole, the smallest, and the narrowest."""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from kafka_shim.authorizer.authorizer import (
    AclCreateResult,
    AclDeleteResult,
    StandardAuthorizer,
)
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess, Step, steps_to_allow
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType

ALICE = Actor("User:alice", "10.0.0.1")
TOPIC, CLUSTER = ResourceType.TOPIC, ResourceType.CLUSTER
ALLOW, DENY = Permission.ALLOW, Permission.DENY


def acl(
    operation: Operation,
    name: str = "orders",
    permission: Permission = ALLOW,
    principal: str = "User:alice",
    kind: ResourceType = TOPIC,
) -> Acl:
    return Acl(kind, name, PatternType.LITERAL, principal, "*", operation, permission)


def access(*ways: tuple[Operation, str], any_name: bool = False) -> RequiredAccess:
    """Return an access with alternatives; the name of the cluster is on the cluster."""
    checks = [
        CheckedAction(Action(operation, CLUSTER if name == CLUSTER_NAME else TOPIC, name))
        for operation, name in ways
    ]
    if any_name:
        checks.append(CheckedAction(Action(Operation.WRITE, TOPIC, "*"), any_name=True))
    return RequiredAccess(ALICE, tuple((check,) for check in checks))


def steps(accesses: Iterable[RequiredAccess], *acls: Acl, is_open: bool = False) -> list[str]:
    authorizer = StandardAuthorizer(store=AclStore(acls), allow_everyone=is_open)
    found = steps_to_allow(authorizer, accesses)
    assert set(authorizer.store) == set(acls)
    return [f"{step.verb} {step.acl.operation.name} {step.acl.resource_name}" for step in found]


CREATE = ((Operation.CREATE, CLUSTER_NAME), (Operation.CREATE, "orders"))
DESCRIBE, WRITE = access((Operation.DESCRIBE, "orders")), access((Operation.WRITE, "orders"))


def test_an_operation_that_includes_another_is_enough() -> None:
    assert steps([DESCRIBE, WRITE]) == ["add WRITE orders"]
    assert steps([WRITE, DESCRIBE]) == ["add WRITE orders"]


def test_a_deny_is_removed_and_a_missing_allow_is_added() -> None:
    deny = acl(Operation.DESCRIBE, permission=DENY)
    assert steps([DESCRIBE, WRITE], deny) == ["add WRITE orders", "remove DESCRIBE orders"]


def test_an_acl_on_the_resource_is_preferred_to_one_on_the_cluster() -> None:
    assert steps([access(*CREATE)]) == ["add CREATE orders"]


def test_a_deny_of_exactly_this_is_removed_rather_than_evaded_on_the_cluster() -> None:
    deny = acl(Operation.CREATE, permission=DENY)
    assert steps([access(*CREATE)], deny) == ["add CREATE orders", "remove CREATE orders"]


def test_a_broad_deny_stays_if_an_alternative_needs_no_removal() -> None:
    deny = acl(Operation.CREATE, permission=DENY, principal="User:*")
    assert steps([access(*CREATE)], deny) == [f"add CREATE {CLUSTER_NAME}"]


def test_write_on_a_topic_is_enough_for_write_on_any_topic() -> None:
    idempotent = access((Operation.IDEMPOTENT_WRITE, CLUSTER_NAME), any_name=True)
    assert steps([idempotent]) == [f"add IDEMPOTENT_WRITE {CLUSTER_NAME}"]
    assert steps([idempotent, WRITE]) == ["add WRITE orders"]


def test_without_its_last_acl_a_resource_may_be_open_to_everyone() -> None:
    deny = acl(Operation.WRITE, permission=DENY)
    assert steps([WRITE], deny, is_open=True) == ["remove WRITE orders"]
    of_bob = acl(Operation.READ, principal="User:bob")
    both = ["add WRITE orders", "remove WRITE orders"]
    assert steps([WRITE], deny, of_bob, is_open=True) == both


def test_a_resource_that_is_open_to_everyone_needs_no_acl() -> None:
    everywhere = acl(Operation.READ, "other", principal="User:bob")
    read_other = access((Operation.READ, "other"))
    assert steps([WRITE, read_other], everywhere, is_open=True) == ["add READ other"]


def test_what_is_allowed_needs_no_steps() -> None:
    assert steps([WRITE], acl(Operation.ALL)) == []
    root = StandardAuthorizer(super_users=["User:alice"])
    assert steps_to_allow(root, [WRITE]) == ()


class DenyingAuthorizer:
    """A user's own class, which has ACLs but decides by something else."""

    def __init__(self, *acls: Acl) -> None:
        self._store = AclStore(acls)

    def configure(self, config: Mapping[str, str]) -> None:
        raise AssertionError

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        raise AssertionError

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        raise AssertionError

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        raise AssertionError

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return self._store.acls_matching(acl_filter)


def test_a_denial_that_the_acls_do_not_explain_has_no_steps() -> None:
    assert steps_to_allow(DenyingAuthorizer(acl(Operation.WRITE)), [WRITE]) == ()
    added = Step(is_addition=True, acl=acl(Operation.WRITE))
    assert steps_to_allow(DenyingAuthorizer(), [WRITE]) == (added,)


def test_the_number_of_decisions_grows_with_the_accesses_and_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decisions: list[Action] = []
    decide = StandardAuthorizer.decide_uncached

    def counting_decide(authorizer: StandardAuthorizer, actor: Actor, action: Action) -> Decision:
        decisions.append(action)
        return decide(authorizer, actor, action)

    monkeypatch.setattr(StandardAuthorizer, "decide_uncached", counting_decide)
    for count in (10, 100):
        decisions.clear()
        names = [f"orders{number}" for number in range(count)]
        accesses = [access((Operation.READ, name)) for name in names]
        accesses += [access((Operation.CREATE, CLUSTER_NAME), (Operation.CREATE, n)) for n in names]
        assert len(steps(accesses)) == 2 * count
        assert len(decisions) <= 20 * count
