"""Expectations with variables: one entry that stands for an expectation per team, topic or user.

- for: {team: teams.txt}
  nobody-but: ["User:{team}-app"]
  may: Write
  topic: "{team}-*"
"""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.expectation import parse_strings
from kafka_shim.policy.formats.values_with_lines import MappingWithLines

VARIABLES_KEY = "for"
EXPANDED_MAX = 100_000
"""Expectations that one entry may stand for."""


def expand_entry(entry: object, folder: Path) -> list[object]:
    """Return the entry once for each combination of its variables' values.

    A variable has a list of values, or the name of a file with one value per line, relative to
    `folder`. Raise AclTextError for variables that are invalid or not used.
    """
    if not isinstance(entry, Mapping) or VARIABLES_KEY not in entry:
        return [entry]
    variables = entry[VARIABLES_KEY]
    if not isinstance(variables, Mapping) or not variables:
        raise AclTextError("`for` needs variables with values, such as `for: {team: [a, b]}`")
    values = {
        str(name): _values_of_variable(str(name), value, folder)
        for name, value in variables.items()
    }
    unused = [name for name in values if f"{{{name}}}" not in str(entry)]
    if unused:
        raise AclTextError(f"the variable `{unused[0]}` is not used; write {{{unused[0]}}}")
    total = 1
    for each in values.values():
        total *= len(each)
    if total > EXPANDED_MAX:
        raise AclTextError(f"`for` stands for {total} expectations, more than {EXPANDED_MAX}")
    return [
        _fill_variables(entry, dict(zip(values, combination, strict=True)))
        for combination in product(*values.values())
    ]


def _values_of_variable(name: str, value: object, folder: Path) -> Sequence[str]:
    if not isinstance(value, str):
        return parse_strings(value, f"for: {name}")
    try:
        lines = (folder / value).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AclTextError(f"for: {name}: cannot read `{value}`: {error}") from error
    values = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not values:
        raise AclTextError(f"for: {name}: `{value}` has no values")
    return values


def _fill_variables(entry: Mapping[Any, Any], values: Mapping[str, str]) -> MappingWithLines:
    replaced = MappingWithLines(
        {
            key: _fill_placeholders(value, values)
            for key, value in entry.items()
            if key != VARIABLES_KEY
        }
    )
    replaced.line = entry.line if isinstance(entry, MappingWithLines) else 0
    replaced.lines = entry.lines if isinstance(entry, MappingWithLines) else {}
    return replaced


def _fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in values.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, list):
        return [_fill_placeholders(each, values) for each in value]
    if isinstance(value, Mapping):
        return {
            _fill_placeholders(key, values): _fill_placeholders(each, values)
            for key, each in value.items()
        }
    return value
