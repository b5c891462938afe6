"""Plans whose names are checked when their module is imported, not when a job first runs them."""

import re
from collections.abc import Iterable

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\{\w+\}|(?P<owner>[a-z_]\w*)\.(?P<column>\w+|\*)"
    r"|(?P<word>[a-z_]\w*)(?!\w)(?P<call>\s*\()?"
)
_RELATION = re.compile(r"\{(\w+)\}(?: (\w+))?")
_DEFINED = (
    r"\bas (\w+)",
    r"(\w+) as \(",
    r"\) (\w+)",
    r"\b(?:from|join) (\w+)",
    r"\b(?:from|join) \w+ (\w+)",
)
"""A name after `as`, of a common table, of a subquery, of a table, and the alias of one."""
_KEYWORDS = frozenset(
    {
        *("all", "and", "as", "by", "case", "distinct", "else", "end", "false", "from", "group"),
        *("having", "in", "is", "join", "left", "not", "null", "on", "or", "order", "select"),
        *("then", "true", "union", "when", "where", "with"),
    }
)


def checked_sql(text: str, **columns_by_relation: Iterable[str]) -> str:
    """Return the query. Raise ValueError if it names a column that its relations do not have.

    The columns of a relation with an alias are its own; what a subquery selects is not followed.
    """
    columns = {name: frozenset(names) for name, names in columns_by_relation.items()}
    relations = _RELATION.findall(text)
    if {name for name, _ in relations} != columns.keys():
        names = ", ".join(sorted({name for name, _ in relations} ^ columns.keys()))
        raise ValueError(f"relations without columns, or columns without a relation: {names}")
    aliases = {alias: columns[name] for name, alias in relations if alias not in {"", *_KEYWORDS}}
    defined = {name for pattern in _DEFINED for name in re.findall(pattern, text)}
    known = defined.union(*columns.values()) - _KEYWORDS
    for token in _TOKEN.finditer(text):
        owner, name = token["owner"], token["column"] or token["word"]
        if name is None or name == "*" or token["call"] or name in _KEYWORDS:
            continue
        possible = aliases.get(owner, known)
        if name not in possible and name not in aliases:
            raise ValueError(f"no column `{token[0]}`; known are {', '.join(sorted(possible))}")
        if owner and owner not in aliases and owner not in defined:
            raise ValueError(f"no relation `{owner}` for `{token[0]}`")
    return text
