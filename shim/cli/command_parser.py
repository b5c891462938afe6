"""How every command reads its words: wrong ones are one line, and say where help is."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

EXIT_USAGE = 2


class CommandParser(argparse.ArgumentParser):
    """Sub-commands get one of their own; the innermost is `usage_error` in what it parses."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.set_defaults(usage_error=self.error)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see `{self.prog} --help`)\n")


class ShowVersion(argparse.Action):
    """Print which program this is, and which releases of Kafka it knows."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, nargs=0)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 - argparse's
        values: str | Sequence[Any] | None,  # noqa: ARG002 - argparse's
        option_string: str | None = None,  # noqa: ARG002 - argparse's
    ) -> NoReturn:
        from importlib.metadata import version

        from protocol.api_versions import RELEASES

        releases = f"Apache Kafka {RELEASES[0]} to {RELEASES[-1]}"
        print(f"{parser.prog} {version('kafka-shim')}, as {releases}")
        parser.exit()
