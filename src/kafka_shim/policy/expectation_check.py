"""Check expectations about a set of ACLs, for all names, hosts and principals."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, AclFilter, Action, Actor, Decision
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.remedy import Step, in_safe_order, side_effects_of_steps
from kafka_shim.authorizer.requirement import NeedAlternative
from kafka_shim.policy.access_steps import (
    PolicyAccess,
    acls_applying_to,
    acls_that_allow,
    steps_to_allow_access,
    steps_to_deny_access,
)
from kafka_shim.policy.checked_accesses import (
    require_full_prefix_search,
    sample_host,
    sample_principal,
)
from kafka_shim.policy.decision_boundaries import DecisionBoundaries
from kafka_shim.policy.expectation import Expectation, ExpectationKind, ForbiddenAcls
from kafka_shim.policy.name_sets import (
    ALL_NAMES,
    STARRED_NAMES,
    NameGlob,
    NameRegion,
    NameSet,
    divide_into_regions,
    names_covered_by_acl,
)
from kafka_shim.policy.profiles import NeedsOnNames
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, Permission, ResourceType

_ROUNDS_MAX = 4
"""How often steps are looked for that earlier steps make necessary."""
_TRIED_STEPS_MAX = 64
"""Steps of which each is tried to be left out."""


class CheckedAccess(msgspec.Struct, frozen=True):
    """The decision about an access to `names`, one of which is `sample_name`."""

    principal: str
    host: str
    clause: NeedsOnNames
    need: NeedAlternative
    names: NameSet | None
    sample_name: str
    decision: Decision


class Verdict(msgspec.Struct, frozen=True):
    """Whether an expectation holds; the accesses violate it, or confirm it if it holds.

    The `steps` together make it hold; there are none if a super user prevents that. If they add a
    DENY, `removals` make it hold without one, but end other access of the same principals, too;
    there are none if only ACLs for everybody allow the access. `allowing_acls` are those that allow
    an access that is to be denied, as it is now. `also_changes` says what else steps or removals
    open or close.
    """

    expectation: Expectation
    holds: bool
    violating_or_confirming_accesses: tuple[CheckedAccess, ...] = ()
    existing_forbidden_acls: tuple[Acl, ...] = ()
    steps: tuple[Step, ...] = ()
    removals: tuple[Step, ...] = ()
    allowing_acls: tuple[tuple[CheckedAccess, tuple[Acl, ...]], ...] = ()
    also_changes: tuple[str, ...] = ()


class ExpectationChecker:
    """Checks expectations about a set of ACLs that does not change meanwhile.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        require_full_prefix_search(authorizer)
        self._authorizer = authorizer
        self._distinct = DecisionBoundaries(authorizer)

    def check_expectation(self, expectation: Expectation) -> Verdict:
        """Return whether the expectation holds, and otherwise the steps that make it hold."""
        verdict = self._check_accesses(expectation)
        if verdict.holds:
            return verdict
        if not (self._is_met_by_denials(expectation) or self._is_met_by_allows(verdict)):
            verdict = self._add_follow_up_steps(verdict)
        verdict = self._drop_unnecessary_steps(verdict)
        if any(
            step.is_addition and step.acl.permission is Permission.DENY for step in verdict.steps
        ):
            verdict = msgspec.structs.replace(verdict, removals=self._find_removals(verdict))
        steps, removals = map(in_safe_order, (verdict.steps, verdict.removals))
        texts = [
            text
            for each in (steps, removals)
            for text in side_effects_of_steps(self._authorizer, each, ())
        ]
        also_changes = tuple(dict.fromkeys(texts))
        return msgspec.structs.replace(
            verdict, steps=steps, removals=removals, also_changes=also_changes
        )

    def _is_met_by_denials(self, expectation: Expectation) -> bool:
        """Return whether the expectation holds as soon as each violating access is denied by
        itself.

        That is so if all accesses are to be denied, if each of them needs one ACL, and if ACLs can
        deny them. An ACL that is removed, or a DENY that is added, opens no other access, unless
        resources without ACLs are open to everyone.
        """
        return (
            expectation.kind in (ExpectationKind.MAY_NOT, ExpectationKind.NOBODY_BUT)
            and not expectation.is_one_request
            and not self._authorizer.allow_everyone
            and self._authorizer.super_users.isdisjoint(expectation.principals)
            and _has_single_checks(expectation)
        )

    def _is_met_by_allows(self, verdict: Verdict) -> bool:
        """Return whether the expectation holds as soon as each violating access is allowed by
        itself.

        That is so if all accesses are to be allowed, and only need an ALLOW: it denies nothing,
        unless resources without ACLs are open to everyone.
        """
        return (
            verdict.expectation.kind is ExpectationKind.MAY
            and not self._authorizer.allow_everyone
            and _has_single_checks(verdict.expectation)
            and all(
                step.is_addition and step.acl.permission is Permission.ALLOW
                for step in verdict.steps
            )
        )

    def _find_removals(self, verdict: Verdict) -> tuple[Step, ...]:
        """Return the removals of ACLs that allow what is not expected; none if they do not suffice
        or would end access of other principals.
        """
        removals: dict[Step, None] = {}
        for access, allowing_acls in verdict.allowing_acls:
            for acl in allowing_acls:
                if acl.principal != access.principal:
                    return ()
                removals[Step(is_addition=False, acl=acl)] = None
        if self._is_met_by_denials(verdict.expectation):
            return tuple(removals)
        among = self._principals_to_check_again(verdict, removals)
        with self._apply_steps(list(removals)):
            is_sufficient = self._holds(verdict.expectation, among)
        return tuple(removals) if is_sufficient else ()

    def find_applying_acls(self, expectation: Expectation) -> set[Acl]:
        """Return the ACLs that allow or deny an access that the expectation is about."""
        if expectation.forbidden_acls is not None:
            return set(self._find_forbidden_acls(expectation.forbidden_acls))
        acls: set[Acl] = set()
        for principal, expect_allowed in self._iter_selected_decisions(expectation):
            for access in self._decide_accesses_of_all_clauses(
                principal, expectation, expect_allowed=expect_allowed
            ):
                if not access.need.any_name:
                    whole_access, name = _widen_to_clause(access)
                    acls.update(acls_applying_to(self._authorizer, whole_access, name))
                elif access.decision.acl is not None:
                    acls.add(access.decision.acl)
        return acls

    def _check_accesses(
        self, expectation: Expectation, among: Container[str] | None = None
    ) -> Verdict:
        """Return the verdict with steps that correct each violation by itself.

        With `among`, all principals outside of it are known to meet the expectation.
        """
        if expectation.kind is ExpectationKind.NO_ACL and expectation.forbidden_acls is not None:
            acls = tuple(self._find_forbidden_acls(expectation.forbidden_acls))
            removals = tuple(Step(is_addition=False, acl=acl) for acl in acls)
            return Verdict(
                expectation, holds=not acls, existing_forbidden_acls=acls, steps=removals
            )
        all_violations: list[tuple[CheckedAccess, bool]] = []
        confirmations: list[CheckedAccess] = []
        for principal, expect_allowed in self._iter_selected_decisions(expectation, among):
            accesses = list(
                self._decide_accesses_of_all_clauses(
                    principal, expectation, expect_allowed=expect_allowed
                )
            )
            violations = _violating_accesses(accesses, expectation, expect_allowed=expect_allowed)
            all_violations += [(access, expect_allowed) for access in violations]
            confirmations += () if violations else accesses
        if not all_violations:
            return Verdict(
                expectation, holds=True, violating_or_confirming_accesses=tuple(confirmations)
            )
        # WRITE on a topic includes WRITE on any topic, so that needs no step
        named = [
            (access, expect_allowed)
            for access, expect_allowed in all_violations
            if not access.need.any_name
        ]
        steps: dict[Step, None] = {}
        allowing_acls: list[tuple[CheckedAccess, tuple[Acl, ...]]] = []
        for access, expect_allowed in named or all_violations:
            if expect_allowed:
                steps |= dict.fromkeys(self._steps_to_allow(access, expectation))
                continue
            wrong_access, name = _widen_to_clause(access)
            allows = tuple(acls_that_allow(self._authorizer, wrong_access, name))
            allowing_acls.append((access, allows))
            steps |= dict.fromkeys(steps_to_deny_access(self._authorizer, wrong_access, allows))
        return Verdict(
            expectation,
            holds=False,
            violating_or_confirming_accesses=tuple(access for access, _ in all_violations),
            steps=tuple(steps),
            allowing_acls=tuple(allowing_acls) if named else (),
        )

    def _add_follow_up_steps(self, verdict: Verdict) -> Verdict:
        """Add further steps that become necessary, such as a DENY in place of a removed broader
        one.
        """
        steps = list(verdict.steps)
        for _ in range(_ROUNDS_MAX):
            among = self._principals_to_check_again(verdict, steps)
            with self._apply_steps(steps):
                further = self._check_accesses(verdict.expectation, among).steps
            if not further:
                break
            for step in further:
                opposite = Step(is_addition=not step.is_addition, acl=step.acl)
                if opposite in steps:
                    steps.remove(opposite)
                else:
                    steps.append(step)
        return msgspec.structs.replace(verdict, steps=tuple(dict.fromkeys(steps)))

    def _drop_unnecessary_steps(self, verdict: Verdict) -> Verdict:
        """Remove unnecessary steps, such as Describe beside Write."""
        steps = list(verdict.steps)
        if not 1 < len(steps) <= _TRIED_STEPS_MAX or verdict.existing_forbidden_acls:
            return verdict
        optional_steps = self._droppable_steps(verdict)
        if not optional_steps:
            return verdict
        store = self._authorizer.store
        among = self._principals_to_check_again(verdict, steps)
        with self._apply_steps(steps):
            holds = self._holds(verdict.expectation, among)
            for step in optional_steps:
                apply, undo = (store.add, store.remove)[:: 1 if step.is_addition else -1]
                if not undo(step.acl):
                    continue
                among = self._principals_affected_by_steps((step,)) if holds else None
                if self._holds(verdict.expectation, among):
                    holds = True
                    steps.remove(step)
                else:
                    apply(step.acl)
        return msgspec.structs.replace(verdict, steps=tuple(steps))

    def _droppable_steps(self, verdict: Verdict) -> list[Step]:
        """Return the steps without those that are the only one for a principal that violates the
        expectation: without its step, such a principal violates it again.
        """
        steps = list(verdict.steps)
        if self._principals_affected_by_steps(steps) is None:
            return steps
        counts = Counter(step.acl.principal for step in steps)
        violating = {access.principal for access in verdict.violating_or_confirming_accesses}
        return [
            step
            for step in steps
            if counts[step.acl.principal] > 1 or step.acl.principal not in violating
        ]

    def _principals_to_check_again(
        self, verdict: Verdict, steps: Iterable[Step]
    ) -> Container[str] | None:
        """Return the principals that may violate the expectation after the steps; None: all."""
        affected = self._principals_affected_by_steps(steps)
        if affected is None or any(
            access.principal not in affected for access in verdict.violating_or_confirming_accesses
        ):
            return None
        return affected

    def _principals_affected_by_steps(self, steps: Iterable[Step]) -> Container[str] | None:
        """Return the principals whose decisions the steps can change; None: all."""
        principals = {step.acl.principal for step in steps}
        return None if self._authorizer.allow_everyone or ANY_USER in principals else principals

    def _holds(self, expectation: Expectation, among: Container[str] | None = None) -> bool:
        """Return whether the expectation holds; stop at the first decision that violates it.

        With `among`, all principals outside of it are known to meet the expectation.
        """
        if expectation.kind is ExpectationKind.NO_ACL:
            return self._check_accesses(expectation).holds
        for principal, expect_allowed in self._iter_selected_decisions(expectation, among):
            accesses = self._decide_accesses_of_all_clauses(
                principal, expectation, expect_allowed=expect_allowed
            )
            if expect_allowed or not expectation.is_one_request:
                if any(response.decision.allowed != expect_allowed for response in accesses):
                    return False
            elif _violating_accesses(list(accesses), expectation, expect_allowed=expect_allowed):
                return False
        return True

    @contextmanager
    def _apply_steps(self, steps: Sequence[Step]) -> Iterator[None]:
        """Apply the steps inside the `with` block, and undo them."""
        store = self._authorizer.store
        present = {step.acl for step in steps if step.acl in store}
        try:
            self._distinct.set_trial_acls(
                added=(step.acl for step in steps if step.is_addition),
                removed=(step.acl for step in steps if not step.is_addition),
            )
            for step in steps:
                (store.add if step.is_addition else store.remove)(step.acl)
            yield
        finally:
            self._distinct.set_trial_acls()
            for step in steps:
                (store.add if step.acl in present else store.remove)(step.acl)

    def _iter_selected_decisions(
        self, expectation: Expectation, among: Container[str] | None = None
    ) -> Iterator[tuple[str, bool]]:
        """Yield principals, and whether each is expected to be allowed."""
        for principal, expect_allowed in self._iter_expected_decisions(expectation):
            if among is None or principal in among:
                yield principal, expect_allowed

    def _iter_expected_decisions(self, expectation: Expectation) -> Iterator[tuple[str, bool]]:
        if expectation.kind in (ExpectationKind.MAY, ExpectationKind.MAY_NOT, ExpectationKind.ONLY):
            for principal in expectation.principals:
                yield principal, expectation.kind is not ExpectationKind.MAY_NOT
        if expectation.kind in (ExpectationKind.NOBODY_BUT, ExpectationKind.ONLY):
            left_out = {*expectation.principals, *self._authorizer.super_users, ANY_USER}
            for principal in sorted(
                self._principals_with_acls_for_clauses(expectation.clauses) - left_out
            ):
                yield principal, False
            if ANY_USER not in expectation.principals:
                yield ANY_USER, False

    def _decide_accesses_of_all_clauses(
        self, principal: str, expectation: Expectation, *, expect_allowed: bool
    ) -> Iterator[CheckedAccess]:
        for clause in expectation.clauses:
            regions = self._clause_regions(clause, principal, expect_allowed=expect_allowed)
            for host in self._hosts_to_check(clause, principal, expectation.hosts):
                for region in regions:
                    yield self._decide_alternatives(principal, host, clause, region)

    def _hosts_to_check(
        self, clause: NeedsOnNames, principal: str, expected_hosts: Sequence[str]
    ) -> list[str]:
        """Return the hosts to check; given hosts include the hosts in ACLs that lie in them."""
        types = _resource_types_of_clause(clause)
        every: Collection[str]
        if len(types) == 1:
            every = self._distinct.distinct_hosts(types[0], principal)
        else:
            every = {
                host for kind in types for host in self._distinct.distinct_hosts(kind, principal)
            }
        if not expected_hosts:
            return sorted(every) if len(every) > 1 else list(every)
        networks = self._authorizer.rules.host_networks
        inside = {
            host
            for host in every
            for net in expected_hosts
            if covers_host(net, host, host_networks=networks)
        }
        return sorted({*expected_hosts, *inside})

    def _clause_regions(
        self, clause: NeedsOnNames, principal: str, *, expect_allowed: bool
    ) -> list[NameRegion]:
        if clause.names is None or not clause.names.is_prefix:
            return _single_name_region(clause.names or NameSet(CLUSTER_NAME))
        within = msgspec.structs.replace(clause.names, glob="")
        distinct_names = self._distinct.distinct_names_within(
            clause.resource_type, principal, within
        )
        name_regions = divide_into_regions(
            clause.resource_type, distinct_names, self._authorizer.rules, within
        )
        if expect_allowed and not clause.names.text:  # all names that literal `*` covers
            name_regions = [
                region for region in name_regions if not STARRED_NAMES.includes_names(region.names)
            ]
        return (
            NameGlob(clause.names.glob).regions_resampled_to_match(name_regions)
            if clause.names.glob
            else name_regions
        )

    def _decide_alternatives(
        self, principal: str, host: str, clause: NeedsOnNames, region: NameRegion
    ) -> CheckedAccess:
        """Decide the needs from left to right until one is met, as a broker does."""
        actor = Actor(sample_principal(principal), sample_host(host))
        need, decision = clause.needs[0], None
        for need in clause.needs:
            kind = need.resource_type
            if need.any_name:
                decision = self._authorizer.authorize_by_resource_type(actor, need.operation, kind)
            else:
                name = CLUSTER_NAME if kind is ResourceType.CLUSTER else region.sample_name
                decision = self._authorizer.decide_uncached(
                    actor, Action(need.operation, kind, name)
                )
            if decision.allowed:
                break
        assert decision is not None, "a clause has a need"
        names = None if clause.names is None else region.names
        if clause.names is not None and clause.names.glob:
            names = NameSet(region.sample_name)
        return CheckedAccess(principal, host, clause, need, names, region.sample_name, decision)

    def _steps_to_allow(self, access: CheckedAccess, expectation: Expectation) -> tuple[Step, ...]:
        wrong_access, name = _widen_to_clause(access)
        host = access.host if expectation.hosts else WILDCARD
        return steps_to_allow_access(self._authorizer, wrong_access, name, host)

    def _principals_with_acls_for_clauses(self, clauses: Iterable[NeedsOnNames]) -> set[str]:
        """Return the principals of ACLs about any of the names."""
        principals: set[str] = set()
        for clause in clauses:
            for need in clause.needs:
                names = clause.names or ALL_NAMES
                if need.resource_type is ResourceType.CLUSTER:
                    names = NameSet(CLUSTER_NAME)
                elif need.any_name:
                    names = ALL_NAMES
                principals |= self._distinct.principals_with_acls_on(need.resource_type, names)
        return principals

    def _find_forbidden_acls(self, forbidden: ForbiddenAcls) -> Iterator[Acl]:
        """Yield the selected ACLs, in the order of the store."""
        filters = [
            AclFilter(forbidden.resource_type or ResourceType.ANY, principal=principal, host=host)
            for principal in forbidden.principals or (None,)
            for host in forbidden.hosts or (None,)
        ]
        operations = {*forbidden.operations, Operation.ALL} if forbidden.operations else None
        for acl_filter in filters:
            for acl in self._authorizer.store.acls_matching(acl_filter):
                if (
                    (forbidden.permission in (None, acl.permission))
                    and acl.principal not in forbidden.except_principals
                    and (operations is None or acl.operation in operations)
                    and (not forbidden.names or names_covered_by_acl(acl) in forbidden.names)
                ):
                    yield acl


