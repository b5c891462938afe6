"""Which authorizer decides, and what each API requires in the emulated release."""

from authorizer.authorizer import Authorizer
from authorizer.requirement import BoundRequirement, Requirement, bind
from authorizer.rules import AclRules


class Policy:
    """The authorization side of a cluster; `authorizer` None means that every check passes."""

    __slots__ = ("_bound", "authorizer", "release", "rules")

    def __init__(self, release: str, authorizer: Authorizer | None, rules: AclRules) -> None:
        self.release = release
        self.authorizer = authorizer
        self.rules = rules
        self._bound: dict[Requirement, BoundRequirement] = {}

    def bound(self, requirement: Requirement) -> BoundRequirement:
        """The requirement as this release has it."""
        bound = self._bound.get(requirement)
        if bound is None:
            bound = self._bound[requirement] = bind(requirement, self.release)
        return bound
