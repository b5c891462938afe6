"""An authorizer that allows everything and records the checks.

Of alternatives (KIP-277: CREATE on the cluster or on the topic; KIP-679: IDEMPOTENT_WRITE on the
cluster or WRITE on any topic) it denies all but the last, which is the narrowest in the
requirements table. So every alternative is checked, and no wider one is recorded as needed.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.least_acls import CheckedNeed
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.state.authorization import AuthorizationPolicy
from kafka_shim.shim.state.cluster import Cluster

ALLOWED = Decision(allowed=True, reason=DecisionReason.DEFAULT_ALLOW)
TURNED_DOWN = Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)


class RequirementTrackingAuthorizer(StandardAuthorizer):
    """Knows the requirement of each check; checks without a requirement are probes."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl] = ()) -> None:
        super().__init__(rules=rules, store=AclStore(acls))
        self._bound: BoundRequirement | None = None

    def begin_requirement(self, bound: BoundRequirement) -> None:
        """Begin the checks of a requirement."""
        self._bound = bound if bound.needs else None

    def requirement_and_is_last_alternative(
        self, action: Action
    ) -> tuple[BoundRequirement | None, bool]:
        """Return the requirement of a check, and whether it is its last alternative.

        The requirement is None for a probe: authorized operations (KIP-430), on which nothing
        depends.
        """
        bound = self._bound
        kinds = [(need.operation, need.resource_type) for need in bound.needs] if bound else []
        kind = (action.operation, action.resource_type)
        if kind not in kinds:
            return None, False
        if kind == kinds[-1]:
            self._bound = None
        return bound, kind == kinds[-1]


class LearningAuthorizer(RequirementTrackingAuthorizer):
    """Allows everything, and collects the distinct checks in their order."""

    def __init__(self, rules: AclRules) -> None:
        super().__init__(rules)
        self.needs: dict[CheckedNeed, None] = {}
        self._checked_actions: list[Action] = []

    def begin_requirement(self, bound: BoundRequirement) -> None:
        super().begin_requirement(bound)
        self._checked_actions = []

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._record_check(actor, action, any_name=False)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return self._record_check(actor, Action(operation, resource_type, WILDCARD), any_name=True)

    def _record_check(self, actor: Actor, action: Action, *, any_name: bool) -> Decision:
        bound, is_last = self.requirement_and_is_last_alternative(action)
        if bound is None:
            return ALLOWED
        self._checked_actions.append(action)
        if not is_last:
            return TURNED_DOWN
        checked_actions = tuple(self._checked_actions)
        is_optional = not bound.denial_is_error_in_some_version
        need = CheckedNeed(
            actor.principal, bound.requirement.id, checked_actions, any_name, is_optional
        )
        self.needs[need] = None
        return ALLOWED


class ProvingAuthorizer(RequirementTrackingAuthorizer):
    """Decides with its ACLs, and collects the denials that are visible as errors."""

    def __init__(self, rules: AclRules, acls: Iterable[Acl]) -> None:
        super().__init__(rules, acls)
        self.denied: dict[tuple[str, Action], None] = {}

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._record_denial(actor, action, super().authorize(actor, action))

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        decision = super().authorize_by_resource_type(actor, operation, resource_type)
        return self._record_denial(actor, Action(operation, resource_type, WILDCARD), decision)

    def _record_denial(self, actor: Actor, action: Action, decision: Decision) -> Decision:
        bound, is_last = self.requirement_and_is_last_alternative(action)
        if (
            bound is not None
            and is_last
            and not decision.allowed
            and bound.denial_is_error_in_some_version
        ):
            self.denied[actor.principal, action] = None
        return decision


def install_authorizer(cluster: Cluster, authorizer: RequirementTrackingAuthorizer) -> None:
    """Make it the cluster's authorizer; to be called before the first connection."""
    cluster.policy = AuthorizationPolicy(cluster.release, authorizer, cluster.policy.rules)
    cluster.policy.on_bound = authorizer.begin_requirement
