"""`ssl.principal.mapping.rules` (KIP-371): from a certificate's name to a principal's.

Rules are tried in order and the first whose pattern matches the whole name wins; `DEFAULT` takes
the name as it is. `RULE:pattern/replacement/` may end in `L` or `U` for lower or upper case.
"""

import re
from typing import Any

import msgspec

from kafka_shim.shim.patterns import InvalidPatternError, compile_pattern
from kafka_shim.shim.tls.distinguished_name import subject_of

_GROUP = re.compile(r"\$(\d)")

_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?))"
    r"\s*(?:,|$)"
)


class MappingRule(msgspec.Struct, frozen=True):
    """One rule; no pattern means DEFAULT."""

    text: str
    pattern: Any = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Return the principal's name; None if the rule does not match."""
        if self.pattern is None:
            return name
        match = self.pattern.fullmatch(name)
        if match is None:
            return None
        mapped = _GROUP.sub(lambda number: match.group(int(number[1])) or "", self.replacement)
        if self.case == "L":
            return mapped.lower()
        return mapped.upper() if self.case == "U" else mapped


def parse_rules(text: str) -> tuple[MappingRule, ...]:
    """Read the setting; ValueError points at the first thing that is no rule."""
    rules = []
    at = 0
    while at < len(text.rstrip()):
        match = _RULE.match(text, at)
        if match is None:
            raise ValueError(
                f"principal mapping rules: `{_shortened(text[at:].strip())}` does not begin with `DEFAULT` or"
                " `RULE:pattern/replacement/[LU]`"
            )
        rules.append(_rule(match))
        at = match.end()
    return tuple(rules) or (MappingRule("DEFAULT"),)


def principal_of(certificate: bytes, rules: tuple[MappingRule, ...]) -> str:
    """Return the principal that a DER certificate names.

    Raise LookupError if no rule matches, ValueError if its subject cannot be read.
    """
    return f"User:{map_name(rules, subject_of(certificate))}"


def map_name(rules: tuple[MappingRule, ...], name: str) -> str:
    """Return the principal's name for a certificate's; LookupError if no rule matches."""
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return mapped
    raise LookupError(f"no principal mapping rule applies to `{_shortened(name)}`")


def _rule(match: re.Match[str]) -> MappingRule:
    text = match.group().strip().rstrip(",")
    if match["default"]:
        return MappingRule(text)
    try:
        pattern = re.compile(_python_groups(match["pattern"]))
    except re.error as error:
        raise ValueError(f"principal mapping rules: in `{_shortened(text)}`: {error}") from error
    except (OverflowError, RecursionError):
        reason = "the pattern is too deeply nested or has too large a number"
        raise ValueError(f"principal mapping rules: in `{_shortened(text)}`: {reason}") from None
    numbers = [int(number) for number in _GROUP.findall(match["replacement"])]
    if any(number > pattern.groups for number in numbers):
        raise ValueError(f"principal mapping rules: `{_shortened(text)}` has no group ${max(numbers)}")
    return MappingRule(text, _linear(pattern), match["replacement"], match["case"])


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _linear(pattern: re.Pattern[str]) -> Any:
    """Compile with RE2, so that no name takes long; patterns that RE2 lacks run as in Java."""
    try:
        return compile_pattern(pattern.pattern)
    except InvalidPatternError:
        return pattern


def _python_groups(pattern: str) -> str:
    """Convert Java's named groups to Python's syntax."""
    return re.sub(r"\(\?<([A-Za-z]\w*)>", r"(?P<\1>", pattern)
