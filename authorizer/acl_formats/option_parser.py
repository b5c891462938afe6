"""A parser of options that takes the same words on every Python."""

import argparse
from typing import Any


class OptionParser(argparse.ArgumentParser):
    """Takes `--` as the value in `--topic=--`, as Python does itself since 3.13."""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if not action.option_strings or arg_strings != ["--"]:
            return super()._get_values(action, arg_strings)
        value = self._get_value(action, "--")
        self._check_value(action, value)
        return value
