"""One resource pattern, and what it grants to whom."""

from collections.abc import Iterator

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Actor
from kafka_shim.authorizer.networks import Network
from kafka_shim.protocol.enums import PatternType, ResourceType


class Subject(msgspec.Struct, eq=False, gc=False):
    """Whom entries are for: a principal on a host. One object for each pair in a store.

    `network` is set where the host stands for all addresses of a network.
    """

    principal: str
    host: str
    network: Network | None = None

    def includes(self, actor: Actor) -> bool:
        """Whether entries for this subject apply to the actor."""
        if self.principal not in (actor.principal, ANY_USER):
            return False
        if self.host in (WILDCARD, actor.host):
            return True
        return self.network is not None and self.network.contains(actor.host)


class Pattern(msgspec.Struct, eq=False, gc=False):
    """One resource pattern and what it grants to whom.

    A grant is a set of bits, see `store.DENY_SHIFT`. Nearly every pattern has one subject, which
    is kept inline: a dict would be four fifths of the pattern's memory, and one more place to
    look at for every decision.
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    subject: Subject
    grant: int
    others: dict[Subject, int] | None = None

    def grant_of(self, subject: Subject) -> int:
        """The grant bits of a principal and host; 0 if it has no entry."""
        if subject is self.subject:
            return self.grant
        return self.others.get(subject, 0) if self.others is not None else 0

    def grants(self) -> Iterator[tuple[Subject, int]]:
        """All (subject, grant) pairs, the empty ones left out."""
        if self.grant:
            yield self.subject, self.grant
        if self.others is not None:
            yield from self.others.items()

    def put(self, subject: Subject, grant: int) -> None:
        """Set what is granted to a subject; 0 takes it out."""
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
