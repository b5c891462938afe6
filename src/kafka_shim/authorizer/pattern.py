"""A resource pattern with the entries of its subjects."""

from collections.abc import Iterator

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Actor
from kafka_shim.authorizer.networks import Network
from kafka_shim.protocol.enums import PatternType, ResourceType


class Subject(msgspec.Struct, eq=False, gc=False):
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
        return self.network is not None and self.network.contains(actor.host)


class Pattern(msgspec.Struct, eq=False, gc=False):
    """A resource pattern, with a grant for each subject.

    A grant is a set of bits, see `store.DENY_SHIFT`. Nearly every pattern has one subject, which is
    stored inline: a dict would take four fifths of the pattern's memory, and a further lookup in
    every decision.
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    subject: Subject
    grant: int
    others: dict[Subject, int] | None = None

    def grant_of(self, subject: Subject) -> int:
        """Return the grant bits of a principal and host; 0 if there are none."""
        if subject is self.subject:
            return self.grant
        return self.others.get(subject, 0) if self.others is not None else 0

    def grants(self) -> Iterator[tuple[Subject, int]]:
        """Yield all (subject, grant) pairs with a grant."""
        if self.grant:
            yield self.subject, self.grant
        if self.others is not None:
            yield from self.others.items()

    def put(self, subject: Subject, grant: int) -> None:
        """Set the grant of a subject; 0 removes it."""
        if subject is self.subject:
            self.grant = grant
        elif not self.grant and not (self.others and subject in self.others):
            self.subject, self.grant = subject, grant
        elif grant:
            self.others = {} if self.others is None else self.others
            self.others[subject] = grant
        elif self.others is not None:
            del self.others[subject]
            self.others = self.others or None

    @property
    def is_empty(self) -> bool:
        return not self.grant and self.others is None
