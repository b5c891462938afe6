"""`ssl.principal.mapping.rules` (KIP-371): from a certificate's name to a principal's.

Rules are tried in order and the first whose pattern matches the whole name wins; `DEFAULT` takes
the name as it is. `RULE:pattern/replacement/` may end in `L` or `U` for lower or upper case.
"""

import re

import msgspec

_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?))"
    r"\s*(?:,|$)"
)


class MappingRule(msgspec.Struct, frozen=True):
    """One rule; no pattern means DEFAULT."""

    text: str
    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """The principal's name, or None where the rule does not match."""
        if self.pattern is None:
            return name
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        mapped = found.expand(self.replacement)
        if self.case == "L":
            return mapped.lower()
        return mapped.upper() if self.case == "U" else mapped


def parse_rules(text: str) -> tuple[MappingRule, ...]:
    """Read the setting; ValueError points at the first thing that is no rule."""
    rules = []
    at = 0
    while at < len(text.rstrip()):
        found = _RULE.match(text, at)
        if found is None:
            raise ValueError(
                f"principal mapping rules: `{text[at:].strip()}` does not begin with `DEFAULT` or"
                " `RULE:pattern/replacement/[LU]`"
            )
        rules.append(_rule(found))
        at = found.end()
    return tuple(rules) or (MappingRule("DEFAULT"),)


def map_name(rules: tuple[MappingRule, ...], name: str) -> str:
    """The principal's name for a certificate's; LookupError where no rule matches."""
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return mapped
    raise LookupError(f"no principal mapping rule applies to `{name}`")


def _rule(found: re.Match[str]) -> MappingRule:
    text = found.group().strip().rstrip(",")
    if found["default"]:
        return MappingRule(text)
    try:
        pattern = re.compile(_python_groups(found["pattern"]))
    except re.error as error:
        raise ValueError(f"principal mapping rules: in `{text}`: {error}") from error
    replacement = re.sub(r"\$(\d)", r"\\g<\1>", found["replacement"].replace("\\", "\\\\"))
    numbers = [int(one) for one in re.findall(r"\\g<(\d)>", replacement)]
    if any(number > pattern.groups for number in numbers):
        raise ValueError(f"principal mapping rules: `{text}` has no group ${max(numbers)}")
    return MappingRule(text, pattern, replacement, found["case"])


def _python_groups(pattern: str) -> str:
    """Java's named groups in Python's spelling."""
    return re.sub(r"\(\?<([A-Za-z]\w*)>", r"(?P<\1>", pattern)