def _has_single_checks(expectation: Expectation) -> bool:
    return all(
        len(clause.needs) == 1 and not clause.needs[0].any_name for clause in expectation.clauses
    )


def _resource_types_of_clause(clause: NeedsOnNames) -> list[ResourceType]:
    """Return the types of the resources that the broker checks for the clause."""
    first = clause.needs[0]
    if len(clause.needs) == 1 and not first.any_name:
        return [first.resource_type]
    types = {need.resource_type for need in clause.needs}
    if len(types) > 1 or first.any_name:
        types.add(clause.resource_type)
    return list(types)


@lru_cache(maxsize=64)  # `nobody but` is checked for one principal after the other
def _single_name_region(name: NameSet) -> list[NameRegion]:
    return [NameRegion(name, name.text, -1)]


def _widen_to_clause(access: CheckedAccess) -> tuple[PolicyAccess, str]:
    """Return the access to all names of the clause, and one of these names."""
    need, names = access.need, access.clause.names or NameSet(CLUSTER_NAME)
    if names.glob:
        names = msgspec.structs.replace(names, glob="")
    if need.any_name:
        need = access.clause.needs[0]
    resource_type = need.resource_type
    if resource_type is ResourceType.CLUSTER:
        names = NameSet(CLUSTER_NAME)
    elif need.any_name:
        names = ALL_NAMES
    elif access.names is not None and STARRED_NAMES.includes_names(access.names):
        names = access.names  # ACLs on `*` do not apply to it
    name = CLUSTER_NAME if resource_type is ResourceType.CLUSTER else access.sample_name
    return (
        PolicyAccess(access.principal, access.host, need.operation, resource_type, names),
        name,
    )


def _violating_accesses(
    accesses: Sequence[CheckedAccess], expectation: Expectation, *, expect_allowed: bool
) -> list[CheckedAccess]:
    """Return the decisions that violate the expectation.

    A whole request is impossible if one of its accesses is always denied.
    """
    if expect_allowed or not expectation.is_one_request:
        return [response for response in accesses if response.decision.allowed != expect_allowed]
    broken: list[CheckedAccess] = []
    for host in dict.fromkeys(response.host for response in accesses):
        there = [response for response in accesses if response.host == host]
        refused = {
            clause
            for clause in dict.fromkeys(response.clause for response in there)
            if not any(a.decision.allowed for a in there if a.clause == clause)
        }
        if not refused:  # denying the last access denies the request
            topics = [a for a in there if a.clause.resource_type is ResourceType.TOPIC]
            last = (topics or there)[-1].clause
            broken += [a for a in there if a.clause == last and a.decision.allowed]
    return broken
