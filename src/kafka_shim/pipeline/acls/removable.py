"""Find removable ACLs: unused, shadowed or redundant ones, and a set to remove as a whole."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.authorizer_decisions import decide_access
from kafka_shim.pipeline.acls.guards import AclRemovalGuard
from kafka_shim.pipeline.acls.matches import DecidingAclFinder, DecisionSignature
from kafka_shim.policy.redundant_acls import find_superseding_acl

NEVER = "never used"
SHADOWED = "shadowed"
REDUNDANT = "redundant"
NEEDED = "needed"
NOT_KNOWN = "not known"
"""The observation cannot show whether a request used it, or whether that had an effect."""


class AclUsage(msgspec.Struct):
    """The findings about an ACL.

    `requests` counts the accesses that it applies to, `last_used` is the last one's time.
    `shadowed_by` is another ACL that covers everything that this one does.
    `can_be_removed_with_others` is true if the ACL is in the set that can be removed as a whole,
    after which nothing is allowed that was denied.
    """

    acl: Acl
    state: str
    requests: int = 0
    last_used: datetime | None = None
    shadowed_by: Acl | None = None
    can_be_removed_with_others: bool = False


class CountedSignature(NamedTuple):
    """A signature, its requests, when it was last seen, and whether a response depends on it."""

    signature: DecisionSignature
    requests: int
    last_seen: datetime
    has_effect: bool = True


def usage_of_each_acl(
    acl_set: AclSet,
    counted_signatures: list[CountedSignature],
    authorizer_rows: list[dict[str, Any]],
    without_evidence: frozenset[Acl] = frozenset(),
) -> list[AclUsage]:
    """Return a finding for each ACL, in the order of the set.

    `authorizer_rows` have the columns of `DECISION_COLUMNS` and `has_effect`. No signature decides
    them, but the authorizer. An ACL is not known to be needed if responses may be the same without
    it. ACLs `without_evidence` cannot be removed unless another one covers everything that they do.
    """
    guard = AclRemovalGuard(acl_set)
    uses = _usage_before_removal(acl_set, counted_signatures)
    signatures = [counted.signature for counted in counted_signatures]
    alone = _RemovalTrial(acl_set, signatures, authorizer_rows)
    visible = _RemovalTrial(
        acl_set,
        [counted.signature for counted in counted_signatures if counted.has_effect],
        [row for row in authorizer_rows if row["has_effect"]],
    )
    for at, use in enumerate(uses):
        if alone.try_remove(at):
            alone.restore_acl(at)
            use.state = REDUNDANT if use.state == NEEDED else use.state
            if use.acl in without_evidence and use.shadowed_by is None:
                use.state = NOT_KNOWN
        elif use.state == NEEDED and visible.try_remove(at):
            visible.restore_acl(at)
            use.state = NOT_KNOWN
    together = _RemovalTrial(acl_set, signatures, authorizer_rows)
    for at in _positions_least_used_first(uses):
        use = uses[at]
        use.can_be_removed_with_others = (
            use.state != NOT_KNOWN and not guard.must_stay(use.acl) and together.try_remove(at)
        )
        if use.can_be_removed_with_others:
            guard.note_removal(use.acl)
    return uses


def _usage_before_removal(
    acl_set: AclSet, counted_signatures: list[CountedSignature]
) -> list[AclUsage]:
    """Return the findings about each ACL before any is removed."""
    counts: dict[int, int] = defaultdict(int)
    last: dict[int, datetime] = {}
    for signature, requests, when, _ in counted_signatures:
        for at in (*signature.allows, *signature.denies):
            counts[at] += requests
            last[at] = max(when, last.get(at, when))
    store = AclStore(acl_set.acls)
    store.set_network_hosts(acl_rules_of_release(acl_set.release).host_networks)
    uses = []
    for at, acl in enumerate(acl_set.acls):
        cover = find_superseding_acl(acl, store, acl_set.release)
        state = NEVER if at not in counts else SHADOWED if cover else NEEDED
        uses.append(AclUsage(acl, state, counts[at], last.get(at), cover))
    return uses


def _positions_least_used_first(uses: list[AclUsage]) -> list[int]:
    """Return positions of ACLs, unused ones first; among equally used ones, shadowed ones first."""
    return sorted(
        range(len(uses)),
        key=lambda at: (uses[at].requests, uses[at].state != SHADOWED, at),
    )


class _RemovalTrial:
    """A set of ACLs from which ACLs are removed one by one if no decision changes."""

    def __init__(
        self,
        acl_set: AclSet,
        signatures: list[DecisionSignature],
        authorizer_rows: list[dict[str, Any]],
    ) -> None:
        self._acl_set = acl_set
        self._authorizer = acl_set.build_authorizer()
        self._gone: set[int] = set()
        self._simple: dict[int, list[DecisionSignature]] = defaultdict(list)
        for signature in dict.fromkeys(signatures):
            for at in _acl_positions(signature) if signature.determines_decision else ():
                self._simple[at].append(signature)
        self._authorizer_rows = [
            (row, decide_access(self._authorizer, row).allowed) for row in authorizer_rows
        ]
        self._touched = self._authorizer_row_numbers_by_acl()

    def try_remove(self, position: int) -> bool:
        """Remove an ACL unless that changes a decision; return whether it was removed."""
        self._gone.add(position)
        self._authorizer.store.remove(self._acl_set.acls[position])
        if self._changes_decision(position):
            self.restore_acl(position)
            return False
        return True

    def restore_acl(self, position: int) -> None:
        self._gone.discard(position)
        self._authorizer.store.add(self._acl_set.acls[position])

    def _changes_decision(self, removed_position: int) -> bool:
        everyone = self._acl_set.allow_everyone_if_no_acl
        if any(
            signature.is_allowed_without(self._gone, allow_everyone=everyone)
            != signature.is_allowed_without(set(), allow_everyone=everyone)
            for signature in self._simple.get(removed_position, ())
        ):
            return True
        return any(
            decide_access(self._authorizer, row).allowed != was
            for row, was in (
                self._authorizer_rows[n] for n in self._touched.get(removed_position, ())
            )
        )

    def _authorizer_row_numbers_by_acl(self) -> Mapping[int, Sequence[int]]:
        """Return the special rows that each ACL may affect: all rows if
        the release overlooks ACLs.
        """
        if acl_rules_of_release(self._acl_set.release).prefix_search_stops_early:
            return dict.fromkeys(range(len(self._acl_set.acls)), range(len(self._authorizer_rows)))
        matcher = DecidingAclFinder(self._acl_set, self._authorizer.store)
        found: dict[int, list[int]] = defaultdict(list)
        for number, (row, _) in enumerate(self._authorizer_rows):
            for at in _acl_positions(matcher.find_signature(row)):
                found[at].append(number)
        return found


def _acl_positions(signature: DecisionSignature) -> tuple[int, ...]:
    return (*signature.allows, *signature.denies, *signature.inapplicable)
