"""Find removable ACLs: unused, shadowed or redundant ones, and a set to remove as a whole."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.redundant_acls import find_covering_or_overruling_acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.matches import DecisionSignature, SignatureFinder
from kafka_shim.pipeline.acls.verdict import decide_observed_access

NEVER = "never used"
SHADOWED = "shadowed"
REDUNDANT = "redundant"
NEEDED = "needed"
NOT_KNOWN = "not known"
"""The observation cannot show whether a request used it."""


class AclUsage(msgspec.Struct):
    """The findings about an ACL.

    `requests` counts the accesses that it applies to, `last_used` is the last one's time.
    `shadowed_by` is another ACL that covers everything that this one does. `can_go` is true if the
    ACL is in the set that can be removed as a whole.
    """

    acl: Acl
    state: str
    requests: int = 0
    last_used: datetime | None = None
    shadowed_by: Acl | None = None
    can_go: bool = False


CountedSignature = tuple[DecisionSignature, int, datetime]
"""A signature, its requests, and when it was last seen."""


def find_removable_acls(
    acl_set: AclSet,
    seen: list[CountedSignature],
    special: list[dict[str, Any]],
    not_observable: frozenset[Acl] = frozenset(),
) -> list[AclUsage]:
    """Return a finding for each ACL, in the order of the set.

    `special` are the rows, with the columns of `DECISION_COLUMNS`, that are not decided by a
    signature; the authorizer decides them. ACLs that are `not_observable` cannot be
    removed unless another one covers everything that they do.
    """
    uses = _acl_usages_before_removal(acl_set, seen)
    signatures = [signature for signature, _, _ in seen]
    alone = _RemovalTrial(acl_set, signatures, special)
    for at, use in enumerate(uses):
        if alone.remove_unless_decision_changes(at):
            alone.restore_acl(at)
            use.state = REDUNDANT if use.state == NEEDED else use.state
            if use.acl in not_observable and use.shadowed_by is None:
                use.state = NOT_KNOWN
    together = _RemovalTrial(acl_set, signatures, special)
    for at in _least_used_first(uses):
        uses[at].can_go = uses[at].state != NOT_KNOWN and together.remove_unless_decision_changes(
            at
        )
    return uses


def _acl_usages_before_removal(acl_set: AclSet, seen: list[CountedSignature]) -> list[AclUsage]:
    """Return the findings about each ACL before any is removed."""
    counts: dict[int, int] = defaultdict(int)
    last: dict[int, datetime] = {}
    for signature, requests, when in seen:
        for at in (*signature.allows, *signature.denies):
            counts[at] += requests
            last[at] = max(when, last.get(at, when))
    store = AclStore(acl_set.acls)
    store.set_whether_slash_hosts_are_networks(acl_rules_of_release(acl_set.release).host_networks)
    uses = []
    for at, acl in enumerate(acl_set.acls):
        cover = find_covering_or_overruling_acl(acl, store, acl_set.release)
        state = NEVER if at not in counts else SHADOWED if cover else NEEDED
        uses.append(AclUsage(acl, state, counts[at], last.get(at), cover))
    return uses


def _least_used_first(uses: list[AclUsage]) -> list[int]:
    """Return positions of ACLs, unused ones first; among equally used ones, shadowed ones first."""
    return sorted(
        range(len(uses)),
        key=lambda at: (uses[at].requests, uses[at].state != SHADOWED, at),
    )


class _RemovalTrial:
    """A set of ACLs from which ACLs are removed one by one if no decision changes."""

    def __init__(
        self, acl_set: AclSet, signatures: list[DecisionSignature], special: list[dict[str, Any]]
    ) -> None:
        self._acl_set = acl_set
        self._authorizer = acl_set.authorizer()
        self._gone: set[int] = set()
        self._simple: dict[int, list[DecisionSignature]] = defaultdict(list)
        for signature in dict.fromkeys(signatures):
            for at in _acl_positions(signature) if signature.is_simple else ():
                self._simple[at].append(signature)
        self._special = [
            (row, decide_observed_access(self._authorizer, row).allowed) for row in special
        ]
        self._touched = self._special_rows_by_acl()

    def remove_unless_decision_changes(self, at: int) -> bool:
        """Remove an ACL unless that changes a decision; return whether it was removed."""
        self._gone.add(at)
        self._authorizer.store.remove(self._acl_set.acls[at])
        if self._removal_changes_decision(at):
            self.restore_acl(at)
            return False
        return True

    def restore_acl(self, at: int) -> None:
        self._gone.discard(at)
        self._authorizer.store.add(self._acl_set.acls[at])

    def _removal_changes_decision(self, at: int) -> bool:
        everyone = self._acl_set.allow_everyone
        if any(
            signature.is_allowed_without(self._gone, allow_everyone=everyone)
            != signature.is_allowed_without(set(), allow_everyone=everyone)
            for signature in self._simple.get(at, ())
        ):
            return True
        return any(
            decide_observed_access(self._authorizer, row).allowed != was
            for row, was in (self._special[n] for n in self._touched.get(at, ()))
        )

    def _special_rows_by_acl(self) -> Mapping[int, Sequence[int]]:
        """Return the special rows that each ACL may affect: all rows if
        the release overlooks ACLs.
        """
        if acl_rules_of_release(self._acl_set.release).prefix_search_stops_early:
            return dict.fromkeys(range(len(self._acl_set.acls)), range(len(self._special)))
        matcher = SignatureFinder(self._acl_set, self._authorizer.store)
        found: dict[int, list[int]] = defaultdict(list)
        for number, (row, _) in enumerate(self._special):
            for at in _acl_positions(matcher.find_signature(row)):
                found[at].append(number)
        return found


def _acl_positions(signature: DecisionSignature) -> tuple[int, ...]:
    return (*signature.allows, *signature.denies, *signature.others)
