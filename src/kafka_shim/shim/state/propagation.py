"""ACL changes that reach the brokers delayed and out of order, on purpose.

On a real cluster a broker's copy of the ACLs follows the controller's a moment later, which makes
tests fail. Here that delay can be made long, and repeatable by the cluster's seed.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.authorizer import AclCreateResult, AclDeleteResult, StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.shim.clock import Clock


class PropagatingAuthorizer(StandardAuthorizer):
    """The controller's authorizer, of which every broker has a delayed copy.

    Each change reaches each broker after its own delay of at most `delay_ms_max`, so changes may be
    reordered. There is no delay before the event loop runs (startup).
    """

    def __init__(
        self, rules: AclRules, nodes: Iterable[int], delay_ms_max: int, clock: Clock, seed: int
    ) -> None:
        super().__init__(rules=rules)
        self._delay_ms_max = delay_ms_max
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._copies = {node_id: StandardAuthorizer(rules=rules) for node_id in nodes}

    def authorizer_copy_of(self, node_id: int) -> StandardAuthorizer:
        """Return this broker's current copy."""
        return self._copies[node_id]

    def configure(self, config: Mapping[str, str]) -> None:
        """Set super users and flags, which are never delayed."""
        super().configure(config)
        for copy in self._copies.values():
            copy.configure(config)

    def create_valid_acls(self, acls: Sequence[Acl]) -> list[AclCreateResult]:
        results = super().create_valid_acls(acls)
        for acl, result in zip(acls, results, strict=True):
            if result.error is None:
                self._schedule_copy_updates(acl)
        return results

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        results = super().delete_acls(actor, filters)
        for acl in {acl for result in results for acl in result.matches}:
            self._schedule_copy_updates(acl)
        return results

    def copy_acls_to_brokers(self) -> None:
        """Add all ACLs to every copy immediately, since nothing is delayed at the start."""
        for copy in self._copies.values():
            for acl in self.store:
                copy.store.add(acl)

    def _schedule_copy_updates(self, acl: Acl) -> None:
        """Update every copy for this ACL, each after its own delay.

        The copy then gets the controller's state of that moment, so that a removal which arrives
        before its creation leaves nothing behind.
        """
        for copy in self._copies.values():
            delay_ms = self._random.uniform(0, self._delay_ms_max)
            learn = partial(self._sync_copied_acl, copy.store, acl)
            try:
                self._clock.call_later(delay_ms, learn)
            except RuntimeError:  # no event loop yet
                learn()

    def _sync_copied_acl(self, copied_store: AclStore, acl: Acl) -> None:
        if acl in self.store:
            copied_store.add(acl)
        else:
            copied_store.remove(acl)
