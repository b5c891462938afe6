"""What the verbs read: ACLs of files and folders, those of a broker, and how they are decided."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_formats import read_placed, recognise
from kafka_shim.authorizer.acl_formats.fields import PlacedAcl
from kafka_shim.authorizer.acl_formats.kafka_list import ends_early
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.authorizer.validate import check_acl
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.cli.acl_source import is_concrete, release_of
from kafka_shim.shim.cli.connecting import BOOTSTRAP_VARIABLE, connected
from kafka_shim.shim.cli.policy.words import acl_words
from kafka_shim.shim.cli.usage import check_principal, release_named
from kafka_shim.shim.client.acls import describe_acls
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import read_text

SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".tf", ".sh", ".txt", ".acls")
"""What of a folder is read."""

_NEVER_EMPTY = ("list", "terraform", "terraform-confluent")
"""Forms that do not say that there are no ACLs."""
_NAMED_MAX = 5


class InputError(ConfigError):
    """A file that cannot be used; the text begins with its path and, if known, the line."""


class Live(msgspec.Struct, frozen=True):
    """What a running cluster has."""

    acls: list[Acl]
    release: str


def add_decision_arguments(parser: argparse.ArgumentParser) -> None:
    """Options about how ACLs are decided, which no file of ACLs says."""
    group = parser.add_argument_group("how it is decided")
    group.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="decide as this release does (default: the broker's, without one the newest)",
    )
    group.add_argument(
        "--super-user",
        action="append",
        default=[],
        metavar="User:x",
        help="principal that may do everything, whatever the ACLs say (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        help="a resource without any ACL is open to everybody",
    )


def add_broker_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a running cluster")
    group.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help=f"brokers to ask (default where a cluster is needed: ${BOOTSTRAP_VARIABLE})",
    )
    group.add_argument(
        "--command-config",
        metavar="FILE",
        help="client properties, as of `kafka-shim acls`",
    )


def bootstrap_or_default(args: argparse.Namespace) -> str | None:
    found: str | None = args.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE)
    args.bootstrap_server = found
    return found


def live_acls(args: argparse.Namespace) -> Live:
    """The ACLs of the cluster and the release that it looks like."""
    with connected(args) as client:
        acls = [acl for acl in describe_acls(client) if is_concrete(acl)]
        return Live(acls, release_of(client.versions))


def chosen_release(args: argparse.Namespace, live: Live | None = None) -> str:
    for principal in args.super_user:
        check_principal("--super-user", principal)
    named = release_named(args.kafka_version)
    return named or (live.release if live is not None else RELEASES[-1])


def authorizer_of(
    args: argparse.Namespace, acls: Iterable[Acl], release: str
) -> StandardAuthorizer:
    return StandardAuthorizer(
        super_users=args.super_user,
        allow_everyone=args.allow_everyone_if_no_acl_found,
        rules=rules_of(release),
        store=AclStore(acls),
    )


def read_files(paths: Sequence[str], release: str) -> list[Acl]:
    """The ACLs of files and folders, each once; InputError for what the release refuses, too."""
    found = [acl for path in paths for file in files_at(path) for acl in read_file(file, release)]
    return list(dict.fromkeys(found))


def files_at(path: str) -> list[str]:
    """The file, or the files of a folder, which has to have some."""
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    found = [file for file in sorted(folder.rglob("*")) if file.suffix in SUFFIXES]
    if not found:
        raise InputError(f"{path}: no files with ACLs ({', '.join(SUFFIXES)}) in this folder")
    _tell_skipped(folder)
    return [str(file) for file in found]


def _tell_skipped(folder: Path) -> None:
    """Name the files of a folder that are not read, hidden ones aside."""
    within = [file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.is_file()]
    skipped = [
        str(file)
        for file in within
        if file.suffix not in SUFFIXES and not any(part.startswith(".") for part in file.parts)
    ]
    if skipped:
        more = ", ..." if len(skipped) > _NAMED_MAX else ""
        names = ", ".join(skipped[:_NAMED_MAX]) + more
        sys.stderr.write(f"note: {folder}: files that are not read: {len(skipped)} ({names})\n")


def text_of_file(path: str) -> str:
    try:
        return read_text(path, "").removeprefix("\ufeff")
    except ConfigError as error:
        raise InputError(str(error).strip()) from error


def read_file(path: str, release: str) -> list[Acl]:
    found = read_placed_file(path)
    rules = rules_of(release)
    for acl, line in found:
        refusal = check_acl(acl, rules)
        if refusal is not None:
            raise InputError(
                f"{placed(path, line)}: Kafka {release} refuses {acl_words(acl)}: {refusal.message}"
            )
    return [acl for acl, _ in found]


def read_placed_file(path: str) -> list[PlacedAcl]:
    """The ACLs of a file with their lines, whatever a release thinks of them."""
    text = text_of_file(path)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; `acls: []` says that there are no ACLs")
    try:
        found = read_placed(text)
    except AclTextError as error:
        raise InputError(f"{placed(path, error.line)}: {error.said}") from error
    form = recognise(text)
    if form == "list" and ends_early(text):
        raise InputError(f"{path}: the list ends after a heading, without the ACLs below it")
    if not found and (form in _NEVER_EMPTY or _is_comment(text)):
        raise InputError(f"{path}: there are no ACLs in it; `acls: []` says that there are none")
    return found


def _is_comment(text: str) -> bool:
    lines = filter(None, map(str.strip, text.splitlines()))
    return all(line.startswith(("#", "//", "---", "...")) for line in lines)


def placed(path: str, line: int) -> str:
    """`acls.yaml:3`."""
    return f"{path}:{line}" if line else path
