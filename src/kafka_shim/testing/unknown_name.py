"""Errors for unknown names in tests."""

from collections.abc import Iterable

from kafka_shim.shim.settings.options import Place, options_of_place


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """Return an error about an unknown name, with the nearest known name, or all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes needs it

    names = list(known)
    close = get_close_matches(name, names, 1)
    expected = f"did you mean `{close[0]}`?" if close else f"expected one of {', '.join(names)}"
    return f"unknown {kind} `{name}`; {expected}"


def check_option_names(names: Iterable[str]) -> None:
    """Raise a TypeError that names the nearest keyword if one is unknown."""
    known = [option.key for option in options_of_place(Place.KEYWORD)]
    options_of_serve = {option.name: option for option in options_of_place(Place.COMMAND_LINE)}
    for name in names:
        if name in known:
            continue
        if name not in options_of_serve:
            raise TypeError(unknown_name_message("keyword", name, known))
        option = options_of_serve[name]
        if option.why_no_keyword:
            raise TypeError(f"keyword `{name}` is not offered: {option.why_no_keyword}")
        raise TypeError(f"unknown keyword `{name}`; did you mean `{option.key}`?")
