"""An ACL from the seven texts that every form has in one way or another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    parse_operation,
    parse_pattern_type,
    parse_permission,
    parse_resource_type,
)
from kafka_shim.authorizer.model import Acl

Parts = tuple[str, str, str, str, str, str, str]
"""Principal, host, resource type, resource name, pattern type, operation, permission."""

PlacedAcl = tuple[Acl, int]
"""An ACL and the line of its text that says it; 0 if that is unknown."""

_PARSERS: Mapping[int, Callable[[str], object]] = MappingProxyType(
    {2: parse_resource_type, 4: parse_pattern_type, 5: parse_operation, 6: parse_permission}
)
"""For the parts that are not any text."""


def acl_of(parts: Parts, where: str = "", lines: Sequence[int] = ()) -> Acl:
    """The ACL; AclTextError, beginning with `where`, says which text is no part of one.

    `lines` are those of the parts.
    """
    principal, host, resource_type, resource_name, pattern_type, operation, permission = parts
    try:
        return Acl(
            parse_resource_type(resource_type),
            resource_name,
            parse_pattern_type(pattern_type),
            principal,
            host,
            parse_operation(operation),
            parse_permission(permission),
        )
    except AclTextError as error:
        said = f"{where}: {error}" if where else str(error)
        raise AclTextError(said, lines[_wrong(parts)] if lines else 0) from error


def _wrong(parts: Parts) -> int:
    """The position of the first part that is no word of ACLs."""
    for at, parse in _PARSERS.items():
        try:
            parse(parts[at])
        except AclTextError:
            return at
    raise AssertionError("a part is wrong")


@contextmanager
def at_line(line: int) -> Iterator[None]:
    """Give the line to an AclTextError that does not know any."""
    try:
        yield
    except AclTextError as error:
        if error.line:
            raise
        raise AclTextError(error.said, line, error.others) from error


class Mistakes:
    """Every mistake in a text, so that one error lists them all."""

    def __init__(self) -> None:
        self._found: list[AclTextError] = []

    @contextmanager
    def at(self, line: int = 0) -> Iterator[None]:
        """Record an AclTextError and go on; it gets this line if it has none."""
        try:
            yield
        except AclTextError as error:
            self.add(error, line)

    def add(self, error: AclTextError, line: int) -> None:
        """Note one that was caught."""
        for each in (error, *error.others):
            self._found.append(AclTextError(each.said, each.line or line))

    def check(self) -> None:
        """Raise an AclTextError, the first of them with the others, if there is any."""
        if self._found:
            first, *others = self._found
            raise AclTextError(first.said, first.line, others)
