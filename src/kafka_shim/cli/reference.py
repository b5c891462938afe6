"""The reference of all commands as Markdown: `python -m kafka_shim.cli.reference FOLDER`."""

import argparse
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kafka_shim.cli import COMMANDS, import_command_module
from kafka_shim.cli.command_parser import CommandParser, iter_commands
from kafka_shim.shim.settings.option_arguments import add_broker_arguments

WIDTH = 96
BROKER_OPTIONS_PAGE = "broker-options.md"

_INDEX = """\
# Commands

All commands of `kafka-shim`, each with its options. `kafka-shim help COMMAND` prints the same.

| command | does |
|---|---|
{rows}

The commands that start a broker share the [broker options](broker-options.md). Some commands need
an [extra](../../start/install.md#extras); an error names it. [Installation](../../start/install.md)
has what is missing on Windows. [Exit
codes](../exit-codes.md) are equal for all commands. An option can be shortened as long as it stays
unique (`--kafka-v`): write it in full in scripts, since new options can end that. Input and output
are UTF-8 in every locale.
`kafka-shim --version` prints the first and the last Kafka release that kafka-shim emulates.

`python -m kafka_shim.cli.reference docs/reference/commands` writes these pages.
"""
_BROKER_OPTIONS = """\
# Broker options

The options of a broker, for `serve`, `run` and the other commands that start a broker.
[Configuration](../../guides/configuration.md) describes files and environment variables with these
settings, and [Persistence](../../guides/persistence.md) which of them have an effect on a broker
that starts again with its `--data-dir`.
"""
_GUIDES: Final = {
    "serve": """\
[Configuration](../../guides/configuration.md) has files, environment variables, ports and default
permissions. [Persistence](../../guides/persistence.md) says what survives a restart, [Container
image](../../guides/container.md) how to start the broker in Docker, and
[Troubleshooting](../../guides/troubleshooting.md) what to do if it does not start.""",
    "run": """\
[Java, Node, Go and other languages](../../guides/languages.md) and [Continuous
integration](../../guides/ci.md) have examples. The options for playback are described in
[Cassettes](../../guides/cassettes.md), `--mutate-acls` in [Mutation
testing](../../guides/mutation.md), and `--control` in [Inspector](../../guides/inspector.md).""",
    "acls": """\
[ACL file formats](../../guides/acl-formats.md) says what each format cannot express.
[`policy plan`](policy.md#kafka-shim-policy-plan) changes many ACLs in a safe order, and can undo
it. Listing needs DESCRIBE on the cluster, changes need ALTER.""",
    "explain": """\
[Why was it denied?](../../start/denials.md) begins with the error of a client. Reading the ACLs of
a broker needs DESCRIBE on the cluster.""",
    "who-can": """\
[`policy matrix`](policy.md#kafka-shim-policy-matrix) lists all resources and principals. Reading
the ACLs of a broker needs DESCRIBE on the cluster.""",
    "policy": """\
[ACLs as code](../../guides/acls-as-code.md) has examples of all commands, with their output.""",
    "mcp": """\
[ACLs as code](../../guides/acls-as-code.md#assistants) has the configuration of an assistant.""",
    "principal": """\
[TLS](../../guides/tls.md) shows how clients authenticate with certificates, and rules that change
capitals (`/L`, `/U`).""",
    "proxy": """\
[Recording and replay](../../guides/replay.md#recording-in-front-of-a-cluster) describes TLS,
credentials, and what a broker sees of a client behind the proxy.""",
    "replay": """\
[Recording and replay](../../guides/replay.md#replaying) describes the report, what is compared, and
what the target needs.""",
    "conformance": """\
[Conformance suite](../../guides/conformance.md) describes cases, drivers and baselines, and
[Conformance of tools](../../guides/tools.md) the cases of `--profile tools`.""",
    "vectors": """\
[Test vectors for brokers](../../guides/vectors.md) describes the report, and the [README of the
vectors](../../../vectors/README.md) the files and what a broker needs.""",
    "least-acls": """\
[Least ACLs of a program](../../guides/least-acls.md) says what is proven, and what the command
cannot see.""",
    "trace": """\
[Recording and replay](../../guides/replay.md) says how a trace is made, [Import of captures and
logs](../../guides/import.md) what is read of each source, and
[Inspector](../../guides/inspector.md) what `trace view` shows. [Trace
format](../trace-format.md) describes the entries that `trace cat` prints. `trace view` can be
opened only on its own machine: from another one, forward its port, for example with `ssh -L`. Mask
records while you [record](../../guides/cassettes.md#secrets): no command masks a trace later.""",
    "requirements": """\
[Permissions by API](../permissions.md) is the same list as a page.""",
    "pipeline": """\
[Analysis of ACLs and traffic](../../guides/pipeline.md) describes the results of all jobs, what
makes an input incomplete, and the engines.""",
    "completion": """\
[Installation](../../start/install.md#extras) says how to add the extra `completion`.""",
}
"""What a reader of the page of a command looks for elsewhere."""
_FREE_TEXT = re.compile(r"([*<\[])")
_QUOTED = re.compile(r"(`[^`]*`)")


