"""ACL changes that reach the brokers late and out of order, on purpose.

On a real cluster a broker's copy of the ACLs follows the controller's a moment later, which tests
trip over. Here that moment can be made long, and repeatable by the cluster's seed.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from kafka_shim.authorizer.authorizer import AclCreateResult, AclDeleteResult, StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.authorizer.rules import AclRules
from kafka_shim.authorizer.store import AclStore, Over
from kafka_shim.shim.clock import Clock


class PropagatingAuthorizer(StandardAuthorizer):
    """The controller's authorizer, from which every broker has a copy that lags behind.

    Each ACL takes its own time to each broker, at most `delay_ms_max`, so changes overtake each
    other. Before the event loop runs (start-up) nothing lags.
    """

    def __init__(
        self, rules: AclRules, nodes: Iterable[int], delay_ms_max: int, clock: Clock, seed: int
    ) -> None:
        super().__init__(rules=rules)
        self._delay_ms_max = delay_ms_max
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._copies = {node_id: StandardAuthorizer(rules=rules) for node_id in nodes}

    def copy_of(self, node_id: int) -> StandardAuthorizer:
        """What this broker knows by now."""
        return self._copies[node_id]

    def configure(self, config: Mapping[str, str]) -> None:
        """Super users and flags are never late."""
        super().configure(config)
        for copy in self._copies.values():
            copy.configure(config)

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        results = super().create_acls(actor, acls)
        for acl, result in zip(acls, results, strict=True):
            if result.error is None:
                self._spread(acl)
        return results

    def delete_acls(
        self, actor: Actor, filters: Sequence[AclFilter], over: Over = iter
    ) -> list[AclDeleteResult]:
        results = super().delete_acls(actor, filters, over)
        for acl in {acl for result in results for acl in result.matches}:
            self._spread(acl)
        return results

    def catch_up(self) -> None:
        """Bring every copy up to date at once: what a cluster starts with is known everywhere."""
        for copy in self._copies.values():
            for acl in self.store:
                copy.store.add(acl)

    def _spread(self, acl: Acl) -> None:
        """Bring every copy up to date about this ACL, each at its own time.

        What the copy then learns is the state of that moment, so that a removal which overtakes
        its creation leaves nothing behind.
        """
        for copy in self._copies.values():
            delay_ms = self._random.uniform(0, self._delay_ms_max)
            learn = partial(self._learn, copy.store, acl)
            try:
                self._clock.call_later(delay_ms, learn)
            except RuntimeError:  # no event loop yet
                learn()

    def _learn(self, store: AclStore, acl: Acl) -> None:
        if acl in self.store:
            store.add(acl)
        else:
            store.remove(acl)
