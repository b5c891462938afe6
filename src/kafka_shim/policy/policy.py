"""A policy: ACLs, and what else decides: the release, the super users and the mode."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import msgspec

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    AUTHORIZER_CLASS,
    SUPER_USERS,
    StandardAuthorizer,
)
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES

_ASSUMPTIONS = {
    ALLOW_EVERYONE: (f"{ALLOW_EVERYONE}=false", "--[no-]allow-everyone-if-no-acl-found"),
    SUPER_USERS: ("no super users", "--super-user"),
}
"""What is assumed of a setting, and the option that gives its value."""


class Policy(msgspec.Struct, frozen=True):
    """ACLs with everything else that their decisions depend on, and where they are from.

    `allow_everyone` is the mode, allow.everyone.if.no.acl.found.
    """

    acls: Sequence[Acl] = ()
    release: str = RELEASES[-1]
    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False
    is_mode_known: bool = True
    """Whether `allow_everyone` was given by the user or the cluster, and is not a default."""
    assumed_settings: tuple[str, ...] = ()
    """Settings of a cluster that nobody gives, and whose values its broker does not return, or
    `authorizer.class.name` if the broker does not decide by Kafka's own rules.
    """
    other_authorizer: str = ""
    """The authorizer class of a cluster, if it is none of Kafka's own."""
    source: str = ""
    """The files or the cluster with the ACLs, for the user."""
    cluster: str | None = None
    """The address of the cluster whose settings these are."""

    def authorizer(self) -> StandardAuthorizer:
        """Return a new authorizer that decides by this policy."""
        store = AclStore(self.acls, caches_lookups=True)
        return self._authorizer_in_mode(store, allow_everyone=self.allow_everyone)

    def authorizers_by_possible_mode(self) -> dict[bool, StandardAuthorizer]:
        """Return an authorizer for each value that allow.everyone.if.no.acl.found can have."""
        store = AclStore(self.acls, caches_lookups=True)
        modes = (self.allow_everyone,) if self.is_mode_known else (False, True)
        return {mode: self._authorizer_in_mode(store, allow_everyone=mode) for mode in modes}

    def _authorizer_in_mode(self, store: AclStore, *, allow_everyone: bool) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=self.super_users,
            allow_everyone=allow_everyone,
            rules=acl_rules_of_release(self.release),
            store=store,
        )

    def with_mode(self, *, allow_everyone: bool) -> "Policy":
        """Return the policy with a known value of allow.everyone.if.no.acl.found."""
        return msgspec.structs.replace(
            self._confirm_setting(ALLOW_EVERYONE),
            allow_everyone=allow_everyone,
            is_mode_known=True,
        )

    def with_super_users(self, super_users: Iterable[str]) -> "Policy":
        """Return the policy with these super users instead of its own."""
        return msgspec.structs.replace(
            self._confirm_setting(SUPER_USERS), super_users=frozenset(super_users)
        )

    def without_authorizer(self) -> "Policy":
        """Return the policy of a broker without an authorizer, which allows everything."""
        return msgspec.structs.replace(
            self._confirm_setting(AUTHORIZER_CLASS), acls=(), other_authorizer=""
        ).with_mode(allow_everyone=True)

    def _confirm_setting(self, setting: str) -> "Policy":
        assumed = tuple(each for each in self.assumed_settings if each != setting)
        return msgspec.structs.replace(self, assumed_settings=assumed)

    @property
    def assumption_notes(self) -> list[str]:
        """Return lines about what is assumed: the authorizer, and settings of unknown values."""
        unknown = [_ASSUMPTIONS[name] for name in self.assumed_settings if name in _ASSUMPTIONS]
        if not unknown:
            return self.authorizer_notes
        values, options = zip(*unknown, strict=True)
        assumed = " and ".join(values)
        advice = f"since the broker does not return its settings (options: {', '.join(options)})"
        return [*self.authorizer_notes, f"assumed: {assumed}, {advice}"]

    @property
    def authorizer_notes(self) -> list[str]:
        """Return a line if the cluster may decide otherwise, both to allow and to deny."""
        if not self.other_authorizer:
            return []
        other = f"{AUTHORIZER_CLASS}={self.other_authorizer}"
        return [f"assumed: the rules of Kafka's own authorizer, but the broker has {other}"]

    def denied_text(self, principal: str, *, allowed_in_open_mode: bool) -> str:
        """Return `denied`, with the unknown values of settings that would allow the access."""
        conditions = []
        if SUPER_USERS in self.assumed_settings:
            conditions.append(f"{principal} is a super user")
        if ALLOW_EVERYONE in self.assumed_settings and allowed_in_open_mode:
            conditions.append(f"{ALLOW_EVERYONE} is true")
        return f"denied, unless {' or '.join(conditions)}" if conditions else "denied"


def depends_on_assumed_mode(
    old: Policy, new: Policy, passes: Callable[[Policy, Policy], bool]
) -> bool:
    """Return whether `passes` depends on a mode that a broker does not return."""
    if ALLOW_EVERYONE not in {*old.assumed_settings, *new.assumed_settings}:
        return False
    return len({passes(*policies) for policies in _iter_possible_modes(old, new)}) > 1


def _iter_possible_modes(old: Policy, new: Policy) -> Iterator[tuple[Policy, Policy]]:
    """Yield both policies in each combination of modes; one cluster has one mode on both sides."""
    clusters = {
        policy.cluster: None for policy in (old, new) if ALLOW_EVERYONE in policy.assumed_settings
    }
    for modes in product((False, True), repeat=len(clusters)):
        mode_of = dict(zip(clusters, modes, strict=True))
        first, second = (
            msgspec.structs.replace(policy, allow_everyone=mode_of[policy.cluster])
            if ALLOW_EVERYONE in policy.assumed_settings
            else policy
            for policy in (old, new)
        )
        yield first, second
