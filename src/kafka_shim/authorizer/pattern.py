"""A resource pattern with the entries of its subjects."""

from typing import TypeAlias

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Actor
from kafka_shim.authorizer.networks import Network
from kafka_shim.protocol.enums import PatternType, ResourceType

GrantBits: TypeAlias = int
"""A set of operations: bit n allows the operation with code n, bit n + DENY_SHIFT denies it."""

DENY_SHIFT = 32


class PrincipalAndHost(msgspec.Struct, eq=False, gc=False):
    """A principal on a host, to which entries apply; a store has one object for each pair.

    `network` is set if the host is a network.
    """

    principal: str
    host: str
    network: Network | None = None

    def includes(self, actor: Actor) -> bool:
        """Return whether entries for this subject apply to the actor."""
        if self.principal not in (actor.principal, ANY_USER):
            return False
        if self.host in (WILDCARD, actor.host):
            return True
        return self.network is not None and self.network.covers(actor.host)


class Pattern(msgspec.Struct, eq=False, gc=False):
    """A resource pattern, with a grant for each subject.

    Nearly every pattern has one subject, which is
    stored inline: a dict would take four fifths of the pattern's memory, and a further lookup in
    every decision.
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    first_subject: PrincipalAndHost
    first_grant: GrantBits
    other_grants: dict[PrincipalAndHost, GrantBits] | None = None

    def grant_bits_of(self, subject: PrincipalAndHost) -> GrantBits:
        """Return the grant of a subject; 0 if there is none."""
        if subject is self.first_subject:
            return self.first_grant
        return self.other_grants.get(subject, 0) if self.other_grants is not None else 0

    def subject_grants(self) -> list[tuple[PrincipalAndHost, GrantBits]]:
        """Return all (subject, grant) pairs with a grant."""
        first = [(self.first_subject, self.first_grant)] if self.first_grant else []
        return first if self.other_grants is None else [*first, *self.other_grants.items()]

    def set_grant(self, subject: PrincipalAndHost, grant: GrantBits) -> None:
        """Set the grant of a subject; 0 removes it."""
        if subject is self.first_subject:
            self.first_grant = grant
        elif not self.first_grant and not (self.other_grants and subject in self.other_grants):
            self.first_subject, self.first_grant = subject, grant
        elif grant:
            self.other_grants = {} if self.other_grants is None else self.other_grants
            self.other_grants[subject] = grant
        elif self.other_grants is not None:
            del self.other_grants[subject]
            self.other_grants = self.other_grants or None

    @property
    def has_no_grants(self) -> bool:
        """Return whether no subject has a grant, so that the pattern can be removed."""
        return not self.first_grant and self.other_grants is None
