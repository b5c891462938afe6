"""Make an ACL of its seven texts, which every format has in some form."""

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

AclTexts = tuple[str, str, str, str, str, str, str]
"""Principal, host, resource type, resource name, pattern type, operation, permission."""

AclWithLine = tuple[Acl, int]
"""An ACL and the line of its text that says it; 0 if that is unknown."""

_PARSERS: Mapping[int, Callable[[str], object]] = MappingProxyType(
    {2: parse_resource_type, 4: parse_pattern_type, 5: parse_operation, 6: parse_permission}
)
"""For the parts that are not any text."""


def parse_acl_texts(texts: AclTexts, where: str = "", lines: Sequence[int] = ()) -> Acl:
    """Return the ACL. Raise AclTextError, which begins with `where`, for an invalid text.

    `lines` are the lines of the parts.
    """
    principal, host, resource_type, resource_name, pattern_type, operation, permission = texts
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
        raise AclTextError(said, lines[_position_of_invalid_text(texts)] if lines else 0) from error


def _position_of_invalid_text(texts: AclTexts) -> int:
    """Return the position of the first invalid part."""
    for at, parse in _PARSERS.items():
        try:
            parse(texts[at])
        except AclTextError:
            return at
    raise AssertionError("a part is wrong")


@contextmanager
def add_line_to_errors(line: int) -> Iterator[None]:
    """Add the line to an AclTextError without one."""
    try:
        yield
    except AclTextError as error:
        if error.line:
            raise
        raise AclTextError(error.message, line, error.further_errors) from error


class ErrorCollector:
    """Collects the errors in a text, so that one exception lists all of them."""

    def __init__(self) -> None:
        self._found: list[AclTextError] = []

    @contextmanager
    def collect_errors(self, line: int = 0) -> Iterator[None]:
        """Record an AclTextError and continue; it gets this line if it has none."""
        try:
            yield
        except AclTextError as error:
            self.add_error(error, line)

    def add_error(self, error: AclTextError, line: int) -> None:
        """Record an error that was caught."""
        for each in (error, *error.further_errors):
            self._found.append(AclTextError(each.message, each.line or line))

    def raise_collected_errors(self) -> None:
        """Raise the first AclTextError, with the others, if there are any."""
        if self._found:
            first, *others = self._found
            raise AclTextError(first.message, first.line, others)
