"""The format `commands`: kafka-acls command lines that add ACLs, as in a shell script."""

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NoReturn

from kafka_shim.authorizer.acl_formats.command_options import (
    add_actions,
    add_entries,
    add_resources,
)
from kafka_shim.authorizer.acl_formats.command_targets import check, targets
from kafka_shim.authorizer.acl_formats.fields import Mistakes, PlacedAcl
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.authorizer.option_parser import OptionParser
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType

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
_CONNECTION_OPTIONS = (
    "--bootstrap-server",
    "--bootstrap-controller",
    "--command-config",
    "--authorizer",
    "--authorizer-properties",
    "--zk-tls-config-file",
)


def read(text: str) -> list[PlacedAcl]:
    """Return the ACLs that the commands add; AclTextError for a command that does not add ACLs."""
    parser = _parser()
    found: list[PlacedAcl] = []
    mistakes = Mistakes()
    with mistakes.at():
        for number, words in _lines(text):
            with mistakes.at(number):
                found += ((acl, number) for acl in _added(parser.parse_args(_options_in(words))))
    mistakes.check()
    return found


def _options_in(words: Sequence[str]) -> Sequence[str]:
    """Return the options after the tool's name, which other words may precede."""
    for at, word in enumerate(words):
        if _TOOL.fullmatch(word):
            return words[at + 1 :]
    said = " ".join(words).replace(_MARK, "")
    raise AclTextError(f"not a kafka-acls command: `{said}`")


def _added(args: argparse.Namespace) -> list[Acl]:
    if not args.add:
        raise AclTextError("only commands with --add contain ACLs")
    check(args)
    found = [acl for acls in targets(args).values() for acl in acls]
    for text in {text for acl in found for text in (acl.principal, acl.resource_name, acl.host)}:
        if _MARK in text:
            said = text.replace(_MARK, "")
            raise AclTextError(f"`{said}` is a shell expression: write its value")
    return found


def write(acls: Iterable[Acl], *, bootstrap: str | None = None) -> str:
    """Return one `kafka-acls --add` per principal and resource, with all operations."""
    groups = (list(group) for _, group in groupby(sorted(acls, key=_by_rule), key=_rule))
    return "".join(f"{command('--add', *group, bootstrap=bootstrap)}\n" for group in groups)


def command(verb: str, *acls: Acl, bootstrap: str | None = None) -> str:
    """Return the command for ACLs that differ only in their operations; a verb is `--add`."""
    connection = [] if bootstrap is None else ["--bootstrap-server", bootstrap]
    return shlex.join(["kafka-acls", *connection, *verb.split(), *_options(acls)])


def _options(acls: Sequence[Acl]) -> list[str]:
    first = acls[0]
    kind = "allow" if first.permission is Permission.ALLOW else "deny"
    words = [_option(f"--{kind}-principal", first.principal)]
    if first.host != WILDCARD:
        words.append(_option(f"--{kind}-host", first.host))
    words += [("--operation", camel_case(acl.operation)) for acl in acls]
    resource = _RESOURCE_OPTIONS[first.resource_type]
    is_cluster = first.resource_type is ResourceType.CLUSTER
    words.append((resource,) if is_cluster else _option(resource, first.resource_name))
    if first.pattern_type is PatternType.PREFIXED:
        words.append(("--resource-pattern-type", "prefixed"))
    return [word for option in words for word in option]


def _option(name: str, value: str) -> tuple[str, ...]:
    return (f"{name}={value}",) if value.startswith("-") else (name, value)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield commands with their first line; a backslash continues a line."""
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        start = start if pending else number
        pending += line
        if pending.endswith("\\"):
            pending = f"{pending[:-1]} "
            continue
        try:
            words = shlex.split(_EXPANDED.sub(_marked, pending), comments=True)
        except ValueError:  # a quoted text continues on the next line
            pending += "\n"
            continue
        pending = ""
        if words and words[0] != "set":
            yield start, words
    if pending.strip():
        said = "incomplete command: a quote is open, or the last line ends in a backslash"
        raise AclTextError(said, start)


def _marked(match: re.Match[str]) -> str:
    """Return a shell expansion with a mark before it."""
    return f"{_MARK}{match[0]}" if match[0] in "$`" else match[0]


class _Parser(OptionParser):
    """Raises an error about the text instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise AclTextError(message)


def _parser() -> _Parser:
    parser = _Parser(prog="kafka-acls", add_help=False, allow_abbrev=False)
    for add in (add_actions, add_resources, add_entries):
        add(parser.add_argument_group())
    for option in _CONNECTION_OPTIONS:
        parser.add_argument(option, action="append")
    parser.add_argument("--force", action="store_true")
    return parser


def _rule(acl: Acl) -> tuple[object, ...]:
    return _by_rule(acl)[:-1]


def _by_rule(acl: Acl) -> tuple[object, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (acl.principal, *pattern, acl.permission, acl.host, acl.operation)
