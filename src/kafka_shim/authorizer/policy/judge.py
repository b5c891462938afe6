"""Check expectations about a set of ACLs, for all names, hosts and principals."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, AclFilter, Action, Actor, Decision
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.policy.access_steps import Access, to_allow, to_deny
from kafka_shim.authorizer.policy.distinct_regions import DistinctRegions
from kafka_shim.authorizer.policy.expectation import Expectation, Kind, Unwanted
from kafka_shim.authorizer.policy.globs import Glob
from kafka_shim.authorizer.policy.names import ALL_NAMES, STARRED, Names, Region, names_of, regions
from kafka_shim.authorizer.policy.profiles import Clause
from kafka_shim.authorizer.policy.questions import asker, check_exact, place
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.requirement import Need
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType

_ROUNDS_MAX = 4
"""How often steps are looked for that earlier steps make necessary."""
_TRIED_MAX = 64
"""Steps of which each is tried to be left out."""


class Response(msgspec.Struct, frozen=True):
    """The decision about an access to `names`, one of which is `name`."""

    principal: str
    host: str
    clause: Clause
    need: Need
    names: Names | None
    name: str
    decision: Decision


class Verdict(msgspec.Struct, frozen=True):
    """Whether an expectation holds; `answers` are the decisions that violate it, or else confirm
    it.

    The `steps` together make it hold; there are none if a super user prevents that. `acls` are ACLs
    that must not exist.
    """

    expectation: Expectation
    held: bool
    responses: tuple[Response, ...] = ()
    acls: tuple[Acl, ...] = ()
    steps: tuple[Step, ...] = ()


class Judge:
    """Checks expectations about a set of ACLs that does not change meanwhile.

    Raise OverlookingError for a release whose decisions cannot be computed for all names.
    """

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        check_exact(authorizer)
        self._authorizer = authorizer
        self._distinct = DistinctRegions(authorizer)

    def verdict(self, expectation: Expectation) -> Verdict:
        """Return whether the expectation holds, and otherwise the steps that make it hold."""
        found = self._found(expectation)
        return found if found.held else self._smallest(self._whole(found))

    def _found(self, expectation: Expectation) -> Verdict:
        if expectation.kind is Kind.NO_ACL and expectation.unwanted is not None:
            acls = tuple(self._unwanted(expectation.unwanted))
            removals = tuple(Step(is_addition=False, acl=acl) for acl in acls)
            return Verdict(expectation, held=not acls, acls=acls, steps=removals)
        broken: list[tuple[Response, bool]] = []
        borne: list[Response] = []
        for principal, wanted in self._subjects(expectation):
            found = list(self._responses(principal, expectation, wanted=wanted))
            wrong = _wrong(found, expectation, wanted=wanted)
            broken += [(response, wanted) for response in wrong]
            borne += () if wrong else found
        if not broken:
            return Verdict(expectation, held=True, responses=tuple(borne))
        # WRITE on a topic includes WRITE on any topic, so that needs no step
        named = [(response, wanted) for response, wanted in broken if not response.need.any_name]
        steps = {
            step: None
            for response, wanted in named or broken
            for step in self._steps(response, expectation, wanted=wanted)
        }
        responses = tuple(response for response, _ in broken)
        return Verdict(expectation, held=False, responses=responses, steps=tuple(steps))

    def _whole(self, found: Verdict) -> Verdict:
        """Add further steps that become necessary, such as a DENY in place of a removed broader
        one.
        """
        steps = list(found.steps)
        for _ in range(_ROUNDS_MAX):
            with self._tried(steps):
                further = self._found(found.expectation).steps
            if not further:
                break
            for step in further:
                opposite = Step(is_addition=not step.is_addition, acl=step.acl)
                if opposite in steps:
                    steps.remove(opposite)
                else:
                    steps.append(step)
        return msgspec.structs.replace(found, steps=tuple(dict.fromkeys(steps)))

    def _smallest(self, found: Verdict) -> Verdict:
        """Remove unnecessary steps, such as Describe beside Write."""
        steps = list(found.steps)
        if not 1 < len(steps) <= _TRIED_MAX or found.acls:
            return found
        for step in found.steps:
            rest = [other for other in steps if other != step]
            with self._tried(rest):
                if self._holds(found.expectation):
                    steps = rest
        return msgspec.structs.replace(found, steps=tuple(steps))

    def _holds(self, expectation: Expectation) -> bool:
        """Return whether the expectation holds; stop at the first decision that violates it."""
        if expectation.kind is Kind.NO_ACL:
            return self._found(expectation).held
        for principal, wanted in self._subjects(expectation):
            responses = self._responses(principal, expectation, wanted=wanted)
            if wanted or not expectation.is_whole:
                if any(response.decision.allowed != wanted for response in responses):
                    return False
            elif _wrong(list(responses), expectation, wanted=wanted):
                return False
        return True

    @contextmanager
    def _tried(self, steps: Sequence[Step]) -> Iterator[None]:
        """Apply the steps inside the `with` block, and undo them."""
        store = self._authorizer.store
        present = {step.acl for step in steps if step.acl in store}
        try:
            for step in steps:
                (store.add if step.is_addition else store.remove)(step.acl)
            self._distinct.trial_acls = [step.acl for step in steps if step.is_addition]
            yield
        finally:
            self._distinct.trial_acls = []
            for step in steps:
                (store.add if step.acl in present else store.remove)(step.acl)

    def _subjects(self, expectation: Expectation) -> Iterator[tuple[str, bool]]:
        """Yield principals, and whether each is expected to be allowed."""
        if expectation.kind in (Kind.MAY, Kind.MAY_NOT, Kind.ONLY):
            for principal in expectation.principals:
                yield principal, expectation.kind is not Kind.MAY_NOT
        if expectation.kind in (Kind.NOBODY_BUT, Kind.ONLY):
            left_out = {*expectation.principals, *self._authorizer.super_users, ANY_USER}
            for principal in sorted(self._named(expectation.clauses) - left_out):
                yield principal, False
            if ANY_USER not in expectation.principals:
                yield ANY_USER, False

    def _responses(
        self, principal: str, expectation: Expectation, *, wanted: bool
    ) -> Iterator[Response]:
        for clause in expectation.clauses:
            hosts = self._hosts(clause, principal, expectation.hosts)
            for host in hosts:
                for region in self._regions(clause, principal, wanted=wanted):
                    yield self._response(principal, host, clause, region)

    def _hosts(self, clause: Clause, principal: str, given: Sequence[str]) -> list[str]:
        """Return the hosts to check; given hosts include the hosts in ACLs that lie in them."""
        types = {clause.resource_type, *(need.resource_type for need in clause.needs)}
        every = set().union(*(self._distinct.hosts(kind, principal) for kind in types))
        if not given:
            return sorted(every)
        networks = self._authorizer.rules.host_networks
        inside = {
            host for host in every for net in given if covers_host(net, host, networks=networks)
        }
        return sorted({*given, *inside})

    def _regions(self, clause: Clause, principal: str, *, wanted: bool) -> list[Region]:
        if clause.names is None:
            return [Region(Names(CLUSTER_NAME), CLUSTER_NAME, -1)]
        if not clause.names.is_prefix:
            return [Region(clause.names, clause.names.text, -1)]
        within = msgspec.structs.replace(clause.names, like="")
        distinct_names = self._distinct.names(clause.resource_type, principal, within)
        found = regions(clause.resource_type, distinct_names, self._authorizer.rules, within)
        if wanted and not clause.names.text:  # all names that literal `*` covers
            found = [region for region in found if not STARRED.includes(region.names)]
        return Glob(clause.names.like).examples(found) if clause.names.like else found

    def _response(self, principal: str, host: str, clause: Clause, region: Region) -> Response:
        """Decide the needs from left to right until one is met, as a broker does."""
        actor = Actor(asker(principal), place(host))
        need, decision = clause.needs[0], None
        for need in clause.needs:
            kind = need.resource_type
            if need.any_name:
                decision = self._authorizer.authorize_by_resource_type(actor, need.operation, kind)
            else:
                name = CLUSTER_NAME if kind is ResourceType.CLUSTER else region.sample
                decision = self._authorizer.decide(actor, Action(need.operation, kind, name))
            if decision.allowed:
                break
        assert decision is not None, "a clause has a need"
        names = None if clause.names is None else region.names
        if clause.names is not None and clause.names.like:
            names = Names(region.sample)
        return Response(principal, host, clause, need, names, region.sample, decision)

    def _steps(
        self, response: Response, expectation: Expectation, *, wanted: bool
    ) -> tuple[Step, ...]:
        need, names = response.need, response.clause.names or Names(CLUSTER_NAME)
        names = msgspec.structs.replace(names, like="")
        if need.any_name:
            need = response.clause.needs[0]
        kind = need.resource_type
        if kind is ResourceType.CLUSTER:
            names = Names(CLUSTER_NAME)
        elif need.any_name:
            names = ALL_NAMES
        elif response.names is not None and STARRED.includes(response.names):
            names = response.names  # ACLs on `*` do not apply to it
        name = CLUSTER_NAME if kind is ResourceType.CLUSTER else response.name
        access = Access(response.principal, response.host, need.operation, kind, names)
        if not wanted:
            return to_deny(self._authorizer, access, name)
        host = response.host if expectation.hosts else WILDCARD
        return to_allow(self._authorizer, access, name, host)

    def _named(self, clauses: Iterable[Clause]) -> set[str]:
        """Return the principals of ACLs about any of the names."""
        found: set[str] = set()
        for clause in clauses:
            for need in clause.needs:
                names = clause.names or ALL_NAMES
                if need.resource_type is ResourceType.CLUSTER:
                    names = Names(CLUSTER_NAME)
                elif need.any_name:
                    names = ALL_NAMES
                found |= self._distinct.principals(need.resource_type, names)
        return found

    def _unwanted(self, unwanted: Unwanted) -> Iterator[Acl]:
        """Yield the selected ACLs, in the order of the store."""
        filters = [
            AclFilter(unwanted.resource_type or ResourceType.ANY, principal=principal, host=host)
            for principal in unwanted.principals or (None,)
            for host in unwanted.hosts or (None,)
        ]
        operations = {*unwanted.operations, Operation.ALL} if unwanted.operations else None
        for acl_filter in filters:
            for acl in self._authorizer.store.matching(acl_filter):
                if (
                    (unwanted.permission in (None, acl.permission))
                    and (operations is None or acl.operation in operations)
                    and (not unwanted.names or names_of(acl) in unwanted.names)
                ):
                    yield acl


def _wrong(
    responses: Sequence[Response], expectation: Expectation, *, wanted: bool
) -> list[Response]:
    """Return the decisions that violate the expectation.

    A whole request is impossible if one of its accesses is always denied.
    """
    if wanted or not expectation.is_whole:
        return [response for response in responses if response.decision.allowed != wanted]
    broken: list[Response] = []
    for host in dict.fromkeys(response.host for response in responses):
        there = [response for response in responses if response.host == host]
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
