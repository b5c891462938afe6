"""JSON that people and terminals read: letters as they are, control characters escaped."""

import json
import re
from typing import Any, Final

_NOT_ASCII: Final = re.compile(r"[^\n\x20-\x7e]")


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return JSON in which characters that control a terminal or the direction of text are
    escaped, which does not change the value.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if text.isprintable() else _NOT_ASCII.sub(_escape_unprintable, text)


def _escape_unprintable(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]
