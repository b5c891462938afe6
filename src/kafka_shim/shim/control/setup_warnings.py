"""What a test has set up without effect: ACLs of nobody, faults that no request met."""

import itertools
from collections.abc import Iterable
from typing import Any

from kafka_shim.authorizer.model import ANY_USER, Acl, AclFilter
from kafka_shim.policy.checked_accesses import describe_acl_subject, ineffective_acl_messages
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.faults.fault import Fault
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.known_principals import (
    are_client_principals_known,
    client_principals,
    known_principals,
    super_users,
)
from kafka_shim.text.misspelling import suggest_name

WARNINGS_MAX = 20
"""Warnings of one call."""


class SetupWarnings:
    """Warns about the set-up of a broker: immediately, and at the end about what never mattered."""

    def __init__(self, broker: Broker, history: History) -> None:
        self._broker = broker
        self._cluster = broker.cluster
        self._history = history
        self._noted_acls: set[Acl] = set()
        """The ACLs that a test has written itself; ACLs of a file can be of users elsewhere."""

    def add_test_acls(self, acls: Iterable[Acl]) -> list[str]:
        """Remember the ACLs until the end of the test; return warnings about them."""
        noted = list(acls)
        self._noted_acls.update(noted)
        return self.typo_warnings(noted)

    def typo_warnings(self, acls: list[Acl]) -> list[str]:
        """Return warnings about ACLs without effect, and about users that may be misspelt."""
        clients = client_principals(self._cluster)
        misspelt = [
            f"the ACL of {describe_acl_subject(acl)}: unknown user; did you mean `{meant}`?"
            for acl in acls
            if (meant := suggest_name(acl.principal, clients)) is not None
        ]
        return self.ineffective_acl_warnings(acls) + misspelt[:WARNINGS_MAX]

    def ineffective_acl_warnings(self, acls: Iterable[Acl]) -> list[str]:
        """Return warnings about ACLs that can neither allow nor deny anything."""
        located = ((acl, 0) for acl in acls)
        messages = ineffective_acl_messages(
            located, self._cluster.release, super_users(self._cluster)
        )
        return [message for _, message in itertools.islice(messages, WARNINGS_MAX)]

    def forget_acls(self) -> None:
        """Forget the ACLs of a test that has ended; those from the start remain."""
        self._noted_acls.intersection_update(self._cluster.config.acls)

    def misspelt_principal_warnings(self, principal: str) -> list[str]:
        """Return a warning if a principal looks like a misspelling of a known one."""
        meant = suggest_name(principal, known_principals(self._cluster))
        return [] if meant is None else [f"unknown `{principal}`; did you mean `{meant}`?"]

    def report(self) -> dict[str, Any]:
        """Return what has had no effect so far: faults, and ACLs of unknown users."""
        current = self.interim_report()
        unknown_users: dict[str, str] = current.pop("unknown_users")
        current["warnings"] += unknown_users.values()
        return current

    def interim_report(self) -> dict[str, Any]:
        """Return the same, with unknown users apart: another test of a session can be theirs."""
        unknown_users = dict(itertools.islice(self._unknown_user_warnings(), WARNINGS_MAX))
        return {**report_unmet_faults(self._broker.faults), "unknown_users": unknown_users}

    def _unknown_user_warnings(self) -> Iterable[tuple[str, str]]:
        """Yield the principal of each noted ACL that no client has had, with a warning."""
        authorizer = self._cluster.policy.authorizer
        if (
            authorizer is None
            or not self._noted_acls
            or not are_client_principals_known(self._cluster)
        ):
            return
        clients = client_principals(self._cluster) | {ANY_USER}
        clients.update(entry.principal for entry in self._history)
        for acl in authorizer.acls(AclFilter()):
            if acl in self._noted_acls and acl.principal not in clients:
                meant = suggest_name(acl.principal, clients)
                hint = "" if meant is None else f"; did you mean `{meant}`?"
                about = f"the ACL of {describe_acl_subject(acl)}"
                yield acl.principal, f"{about} has no effect: there is no such user{hint}"


def report_unmet_faults(faults: Iterable[Fault]) -> dict[str, Any]:
    """Return the faults without effect: as failures if they had to fire, as warnings otherwise."""
    unmet = [(fault, text) for fault in faults if (text := fault.no_effect_reason()) is not None]
    return {
        "done": True,
        "warnings": [text for fault, text in unmet if not fault.spec.must_fire],
        "failures": [text for fault, text in unmet if fault.spec.must_fire],
    }


def missing_acl_warnings(acls: Iterable[Acl]) -> list[str]:
    """Return warnings about ACLs that were to be removed, and did not exist."""
    return [
        f"the ACL of {describe_acl_subject(acl)} does not exist, so it was not removed"
        for acl in itertools.islice(acls, WARNINGS_MAX)
    ]
