"""An option parser that accepts and rejects the same words on every Python version."""

import argparse
import re
from collections.abc import Iterable
from typing import Any, Final

_NUMBERS: Final[dict[Any, str]] = {int: "whole number", float: "number"}
_MISSING: Final = re.compile(r"the following arguments are required: (.+)")
_MISSING_ALTERNATIVES: Final = re.compile(r"one of the arguments (.+) is required")
_EXCLUSIVE: Final = re.compile(r"(\S+): not allowed with argument (\S+)")


class SuggestingArgumentParser(argparse.ArgumentParser):
    """Accepts `--` as the value in `--topic=--`, as Python does since 3.13."""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if not action.option_strings or arg_strings != ["--"]:
            return super()._get_values(action, arg_strings)
        value = self._get_value(action, "--")
        self._check_value(action, value)
        return value

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Convert a value; the error names the expected numbers instead of Python's types."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if action.type not in _NUMBERS:
                raise
            text = f"invalid value `{arg_string}`; expected a {_NUMBERS[action.type]}"
            raise argparse.ArgumentError(action, text) from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Reject a value that is not a choice; suggest the choice that was probably meant."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = did_you_mean_text(str(value), choices) or f"; expected {', '.join(choices)}"
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"unknown command `{value}`{hint}")
        raise argparse.ArgumentError(action, f"unknown value `{value}`{hint}")


def rewrite_parser_error(message: str) -> str:
    """Return argparse's text in the form of the other errors."""
    text = message.removeprefix("argument ")
    if missing := _MISSING.fullmatch(text):
        return "missing " + ", ".join(f"`{name}`" for name in missing[1].split(", "))
    if missing := _MISSING_ALTERNATIVES.fullmatch(text):
        return "missing " + " or ".join(f"`{name}`" for name in missing[1].split())
    if exclusive := _EXCLUSIVE.fullmatch(text):
        return f"`{exclusive[1]}` cannot be combined with `{exclusive[2]}`"
    return text.replace(": expected one argument", ": expected a value")


def did_you_mean_text(word: str, known: Iterable[str]) -> str:
    """Return a question with a similar known word, or an empty text."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is wrong

    matches = get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"; did you mean `{matches[0]}`?" if matches else ""
