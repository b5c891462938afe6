"""The parser of all commands: an error is one line that points to --help."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from kafka_shim.text import extras
from kafka_shim.text.message_text import sanitize_message
from kafka_shim.text.option_parser import (
    SuggestingArgumentParser,
    did_you_mean_text,
    rewrite_parser_error,
)

EXIT_USAGE = 2
_FORMAT_JSON = "--format=json"
USAGE_OPTIONS_MAX = 8
"""A usage line with more options than this names only the required ones."""


def _terminal_columns() -> int:
    """Return what shutil.get_terminal_size does, for which argparse imports shutil with all
    compressions.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


class CompactHelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Prints the value of an option once, `-l, --log-level LEVEL`, as Python 3.13 does."""

    def __init__(self, prog: str, width: int | None = None, **settings: Any) -> None:
        super().__init__(
            prog, width=_terminal_columns() - 2 if width is None else width, **settings
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        actions, groups = list(actions), list(groups)
        if usage is not None or len(actions) <= USAGE_OPTIONS_MAX:
            return super()._format_usage(usage, actions, groups, prefix)
        kept = [group for group in groups if group.required]
        alternatives = [action for group in kept for action in group._group_actions]
        needed = [
            action
            for action in actions
            if action.required or not action.option_strings or action in alternatives
        ]
        program, self._prog = self._prog, f"{self._prog} [OPTION ...]"
        text = super()._format_usage(None, needed, kept, prefix)
        self._prog = program
        return text


class CommandParser(SuggestingArgumentParser):
    """Each sub-command has its own parser; errors are reported by the innermost one."""

    words: Sequence[str] | None = None
    """The words of the command line; None where all options are listed, not parsed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": CompactHelpFormatter, **settings})
        self._words: list[str] = []
        if self.add_help:
            self._option_string_actions["-h"].help = "Print this help and exit"
        self.set_defaults(
            program=self.prog,
            exit_with_usage_error=self.error,
            reject_unknown_words=self.reject_unknown_words,
        )

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._words = self._normalize_json_option(list(args or ()))
        return super().parse_known_args(self._words, namespace)

    def _normalize_json_option(self, words: list[str]) -> list[str]:
        """Return the words with `--json` for `--format json`, or the reverse."""
        options = self._option_string_actions
        end = words.index("--") if "--" in words else len(words)
        choices = (options["--format"].choices if "--format" in options else None) or ()
        before: list[str] = []
        if "--json" in options and "json" not in choices:
            for word in words[:end]:
                if word == "json" and before[-1:] == ["--format"]:
                    before[-1] = "--json"
                else:
                    before.append("--json" if word == _FORMAT_JSON else word)
        elif "--json" not in options and "json" in choices:
            before = [_FORMAT_JSON if word == "--json" else word for word in words[:end]]
        else:
            return words
        return [*before, *words[end:]]

    def format_help(self) -> str:
        from kafka_shim.cli.help_examples import examples_section, exit_codes_line

        self.epilog = self.epilog or examples_section(self.prog)
        has_commands = any(isinstance(each, argparse._SubParsersAction) for each in self._actions)
        if "xit codes" not in f"{self.description}{self.epilog}" and not has_commands:
            codes = exit_codes_line(
                self.prog, can_fail_on_findings="--fail-on" in self._option_string_actions
            )
            self.epilog = "\n\n".join(filter(None, (self.epilog, codes)))
        return super().format_help()

    def reject_unknown_words(self, unknown: Sequence[str]) -> NoReturn:
        """Exit with an error about the first unknown word, and the option that it resembles."""
        if not unknown[0].startswith("-"):
            self.error(f"unexpected argument `{unknown[0]}`")
        option = unknown[0].partition("=")[0]
        hint = did_you_mean_text(option, self._option_string_actions)
        self.error(f"unknown option `{option}`{hint or _commands_with_option_text(option)}")

    def error(self, message: str) -> NoReturn:
        """Exit with an error of one line; an unknown option is the cause of a missing one."""
        text = rewrite_parser_error(message)
        if text.startswith("missing ") and (unknown := self._first_unknown_option()):
            self._words = []
            self.reject_unknown_words([unknown])
        self.exit(
            EXIT_USAGE,
            f"{self.prog}: {sanitize_message(text)} (see `{self.prog} --help`)\n",
        )

    def _first_unknown_option(self) -> str | None:
        known = self._option_string_actions
        for word in self._words:
            option = word.partition("=")[0]
            if option == "--" or (option in known and known[option].nargs == argparse.REMAINDER):
                return None
            if option.startswith("--") and not any(name.startswith(option) for name in known):
                return word
        return None


class OverviewParser(CommandParser):
    """The parser of `kafka-shim` itself, whose help has all commands in groups."""

    def format_help(self) -> str:
        from kafka_shim.cli.help_examples import GROUPS, SUBCOMMANDS

        [commands] = [a for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        summaries = {each.dest: each.help or "" for each in commands._choices_actions}
        lines = [f"usage: {self.prog} COMMAND ...", "", str(self.description)]
        for title, example, names in GROUPS:
            lines += ["", f"{title}: {example}"]
            for name in names:
                lines.append(f"    {name:<14}{summaries[name]}")
                lines += [f"    {'':<14}({SUBCOMMANDS[name]})"] if name in SUBCOMMANDS else []
        return "\n".join([*lines, "", str(self.epilog), ""])


def _commands_with_option_text(option: str) -> str:
    """Return which commands have an option; an empty text if none has."""
    from kafka_shim.cli import COMMANDS, build_command_line_parser

    parser = build_command_line_parser(COMMANDS, COMMANDS)
    programs = [
        f"`{each.prog}`" for each in iter_commands(parser) if option in each._option_string_actions
    ]
    return (
        f"; {', '.join(programs[:3])} {'has' if len(programs) == 1 else 'have'} it"
        if programs
        else ""
    )


def iter_commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of commands and sub-commands at all levels, such as `trace info`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from iter_commands(command)


class ShowTextAction(argparse.Action):
    """Print the text that a function returns for the name of the program, and exit."""

    def __init__(self, text: Callable[[str], str], **settings: Any) -> None:
        super().__init__(**settings, nargs=0)
        self._text = text

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 - argparse's
        values: str | Sequence[Any] | None,  # noqa: ARG002 - argparse's
        option_string: str | None = None,  # noqa: ARG002 - argparse's
    ) -> NoReturn:
        print(self._text(parser.prog))
        parser.exit()


def version_text(program: str) -> str:
    """Return the version and the releases of Kafka that can be emulated."""
    import platform
    from importlib.metadata import version

    from kafka_shim.protocol.api_versions import RELEASES

    number = version("kafka-shim")
    if extras.IS_SINGLE_FILE:
        number += f" (single file with Python {platform.python_version()})"
    return f"{program} {number}, as Apache Kafka {RELEASES[0]} to {RELEASES[-1]}"


def license_text(_program: str) -> str:
    """Return the license of kafka-shim, and in the single file those of all that it contains."""
    from importlib import import_module
    from importlib.metadata import files

    if extras.IS_SINGLE_FILE:
        return str(import_module("single_file_licenses").TEXT)
    texts = [file for file in files("kafka-shim") or () if file.name in ("LICENSE", "NOTICE")]
    return "\n".join(file.read_text() for file in texts)
