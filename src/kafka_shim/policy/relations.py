"""Whether two sets of ACLs decide alike, one includes the other, or no access is allowed by both.

The statements hold for all principals, addresses and names. One that does not hold has an access
that contradicts it.
"""

from collections.abc import Sequence
from enum import Enum

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.decision_function import CombinedDecisions, DecisionFunction
from kafka_shim.policy.witness import Witness, smallest_witness, witness_of_change


class Relation(Enum):
    """A statement about the accesses that two sets of ACLs, A and B, allow."""

    EQUIVALENT = "equivalent"
    IMPLIES = "implies"
    DISJOINT = "disjoint"


STATEMENTS = {
    Relation.EQUIVALENT: "A and B decide every access alike",
    Relation.IMPLIES: "everything that A allows, B allows too",
    Relation.DISJOINT: "no access is allowed by both A and B",
}


class RelationResult(msgspec.Struct, frozen=True):
    """Whether a relation holds; if not, the smallest counterexample.

    `impossible_differences` counts differences that only concern hosts or names that no client can
    have, such as the topic `*eu`; they do not contradict the relation.
    """

    relation: Relation
    holds: bool
    counterexample: Witness | None
    impossible_differences: int


def check_relation(
    relation: Relation,
    first: DecisionFunction,
    second: DecisionFunction,
    first_release: str,
    second_release: str,
) -> RelationResult:
    """Return whether the relation holds between all decisions of two authorizers.

    The witness of a counterexample has the decision of A before and that of B after. Super users
    are left out of `disjoint`. Raise InexactReleaseError for a release whose decisions cannot be
    computed for all names.
    """
    contradicting: Sequence[AccessChange]
    if relation is Relation.DISJOINT:
        both = CombinedDecisions(first, second, all)
        nothing = StandardAuthorizer(super_users=both.super_users, rules=both.rules)
        contradicting = access_changes(nothing, both, first_release, second_release)
        witnesses = [
            _replace_decisions(witness, first, second)
            for change in contradicting
            if (witness := witness_of_change(change, nothing, both, prefers_short_names=True))
            is not None
        ]
    else:
        contradicting = [
            change
            for change in access_changes(first, second, first_release, second_release)
            if relation is Relation.EQUIVALENT or not change.gained
        ]
        witnesses = [
            witness
            for change in contradicting
            if (witness := witness_of_change(change, first, second, prefers_short_names=True))
            is not None
        ]
    return RelationResult(
        relation, not witnesses, smallest_witness(witnesses), len(contradicting) - len(witnesses)
    )


def _replace_decisions(
    witness: Witness, first: DecisionFunction, second: DecisionFunction
) -> Witness:
    before, after = (
        side.decide_uncached(witness.actor, witness.action)
        if witness.action is not None
        else side.authorize_by_resource_type(
            witness.actor, witness.operation, witness.resource_type
        )
        for side in (first, second)
    )
    return msgspec.structs.replace(witness, before=before, after=after)
