"""Errors about unknown keywords of `start` and the fixtures."""

from collections.abc import Iterable

from kafka_shim.shim.settings.options import Place, options_of_place
from kafka_shim.testing.unknown_name import unknown_name_message


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
