"""Text of messages to users: long values are cut, characters that control a terminal escaped."""

import re
import sys
from collections.abc import Iterable
from typing import Final

VALUE_MAX: Final = 80
"""Characters that a message repeats of a value between backticks, or of a word."""
PATH_MAX: Final = 300
"""Characters that a message repeats of a value or word that has a `/` or `\\`, as paths have."""

_VALUE: Final = r"`([^`]+)`"
_WORD: Final = rf"[^\s`]{{{VALUE_MAX}}}[^\s`]+"
_RESULT_WORD: Final = rf"(\S{{{PATH_MAX}}})\S+"
_PATH: Final = r"[/\\](?!/)"
_WITH_ES: Final = ("s", "ch")


def _truncate_quoted_value(match: re.Match[str]) -> str:
    return f"`{_truncate(match[1])}`"


def _truncate_word(match: re.Match[str]) -> str:
    return _truncate(match[0])


def _truncate(text: str) -> str:
    is_path = "://" not in text and re.search(_PATH, text[:VALUE_MAX]) is not None
    length = PATH_MAX if is_path else VALUE_MAX
    return text if len(text) <= length else f"{text[:length]}…"


def sanitize_message(text: str) -> str:
    """Return a message with long values cut, and with control characters, line breaks and
    surrogates escaped.
    """
    return escaped(re.sub(_WORD, _truncate_word, re.sub(_VALUE, _truncate_quoted_value, text)))


def sanitize_result_line(text: str) -> str:
    """Return a line of a result, which may name what has a long name: only words beyond the
    longest name of a topic are cut.
    """
    return escaped(re.sub(_RESULT_WORD, r"\1…", text) if len(text) > PATH_MAX else text)


def sanitize_result_lines(lines: Iterable[str]) -> str:
    """Return lines of a result as one text, each as the function above returns it."""
    listed = list(lines)
    if "".join(listed).isprintable() and max(map(len, listed), default=0) <= PATH_MAX:
        return "\n".join(listed)  # as mostly: no line changes
    return "\n".join(map(sanitize_result_line, listed))


def escaped(text: str) -> str:
    """Return the text with control characters, line breaks and surrogates escaped."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def count_with_noun(count: int, noun: str) -> str:
    """Return `1 ACL`, `2 ACLs` or `2 accesses`."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith(_WITH_ES) else 's'}"


def print_note(text: str) -> None:
    """Print a note in the form of the command line's errors."""
    sys.stderr.write(f"kafka-shim: note: {sanitize_message(text)}\n")