def reference_pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    os.environ["COLUMNS"] = str(WIDTH)  # argparse wraps at the terminal's width
    broker_parser = CommandParser(prog="kafka-shim serve", add_help=False)
    add_broker_arguments(broker_parser)
    broker_options = set(broker_parser._option_string_actions)
    rows = [
        f"| [`kafka-shim {name}`]({name}.md) | {summary} |" for name, summary in COMMANDS.items()
    ]
    pages = {
        "README.md": _INDEX.format(rows="\n".join(rows)),
        BROKER_OPTIONS_PAGE: _broker_options_page(broker_parser),
    }
    for name, summary in COMMANDS.items():
        parser = CommandParser(prog=f"kafka-shim {name}", description=summary)
        import_command_module(name).add_arguments(parser)
        pages[f"{name}.md"] = _command_page(parser, summary, broker_options)
    return pages


def _broker_options_page(parser: argparse.ArgumentParser) -> str:
    """Return the page of the options of a broker, with a heading for each."""
    lines = [_BROKER_OPTIONS]
    for group in parser._action_groups:
        if group._group_actions:
            lines += [f"## {_sentence(group.title or '').rstrip('.')}", ""]
        for action in group._group_actions:
            option, invocation = action.option_strings[-1], _invocation(parser, action)
            lines += [f"### `{option}`", ""]
            lines += [f"`{invocation}`", ""] if invocation != option else []
            lines += [_sentence(_help_text(parser, action)), ""]
    return "\n".join(lines)


def _command_page(
    parser: argparse.ArgumentParser, summary: str, broker_options: Iterable[str]
) -> str:
    guides = _GUIDES[parser.prog.removeprefix("kafka-shim ")]
    lines = [f"# {parser.prog}", "", _sentence(summary), "", guides, ""]
    lines += _command_reference(parser, summary, frozenset(broker_options))
    for subcommand in iter_commands(parser):
        lines += [f"## {subcommand.prog}", ""]
        lines += _command_reference(subcommand, summary, frozenset(broker_options))
    return "\n".join(lines)


def _command_reference(
    parser: argparse.ArgumentParser, summary: str, broker_options: frozenset[str]
) -> list[str]:
    """Return the usage, the description and a table of options."""
    parser.format_help()  # adds the examples
    texts = [parser.format_usage().strip()]
    texts += [parser.description.strip()] if parser.description not in (None, summary) else []
    texts += [parser.epilog.strip()] if parser.epilog else []
    lines = ["```", "\n\n".join(texts), "```", ""]
    starts_broker = broker_options <= {*parser._option_string_actions}
    own = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
        and not (starts_broker and broker_options.intersection(action.option_strings))
        and action.help != argparse.SUPPRESS
    ]
    if own:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [_option_row(parser, action) for action in own]
        lines.append("")
    if starts_broker:
        lines += [f"Other options are the [broker options]({BROKER_OPTIONS_PAGE}).", ""]
    return lines


def _option_row(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    invocation = _invocation(parser, action).replace("|", "\\|")
    text = _help_text(parser, action).replace("|", "\\|")
    return f"| `{invocation}` | {text} |"


def _invocation(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._format_action_invocation(action)


def _help_text(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help of an option in one line of Markdown."""
    if not action.help:
        return ""
    return plain_text_in_markdown(" ".join(parser._get_formatter()._expand_help(action).split()))


def plain_text_in_markdown(text: str) -> str:
    """Return a text whose characters are not taken for Markdown, except that `x` is code."""
    return "".join(
        part if part.startswith("`") else _FREE_TEXT.sub(r"\\\1", part)
        for part in _QUOTED.split(text)
    )


def _sentence(text: str) -> str:
    """Return a text with a capital at the beginning and a full stop at the end."""
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


def main() -> None:
    """Write the pages to a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
