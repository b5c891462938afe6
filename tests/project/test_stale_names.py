"""Comments and docstrings name functions, parameters and fields that exist."""

import re
from collections.abc import Iterable, Iterator

from tests.project.test_tidy import ALL_SOURCES, SOURCES, check, read, relative

IN_BACKTICKS = re.compile(r"`([A-Za-z_][\w.]*)(?:\([^`\n]*\))?`")
WORD = re.compile(r"\w+")
EXAMPLES = {"allow_alice_read_topic_orders", "READ_hiB"}
"""Made-up names that explain a rule of naming."""


def words_outside_backticks(texts: Iterable[str]) -> set[str]:
    """Return the words of code, strings and prose, without those that are only in backticks."""
    return {word for text in texts for word in WORD.findall(IN_BACKTICKS.sub(" ", text))}


def stale_names(text: str, existing: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and each name in backticks that no code has."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in IN_BACKTICKS.finditer(line):
            name = match[1].rpartition(".")[2]
            if "_" in name and name not in existing:
                yield number, match[1]


def test_names_in_backticks_exist() -> None:
    existing = words_outside_backticks(map(read, ALL_SOURCES)) | EXAMPLES
    check(
        f"{relative(path)}:{number} `{name}` does not exist"
        for path in SOURCES
        for number, name in stale_names(read(path), existing)
    )


def test_a_name_that_only_a_docstring_has_is_stale() -> None:
    text = 'def new_name(limit_ms):\n    """See `old_name`, `new_name()` and `limit_ms`."""\n'
    assert list(stale_names(text, words_outside_backticks([text]))) == [(2, "old_name")]
