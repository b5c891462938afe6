"""The format `commands`: kafka-acls command lines that add ACLs, as in a shell script."""

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NoReturn

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.command_options import (
    add_action_options,
    add_operation_principal_and_shorthand_options,
    add_resource_and_pattern_type_options,
)
from kafka_shim.policy.formats.command_targets import (
    acls_by_resource_filter,
    check_option_combination,
)
from kafka_shim.policy.formats.fields import AclWithLine, ErrorCollector
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType
from kafka_shim.text.option_parser import SuggestingArgumentParser, text_of_parser_error

_EXPANDED = re.compile(r"'[^']*'|\\.|\$(?=[\w{(])|`", re.DOTALL)
"""What a shell takes as it is, or else the beginning of what it does not."""
_MARK = "\x00"
_TOOL = re.compile(r"(?:.*/)?kafka-acls(?:\.sh|\.bat)?")
_RESOURCE_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.CLUSTER: "--cluster",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}
_quoted = lru_cache(1 << 12)(shlex.quote)
"""Many commands name the same few principals and resources."""
_CONNECTION_OPTIONS = (
    "--bootstrap-server",
    "--bootstrap-controller",
    "--command-config",
    "--authorizer",
    "--authorizer-properties",
    "--zk-tls-config-file",
)


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs that the commands add. Raise AclTextError for a command that does not add
    ACLs.
    """
    parser = _create_command_parser()
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    with mistakes.collect_errors():
        for number, words in _split_commands(text):
            with mistakes.collect_errors(number):
                acls += (
                    (acl, number)
                    for acl in _acls_added_by_options(
                        parser.parse_args(_require_tool_name_and_return_options(words))
                    )
                )
    mistakes.raise_collected_errors()
    return acls


def _require_tool_name_and_return_options(words: Sequence[str]) -> Sequence[str]:
    """Return the options after the tool's name, which other words may precede."""
    for at, word in enumerate(words):
        if _TOOL.fullmatch(word):
            return words[at + 1 :]
    said = " ".join(words).replace(_MARK, "")
    raise AclTextError(f"not a kafka-acls command: `{said}`")


def _acls_added_by_options(args: argparse.Namespace) -> list[Acl]:
    if not args.add:
        raise AclTextError("only commands with --add contain ACLs")
    check_option_combination(args)
    acls = list(chain.from_iterable(acls_by_resource_filter(args).values()))
    for text in {text for acl in acls for text in (acl.principal, acl.resource_name, acl.host)}:
        if _MARK in text:
            said = text.replace(_MARK, "")
            raise AclTextError(f"`{said}` is a shell expression: write its value")
    return acls


def format_acls(acls: Iterable[Acl], *, bootstrap: str | None = None) -> str:
    """Return one `kafka-acls --add` per principal and resource, with all operations."""
    groups = (
        list(group)
        for _, group in groupby(sorted(acls, key=_command_sort_key), key=_command_group_key)
    )
    return "".join(f"{format_command('--add', *group, bootstrap=bootstrap)}\n" for group in groups)


def format_command(action_options: str, *acls: Acl, bootstrap: str | None = None) -> str:
    """Return the command for ACLs that differ only in their operations; a verb is `--add`."""
    connection = "" if bootstrap is None else f" --bootstrap-server {shlex.quote(bootstrap)}"
    return f"kafka-acls{connection} {action_options} {' '.join(_format_options(acls))}"


def _format_options(acls: Sequence[Acl]) -> list[str]:
    first = acls[0]
    kind = "allow" if first.permission is Permission.ALLOW else "deny"
    options = [_format_option(f"--{kind}-principal", first.principal)]
    if first.host != WILDCARD:
        options.append(_format_option(f"--{kind}-host", first.host))
    options += [f"--operation {camel_case(acl.operation)}" for acl in acls]
    resource = _RESOURCE_OPTIONS[first.resource_type]
    is_cluster = first.resource_type is ResourceType.CLUSTER
    options.append(resource if is_cluster else _format_option(resource, first.resource_name))
    if first.pattern_type is PatternType.PREFIXED:
        options.append("--resource-pattern-type prefixed")
    return options


def _format_option(name: str, value: str) -> str:
    """Return an option with its value in quotes, if a shell needs them."""
    return _quoted(f"{name}={value}") if value.startswith("-") else f"{name} {_quoted(value)}"


def _split_commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield commands with their first line; a backslash continues a line."""
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        start = start if pending else number
        pending += line
        if pending.endswith("\\"):
            pending = f"{pending[:-1]} "
            continue
        try:
            words = shlex.split(
                _EXPANDED.sub(_with_mark_before_shell_expansion, pending), comments=True
            )
        except ValueError:  # a quoted text continues on the next line
            pending += "\n"
            continue
        pending = ""
        if words and words[0] != "set":
            yield start, words
    if pending.strip():
        said = "incomplete command: a quote is open, or the last line ends in a backslash"
        raise AclTextError(said, start)


def _with_mark_before_shell_expansion(match: re.Match[str]) -> str:
    """Return a shell expansion with a mark before it."""
    return f"{_MARK}{match[0]}" if match[0] in "$`" else match[0]


class _CommandParser(SuggestingArgumentParser):
    """Raises an error about the text instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise AclTextError(text_of_parser_error(message))


def _create_command_parser() -> _CommandParser:
    parser = _CommandParser(prog="kafka-acls", add_help=False, allow_abbrev=False)
    for add in (
        add_action_options,
        add_resource_and_pattern_type_options,
        add_operation_principal_and_shorthand_options,
    ):
        add(parser.add_argument_group())
    for option in _CONNECTION_OPTIONS:
        parser.add_argument(option, action="append")
    parser.add_argument("--force", action="store_true")
    return parser


def _command_group_key(acl: Acl) -> tuple[object, ...]:
    return _command_sort_key(acl)[:-1]


def _command_sort_key(acl: Acl) -> tuple[object, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (acl.principal, *pattern, acl.permission, acl.host, acl.operation)
