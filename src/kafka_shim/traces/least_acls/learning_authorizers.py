"""An authorizer that allows everything and records the checks.

Of alternatives (KIP-277: CREATE on the cluster or on the topic; KIP-679: IDEMPOTENT_WRITE on the
cluster or WRITE on any topic) it denies all but the last, which is the narrowest in the
requirements table. So every alternative is checked, and no wider one is recorded as needed.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess
from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.state.authorization import ClusterAuthorization
from kafka_shim.shim.state.cluster import Cluster

ALLOWED = Decision(allowed=True, reason=DecisionReason.DEFAULT_ALLOW)
DENIED_FOR_NEXT_ALTERNATIVE = Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)


class RequirementCheck(NamedTuple):
    """A check of an alternative of a requirement."""

    bound: BoundRequirement
    is_last_alternative: bool


class LearnedNeed(NamedTuple):
    """An access that the program needs, from any host.

    `is_optional`: a denial is not visible as an error, so whether it is needed is unknown.
    """

    required: RequiredAccess
    is_optional: bool


class RequirementTrackingAuthorizer(StandardAuthorizer):
    """Knows the requirement of each check; checks without a requirement are probes."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl] = ()) -> None:
        super().__init__(rules=rules, store=AclStore(acls))
        self._bound: BoundRequirement | None = None

    def begin_requirement(self, bound: BoundRequirement) -> None:
        """Begin the checks of a requirement."""
        self._bound = bound if bound.needs else None

    def match_requirement(self, action: Action) -> "RequirementCheck | None":
        """Return the part of a check in its requirement, which the last alternative ends.

        None for a probe: authorized operations (KIP-430), on which nothing depends.
        """
        bound = self._bound
        kinds = [(need.operation, need.resource_type) for need in bound.needs] if bound else []
        kind = (action.operation, action.resource_type)
        if bound is None or kind not in kinds:
            return None
        if kind == kinds[-1]:
            self._bound = None
        return RequirementCheck(bound, is_last_alternative=kind == kinds[-1])


class LearningAuthorizer(RequirementTrackingAuthorizer):
    """Allows the last alternative of every requirement, and collects the needs in their order."""

    def __init__(self, rules: AclRules) -> None:
        super().__init__(rules)
        self.needs: dict[LearnedNeed, None] = {}
        self._checked_actions: list[Action] = []

    def begin_requirement(self, bound: BoundRequirement) -> None:
        super().begin_requirement(bound)
        self._checked_actions = []

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._record_need(actor, action, any_name=False)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return self._record_need(actor, Action(operation, resource_type, WILDCARD), any_name=True)

    def _record_need(self, actor: Actor, action: Action, *, any_name: bool) -> Decision:
        check = self.match_requirement(action)
        if check is None:
            return ALLOWED
        self._checked_actions.append(action)
        if not check.is_last_alternative:
            return DENIED_FOR_NEXT_ALTERNATIVE
        *others, last = self._checked_actions
        checks = (*map(CheckedAction, others), CheckedAction(last, any_name))
        required = RequiredAccess(
            Actor(actor.principal, WILDCARD), tuple((each,) for each in checks)
        )
        is_optional = not check.bound.denial_is_error_in_some_version
        self.needs[LearnedNeed(required, is_optional)] = None
        return ALLOWED


class ProvingAuthorizer(RequirementTrackingAuthorizer):
    """Decides with its ACLs, and collects the denials that are visible as errors."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl]) -> None:
        super().__init__(rules, acls)
        self.denied: dict[tuple[str, Action], None] = {}

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._record_visible_denial(actor, action, super().authorize(actor, action))

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        decision = super().authorize_by_resource_type(actor, operation, resource_type)
        return self._record_visible_denial(
            actor, Action(operation, resource_type, WILDCARD), decision
        )

    def _record_visible_denial(self, actor: Actor, action: Action, decision: Decision) -> Decision:
        check = self.match_requirement(action)
        if (
            check is not None
            and check.is_last_alternative
            and not decision.allowed
            and check.bound.denial_is_error_in_some_version
        ):
            self.denied[actor.principal, action] = None
        return decision


def install_authorizer(cluster: Cluster, authorizer: RequirementTrackingAuthorizer) -> None:
    """Make it the cluster's authorizer; to be called before the first connection."""
    cluster.policy = ClusterAuthorization(cluster.release, authorizer, cluster.policy.rules)
    cluster.policy.on_bound = authorizer.begin_requirement
