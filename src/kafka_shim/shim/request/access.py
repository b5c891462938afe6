"""The permission checks of a handler, and their record.

The methods follow Kafka's AuthHelper: `require` (or reject the whole request),
`split_allowed` and `filter_visible` (per item), `authorized_operations` (KIP-430 bits);
`denial_error` and `allows` check one name.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from kafka_shim.authorizer.acl_rules import operation_bit_field, supported_operations
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.requirement import BoundRequirement, NeedAlternative, Requirement
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.authorization import ClusterAuthorization

Item = TypeVar("Item")

_CLUSTER = ResourceType.CLUSTER  # module constant: enum attribute lookup is slow on CPython 3.11


RECORDS_MAX = 1_000
"""How many decisions of a request are kept for the log, unless a trace or the history needs all."""


class AccessRecord(msgspec.Struct, frozen=True, gc=False):
    """A check with its decision, for log and trace; requests with an equal check share it.

    `requirement` is None for authorized operations (KIP-430), on which nothing else depends.
    """

    action: Action
    decision: Decision
    count: int  # how many elements of the request it stood for
    log_if_allowed: bool
    log_if_denied: bool
    requirement: BoundRequirement | None = None


class _AuthorizedOperations(msgspec.Struct, frozen=True):
    """The operations on a resource that a principal is allowed, as bits, and the decisions."""

    bits: int
    records: tuple[AccessRecord, ...]


class Access(msgspec.Struct, eq=False):
    """The accesses of a request; decisions are kept in the order of the checks.

    After `records_max` allowed ones, and as many denied ones, further ones are only counted.
    """

    _policy: ClusterAuthorization
    _node_id: int
    actor: Actor
    records: list[AccessRecord] = []
    records_max: int = RECORDS_MAX
    denied_request: object | None = None
    """What would allow the request: see `explaining.request_remedy.denied_request`."""
    unrecorded_counts: dict[bool, int] | None = None
    """How many decisions that Kafka logs were not kept, by whether they allowed."""
    was_consulted: bool = False
    has_loggable_denials: bool = False
    """Whether there is any denial besides authorized operations, which are never logged."""
    denied_by_fault: Callable[[Action], bool] | None = None
    """A fault takes permissions away."""
    _cluster_decisions: dict[Operation, Decision] | None = None

    def denial_error(
        self, requirement: Requirement, name: str = CLUSTER_NAME, count: int = 1
    ) -> ErrorCode:
        """Return NONE, or the error of a denial in the emulated release."""
        bound = self._policy.bind(requirement)
        return NO_ERROR if self.allows_bound(bound, name, count) else bound.error

    def allows(self, requirement: Requirement, name: str = CLUSTER_NAME, count: int = 1) -> bool:
        """Return whether one need is met; also for rows whose denial shows no error."""
        return self.allows_bound(self._policy.bind(requirement), name, count)

    def allows_bound(self, bound: BoundRequirement, name: str, count: int = 1) -> bool:
        """Return whether one need is met of a requirement that was bound to the release."""
        self.was_consulted = True
        standard = self._policy.caching_authorizer
        if standard is not None and bound.has_named_resources and self.denied_by_fault is None:
            known, actor = standard.decision_cache(), self.actor
            key = (bound, name, actor.principal, actor.host, count)
            cached = known.get(key)
            if cached is None:
                cached = known[key] = self._decide_needs(standard, bound, name, count)
            is_allowed: bool
            is_allowed, has_denials, records = cached
            if has_denials:
                self.has_loggable_denials = True
            noted = self.records
            if len(noted) + len(records) <= self.records_max:
                noted += records
            else:
                self._record_decisions(records)
            return is_allowed
        authorizer = self._policy.deciding_authorizer(self._node_id, bound.requirement)
        if authorizer is None or not bound.needs:
            return True
        for need in bound.needs:
            if self._decide_need(authorizer, bound, need, name, count).allowed:
                return True
        return False

    def check_cluster_need(self, requirement: Requirement) -> None:
        """Check the need of a requirement that is on the cluster, for a request without names."""
        bound = self._policy.bind(requirement)
        authorizer = self._policy.deciding_authorizer(self._node_id, requirement)
        if authorizer is None:
            return
        for need in bound.needs:
            if need.resource_type is _CLUSTER:
                self._decide_need(authorizer, bound, need, CLUSTER_NAME, 1)

    def forget_cluster_checks(self) -> None:
        """Let the next check of an operation on the cluster be made, and logged, again."""
        self._cluster_decisions = None

    def allows_either(self, requirement: Requirement, name_of_each_need: Sequence[str]) -> bool:
        """Return whether one need is met, where each need has its own name, in order."""
        self.was_consulted = True
        bound = self._policy.bind(requirement)
        authorizer = self._policy.deciding_authorizer(self._node_id, requirement)
        if authorizer is None or not bound.needs:
            return True
        return any(
            self._decide_need(authorizer, bound, need, name, 1).allowed
            for need, name in zip(bound.needs, name_of_each_need, strict=False)
        )

    def require(
        self, requirement: Requirement, name: str = CLUSTER_NAME, message: str | None = None
    ) -> None:
        """Raise RequestRejected unless allowed; `message` is for APIs that have one."""
        error = self.denial_error(requirement, name)
        if error:
            raise RequestRejected(error, message)

    def split_allowed(
        self, requirement: Requirement, items: Iterable[Item], name: Callable[[Item], str]
    ) -> tuple[list[Item], list[Item]]:
        """Return allowed and denied items, each in order; a name is checked once (AuthHelper)."""
        self.was_consulted = True
        rows = [(name(item), item) for item in items]
        if len(rows) == 1:  # as most requests have
            text, item = rows[0]
            return ([item], []) if self.allows(requirement, text) else ([], [item])
        counts: dict[str, int] = {}
        for text, _ in rows:
            counts[text] = counts.get(text, 0) + 1
        if len(counts) == len(rows):  # as in most requests with several
            allowed: list[Item] = []
            denied: list[Item] = []
            for text, item in rows:
                (allowed if self.allows(requirement, text) else denied).append(item)
        else:
            granted = {text: self.allows(requirement, text, n) for text, n in counts.items()}
            allowed = [item for text, item in rows if granted[text]]
            denied = [item for text, item in rows if not granted[text]]
        return allowed, denied

    def split_each_allowed(
        self, requirement: Requirement, names: Iterable[str]
    ) -> tuple[list[str], list[str]]:
        """Return allowed and denied names; a repeated name is checked, and logged, repeatedly."""
        self.was_consulted = True
        allowed: list[str] = []
        denied: list[str] = []
        for name in names:
            (allowed if self.allows(requirement, name) else denied).append(name)
        return allowed, denied

    def filter_visible(
        self, requirement: Requirement, items: Iterable[Item], name: Callable[[Item], str]
    ) -> list[Item]:
        """Return only the allowed items; a denied one is left out without an error."""
        return self.split_allowed(requirement, items, name)[0]

    def authorized_operations(self, resource_type: ResourceType, name: str = CLUSTER_NAME) -> int:
        """Return authorized operations as a bit field, 1 << operation (KIP-430)."""
        self.was_consulted = True
        authorizer = self._policy.deciding_authorizer(self._node_id)
        if authorizer is None:
            return operation_bit_field(supported_operations(resource_type, self._policy.rules))
        if type(authorizer) is StandardAuthorizer and self.denied_by_fault is None:
            known, actor = authorizer.decision_cache(), self.actor
            key = (resource_type + 0, name, actor.principal, actor.host)  # an enum's hash is slow
            cached = known.get(key)
            if cached is None:
                cached = known[key] = self._decide_operations(authorizer, resource_type, name)
        else:
            cached = self._decide_operations(authorizer, resource_type, name)
        if len(self.records) < self.records_max:
            self.records += cached.records[: self.records_max - len(self.records)]
        return cached.bits

    def declare_no_further_checks(self) -> None:
        """Declare that the rest of the response needs no permission."""
        self.was_consulted = True

    @property
    def consults_authorizer(self) -> bool:
        """Return whether there is one; without it checks pass, and ACL APIs return error 54."""
        self.was_consulted = True
        return self._policy.authorizer is not None

    @property
    def authorizer(self) -> Authorizer | None:
        """Return the authorizer, for CreateAcls and DeleteAcls, which change it."""
        return self._policy.authorizer

    @property
    def authorizer_of_this_broker(self) -> Authorizer | None:
        """Return the broker's own copy of the ACLs, from which it answers DescribeAcls."""
        return self._policy.authorizer_copy(self._node_id)

    def _decide_needs(
        self, authorizer: StandardAuthorizer, bound: BoundRequirement, name: str, count: int
    ) -> tuple[bool, bool, tuple[AccessRecord, ...]]:
        """Check the needs of a requirement until one is met, for this request and later ones.

        Return whether one is met, whether any is not, and the decisions.
        """
        records = []
        for need in bound.needs:
            if need.any_name:
                action = Action(need.operation, need.resource_type, WILDCARD)
                decision = authorizer.authorize_by_resource_type(
                    self.actor, need.operation, need.resource_type
                )
            else:
                action = Action(need.operation, need.resource_type, name)
                decision = authorizer.decide_uncached(self.actor, action)
            log_if_denied = need.log_if_denied
            records.append(AccessRecord(action, decision, count, True, log_if_denied, bound))  # noqa: FBT003 - faster
            if decision.allowed:
                break
        is_allowed = records[-1].decision.allowed
        return is_allowed, len(records) > 1 or not is_allowed, tuple(records)

    def _decide_need(
        self,
        authorizer: Authorizer,
        bound: BoundRequirement,
        need: NeedAlternative,
        name: str,
        count: int,
    ) -> Decision:
        """Check one need; for the cluster once per request, whatever the number of names."""
        of_cluster = need.resource_type is _CLUSTER
        if of_cluster:
            if self._cluster_decisions is None:
                self._cluster_decisions = {}
            elif need.operation in self._cluster_decisions:
                return self._cluster_decisions[need.operation]
            name = CLUSTER_NAME
        if need.any_name:
            action = Action(need.operation, need.resource_type, WILDCARD)
            decision = authorizer.authorize_by_resource_type(
                self.actor, need.operation, need.resource_type
            )
        else:
            action = Action(need.operation, need.resource_type, name)
            decision = authorizer.authorize(self.actor, action)
        if self.denied_by_fault is not None and self.denied_by_fault(action):
            decision = self._exact_deny_decision(action)
        if self._cluster_decisions is not None and of_cluster:
            self._cluster_decisions[need.operation] = decision
        record = AccessRecord(action, decision, count, True, need.log_if_denied, bound)  # noqa: FBT003 - faster
        self._record_decisions((record,))
        return decision

    def _decide_operations(
        self, authorizer: Authorizer, resource_type: ResourceType, name: str
    ) -> _AuthorizedOperations:
        """Decide all operations of a resource without logging (Kafka: logIfAllowed, logIfDenied
        false).
        """
        bits, records = 0, []
        for operation in supported_operations(resource_type, self._policy.rules):
            action = Action(operation, resource_type, name)
            decision = authorizer.authorize(self.actor, action)
            if self.denied_by_fault is not None and self.denied_by_fault(action):
                decision = self._exact_deny_decision(action)
            if decision.allowed:
                bits |= 1 << operation
            records.append(
                AccessRecord(action, decision, 1, log_if_allowed=False, log_if_denied=False)
            )
        return _AuthorizedOperations(bits, tuple(records))

    def _record_decisions(self, records: Iterable[AccessRecord]) -> None:
        for record in records:
            if not record.decision.allowed:
                self.has_loggable_denials = True
            if len(self.records) < self.records_max:
                self.records.append(record)
            else:
                self._count_unrecorded(record)

    def _count_unrecorded(self, record: AccessRecord) -> None:
        """Count a decision beyond `records_max`; keep it if it is one of the first denials."""
        allowed = record.decision.allowed
        if not (record.log_if_allowed if allowed else record.log_if_denied):
            return
        if not allowed and len(self.records) < 2 * self.records_max:
            self.records.append(record)
        else:
            self.unrecorded_counts = self.unrecorded_counts or {}
            self.unrecorded_counts[allowed] = self.unrecorded_counts.get(allowed, 0) + 1

    def _exact_deny_decision(self, action: Action) -> Decision:
        """Return the decision of a DENY for exactly this access."""
        acl = Acl(
            action.resource_type,
            action.resource_name,
            PatternType.LITERAL,
            self.actor.principal,
            WILDCARD,
            action.operation,
            Permission.DENY,
        )
        return Decision(allowed=False, reason=DecisionReason.ACL, acl=acl)
