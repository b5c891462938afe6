"""Parse JSON into objects with their line numbers."""

import json
import re
from collections.abc import Iterator
from typing import Any

from kafka_shim.authorizer.acl_formats.lines import Lined
from kafka_shim.authorizer.acl_names import AclTextError

_MARK = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{}\n]', re.DOTALL)


def load_json(text: str) -> Any:
    """Return a JSON value with objects as `Lined`; AclTextError, with the line, if invalid."""
    lines = _lines_of_objects(text)

    def lined(pairs: list[tuple[str, Any]]) -> Lined:
        found = Lined(pairs)
        found.line, keys = next(lines)
        found.lines = {key: line for (key, _), line in zip(pairs, keys, strict=True)}
        return found

    try:
        return json.loads(text, object_pairs_hook=lined)
    except json.JSONDecodeError as error:
        raise AclTextError(f"not JSON: {error.msg}", error.lineno) from error
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        raise AclTextError(f"unsupported JSON: {error}") from error


def _lines_of_objects(text: str) -> Iterator[tuple[int, list[int]]]:
    """Yield the lines of each object and of its keys, in the order in which objects end."""
    line, open_objects = 1, list[tuple[int, list[int]]]()
    for mark in _MARK.finditer(text):
        if mark[0] == "\n":
            line += 1
        elif mark[0] == "{":
            open_objects.append((line, []))
        elif mark[0] == "}":
            yield open_objects.pop()
        elif mark[1] is not None:
            open_objects[-1][1].append(line)
            line += mark[1].count("\n")
