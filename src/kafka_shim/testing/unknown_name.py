"""Errors for unknown names in tests."""

from collections.abc import Iterable


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """Return an error about an unknown name, with the nearest known name, or all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes needs it

    names = list(known)
    close = get_close_matches(name, names, 1)
    expected = f"did you mean `{close[0]}`?" if close else f"expected one of {', '.join(names)}"
    return f"unknown {kind} `{name}`; {expected}"
