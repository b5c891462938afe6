"""Numbers from outside: `str.isdigit` is true for `²`, and `int` refuses very long ones."""

_DIGITS_MAX = 18


def parse_whole_number(text: str) -> int | None:
    """Return what ASCII digits say, from 0; None for any other text or more than 18 digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_number else None
