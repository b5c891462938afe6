"""`ssl.principal.mapping.rules` (KIP-371): from a certificate's name to a principal's.

Rules are tried in order and the first whose pattern matches the whole name wins. `DEFAULT` takes
the name as it is. `RULE:pattern/replacement/` may end in `L` or `U` for lower or upper case. As in
Kafka, the replacement is put for *each* match that a search finds in the name, not only for the
whole.
"""

import re
from typing import Any, TypeAlias

import msgspec

from kafka_shim.shim.tls.distinguished_name import subject_of_certificate
from kafka_shim.shim.tls.java_patterns import JavaPattern

_SETTING = "ssl.principal.mapping.rules"
_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\(?s:.)|[^\\/])*)/(?P<replacement>(?:\\(?s:.)|[^\\/])*)/(?P<case>[LU]?)"
    r"|(?=\s*[,\n]))\s*(?:[,\n]|\Z)"
)
_REFERENCE = re.compile(
    r"\$(?:(?P<number>[0-9]+)|\{(?P<name>[a-zA-Z][a-zA-Z0-9]*)\})|\\(?P<plain>(?s:.))"
)
_TEXT_MAX = 80


ReplacementParts: TypeAlias = tuple[str | int, ...]
"""Texts, and the numbers of the groups whose matches are put between them."""


class MappingRule(msgspec.Struct, frozen=True):
    """One rule; no pattern means DEFAULT, no replacement one that Java's `replaceAll` rejects."""

    text: str
    pattern: JavaPattern | None = None
    replacement: ReplacementParts | None = ()
    converts_to_case: str = ""

    def mapped_name(self, name: str) -> str | None:
        """Return the principal's name; None if the rule does not match.

        Raise LookupError if the replacement is invalid.
        """
        if self.pattern is None:
            return name
        if not self.pattern.matches(name):
            return None
        if self.replacement is None:
            raise LookupError(f"the replacement of `{_shorten_text(self.text)}` is invalid")
        mapped = self.pattern.replace_all(name, self._replacement_text)
        if self.converts_to_case == "L":
            return mapped.lower()
        return mapped.upper() if self.converts_to_case == "U" else mapped

    def _replacement_text(self, match: Any) -> str:
        parts = self.replacement or ()
        return "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


def parse_mapping_rules(text: str) -> tuple[MappingRule, ...]:
    """Read the setting. As in Kafka, a rule before a line break without a comma has no effect.

    Raise ValueError, which names the first thing that is no rule.
    """
    text = text.strip()
    rules = []
    at = 0
    while at < len(text):
        match = _RULE.match(text, at)
        if match is None:
            raise ValueError(
                f"{_SETTING}: `{_shorten_text(text[at:].strip())}` does not begin with `DEFAULT`"
                " or `RULE:pattern/replacement/[LU]`"
            )
        is_rule = match["default"] or match["pattern"] is not None
        if is_rule and not match.group().endswith("\n"):
            rules.append(_parse_rule(match))
        at = match.end()
    return tuple(rules)


def principal_of_certificate(certificate: bytes, rules: tuple[MappingRule, ...]) -> str:
    """Return the principal that a DER certificate names.

    Raise LookupError if no rule matches, ValueError if its subject cannot be read.
    """
    return f"User:{map_name_by_first_rule(rules, subject_of_certificate(certificate))}"


def map_name_by_first_rule(rules: tuple[MappingRule, ...], name: str) -> str:
    """Return the principal's name for a certificate's. Raise LookupError if no rule matches."""
    for rule in rules:
        mapped = rule.mapped_name(name)
        if mapped is not None:
            return mapped
    raise LookupError(f"no principal mapping rule applies to `{_shorten_text(name)}`")


def _parse_rule(match: re.Match[str]) -> MappingRule:
    text = match.group().strip().rstrip(",")
    if match["default"]:
        return MappingRule(text)
    try:
        pattern = JavaPattern(match["pattern"])
    except ValueError as error:
        raise ValueError(f"{_SETTING}: in `{_shorten_text(text)}`: {error}") from error
    replacement = _parse_replacement(match["replacement"], pattern)
    return MappingRule(text, pattern, replacement, match["case"])


def _parse_replacement(text: str, pattern: JavaPattern) -> ReplacementParts | None:
    """Return the parts of a replacement; None if Java finds the replacement invalid.

    Kafka takes references to groups that do not exist literally, if there are groups at all.
    """
    parts: list[str | int] = []
    end = 0
    for match in _REFERENCE.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        if match["plain"] is not None:
            parts.append(match["plain"])
        elif match["name"] is not None:
            if match["name"] not in pattern.group_numbers:
                return None
            parts.append(pattern.group_numbers[match["name"]])
        else:
            digits = match["number"]
            used = _count_group_digits(digits, pattern.group_count)
            if not used and pattern.group_count == 0:
                return None
            parts += [int(digits[:used]), digits[used:]] if used else [match[0]]
    is_invalid = "$" in _REFERENCE.sub("", text)  # a dollar sign before neither digit nor brace
    return None if is_invalid else (*parts, text[end:])


def _count_group_digits(digits: str, group_count: int) -> int:
    """Return how many of the digits are the number of a group, 0 if the first is none already."""
    used = 0
    while used < len(digits) and int(digits[: used + 1]) <= group_count:
        used += 1
    return used


def _shorten_text(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 3]}..."
