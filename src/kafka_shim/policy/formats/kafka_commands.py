"""The format `commands`: kafka-acls command lines that add ACLs, wherever a script has them."""

import argparse
import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NoReturn

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.command_options import (
    acls_by_resource_filter,
    add_action_options,
    add_grant_options,
    add_resource_options,
    check_option_combination,
)
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.script_commands import find_acl_commands
from kafka_shim.policy.formats.shell_words import MARK, quoted_word
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType
from kafka_shim.text.option_parser import SuggestingArgumentParser, rewrite_parser_error

_RESOURCE_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.CLUSTER: "--cluster",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}
_quoted = lru_cache(1 << 12)(quoted_word)
"""Many commands name the same few principals and resources."""
_WORDS_MAX = 20_000
"""Of one command, whose parsing takes time by the square of their number."""
_CONNECTION_OPTIONS = frozenset(
    {
        "--bootstrap-server",
        "--bootstrap-controller",
        "--command-config",
        "--authorizer",
        "--authorizer-properties",
        "--zk-tls-config-file",
    }
)


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs that the commands add. Raise AclTextError for a command that is about ACLs,
    and whose effect is unknown.
    """
    acls, errors = parse_known_commands(text)
    if errors:
        raise AclTextError(errors[0].message, errors[0].line, errors[1:])
    return acls


def parse_known_commands(text: str) -> tuple[list[AclWithLine], list[AclTextError]]:
    """Return the ACLs that the commands add, and an error for each command about ACLs whose effect
    is unknown.
    """
    parser = _create_command_parser()
    acls: list[AclWithLine] = []
    errors: list[AclTextError] = []
    try:
        for number, options, error in find_acl_commands(text):
            try:
                if error is not None:
                    raise error
                added = _acls_added_by_options(_parse_options(parser, options))
                acls += ((acl, number) for acl in added)
            except AclTextError as problem:
                errors.append(AclTextError(problem.message, problem.line or number))
    except AclTextError as problem:
        errors.append(problem)
    except RecursionError:
        errors.append(AclTextError("commands are nested too deep"))
    if text.strip() and not acls and not errors:
        errors.append(AclTextError("no kafka-acls command in it that adds ACLs"))
    return acls, errors


def _parse_options(parser: argparse.ArgumentParser, options: Sequence[str]) -> argparse.Namespace:
    if len(options) > _WORDS_MAX:
        raise AclTextError(f"a command of {len(options)} words: expected at most {_WORDS_MAX}")
    before = ""
    for option in options:
        is_connection = _CONNECTION_OPTIONS.intersection((before, option.partition("=")[0]))
        if MARK in option and not is_connection:
            said = option.replace(MARK, "")
            raise AclTextError(f"`{said}` is a shell expression, or has a NUL: write its value")
        before = option
    return parser.parse_args(options)


def _acls_added_by_options(args: argparse.Namespace) -> list[Acl]:
    if args.remove:
        raise AclTextError("this command removes ACLs; only commands with --add contain ACLs")
    if args.list or args.help or args.version:
        return []
    check_option_combination(args)
    return list(chain.from_iterable(acls_by_resource_filter(args).values()))


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


class _CommandParser(SuggestingArgumentParser):
    """Raises an error about the text instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise AclTextError(rewrite_parser_error(message))


def _create_command_parser() -> _CommandParser:
    parser = _CommandParser(prog="kafka-acls", add_help=False, allow_abbrev=False)
    for add in (
        add_action_options,
        add_resource_options,
        add_grant_options,
    ):
        add(parser.add_argument_group())
    for option in sorted(_CONNECTION_OPTIONS):
        parser.add_argument(option, action="append")
    for option in ("--force", "--help", "--version"):
        parser.add_argument(option, action="store_true")
    return parser


def _command_group_key(acl: Acl) -> tuple[object, ...]:
    return _command_sort_key(acl)[:-1]


def _command_sort_key(acl: Acl) -> tuple[object, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (acl.principal, *pattern, acl.permission, acl.host, acl.operation)
