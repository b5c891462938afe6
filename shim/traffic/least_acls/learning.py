"""An authorizer that allows everything and remembers what was asked, question by question.

Of alternatives (KIP-277: CREATE on the cluster or on the topic; KIP-679: IDEMPOTENT_WRITE on the
cluster or WRITE on any topic) it turns down all but the last, which the requirements table lists as
the narrowest: so every alternative is asked, and none of a wider kind is taken for needed.
"""

from collections.abc import Iterable

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Because, Decision
from kafka_shim.authorizer.requirement import BoundRequirement, Effect, Requirement
from kafka_shim.authorizer.rules import AclRules
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.policy import Policy

ALLOWED = Decision(allowed=True, because=Because.DEFAULT_ALLOW)
TURNED_DOWN = Decision(allowed=False, because=Because.DEFAULT_DENY)

_UNSEEN = frozenset({Effect.HIDE, Effect.VALUE, Effect.EMPTY})


class Question(msgspec.Struct, frozen=True):
    """One requirement as it was put for one name: any of `alternatives` meets it.

    `any_name`: the last alternative is met on any resource of its type. `is_optional`: a denial
    shows no error, so whether the program needs it cannot be seen from here.
    """

    principal: str
    requirement: str
    alternatives: tuple[Action, ...]
    any_name: bool
    is_optional: bool


class AttentiveAuthorizer(StandardAuthorizer):
    """Knows which requirement a question belongs to; questions of no requirement are probes."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl] = ()) -> None:
        super().__init__(rules=rules, store=AclStore(acls))
        self._bound: BoundRequirement | None = None

    def begin(self, bound: BoundRequirement) -> None:
        """A requirement is about to be asked."""
        self._bound = bound if bound.needs else None

    def position(self, action: Action) -> tuple[BoundRequirement | None, bool]:
        """The requirement that the question is part of, and whether it is its last alternative.

        None for a probe: authorized operations were asked for (KIP-430), nothing depends on it.
        """
        bound = self._bound
        kinds = [(need.operation, need.resource_type) for need in bound.needs] if bound else []
        kind = (action.operation, action.resource_type)
        if kind not in kinds:
            return None, False
        if kind == kinds[-1]:
            self._bound = None
        return bound, kind == kinds[-1]


class LearningAuthorizer(AttentiveAuthorizer):
    """Allows, and collects the distinct questions in the order they came up."""

    def __init__(self, rules: AclRules) -> None:
        super().__init__(rules)
        self.questions: dict[Question, None] = {}
        self._asked: list[Action] = []

    def begin(self, bound: BoundRequirement) -> None:
        super().begin(bound)
        self._asked = []

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._answer(actor, action, any_name=False)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return self._answer(actor, Action(operation, resource_type, WILDCARD), any_name=True)

    def _answer(self, actor: Actor, action: Action, *, any_name: bool) -> Decision:
        bound, is_last = self.position(action)
        if bound is None:
            return ALLOWED
        self._asked.append(action)
        if not is_last:
            return TURNED_DOWN
        asked = tuple(self._asked)
        question = Question(actor.principal, bound.row.id, asked, any_name, is_unseen(bound))
        self.questions[question] = None
        return ALLOWED


class ProvingAuthorizer(AttentiveAuthorizer):
    """Decides by its ACLs, and collects what was denied so that it showed as an error."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl]) -> None:
        super().__init__(rules, acls)
        self.denied: dict[tuple[str, Action], None] = {}

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._noted(actor, action, super().authorize(actor, action))

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        decision = super().authorize_by_resource_type(actor, operation, resource_type)
        return self._noted(actor, Action(operation, resource_type, WILDCARD), decision)

    def _noted(self, actor: Actor, action: Action, decision: Decision) -> Decision:
        bound, is_last = self.position(action)
        if bound is not None and is_last and not decision.allowed and not is_unseen(bound):
            self.denied[actor.principal, action] = None
        return decision


def is_unseen(bound: BoundRequirement) -> bool:
    """Whether a denial is no error: the answer only says less."""
    return all(denial.effect in _UNSEEN for denial in bound.denials)


class AttentivePolicy(Policy):
    """Tells the authorizer which requirement the next questions belong to."""

    __slots__ = ("attentive",)

    def __init__(self, release: str, attentive: AttentiveAuthorizer, rules: AclRules) -> None:
        super().__init__(release, attentive, rules)
        self.attentive = attentive

    def bound(self, requirement: Requirement) -> BoundRequirement:
        bound = super().bound(requirement)
        self.attentive.begin(bound)
        return bound


def put_in_charge(cluster: Cluster, authorizer: AttentiveAuthorizer) -> None:
    """Let it decide; before the cluster's first connection."""
    cluster.policy = AttentivePolicy(cluster.release, authorizer, cluster.policy.rules)
