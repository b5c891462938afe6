"""Names that look like a misspelling of another name."""

from collections.abc import Iterable

_WORD_MIN = 3
"""Shorter words differ on purpose, as in topic-a and topic-b."""


def suggest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` seems to be meant for; None if it is known itself.

    A misspelling differs in case only, or in one letter that is missing, added, wrong, or swapped
    with its neighbour. Numbers are no misspellings: orders-1 is not orders-2.
    """
    names = set(known)
    if name in names:
        return None
    return next((each for each in sorted(names) if _is_misspelling(name, each)), None)


def _is_misspelling(name: str, known: str) -> bool:
    written, meant = name.casefold(), known.casefold()
    if written == meant:
        return True
    start = _common_prefix_length(written, meant)
    end = _common_prefix_length(written[start:][::-1], meant[start:][::-1])
    first, second = (text[start : len(text) - end] for text in (written, meant))
    is_one_slip = max(len(first), len(second)) == 1 or (len(first) == 2 and first == second[::-1])
    letters = _adjacent_letter_count(meant, start, len(meant) - end)
    has_digit = any(letter.isdigit() for letter in first + second)
    return is_one_slip and not has_digit and letters >= _WORD_MIN


def _common_prefix_length(first: str, second: str) -> int:
    """Return the length of the common beginning."""
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second))
    )


def _adjacent_letter_count(text: str, start: int, end: int) -> int:
    """Return the number of letters that follow one another before and after a part of a text."""
    before, after = text[:start][::-1], text[end:]
    return sum(
        next((at for at, letter in enumerate(side) if not letter.isalpha()), len(side))
        for side in (before, after)
    )
