"""Where `explain` and `who-can` take the ACLs from: files and folders, or a running broker."""

import argparse

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.cli.authorizer_settings import (
    add_rule_arguments,
    authorizer_with_options,
    has_known_concrete_fields,
    read_cluster_acls,
    release_of_options_or_cluster,
    settings_of_options_or_cluster,
)
from kafka_shim.cli.connection_options import add_connection_arguments
from kafka_shim.cli.usage import UsageError, check_principal_option, parse_release_option

NO_ACLS_GIVEN = "no ACLs given: add --acls FILE or --bootstrap-server HOST:PORT"


class LoadedAuthorizer(msgspec.Struct, frozen=True):
    """An authorizer with its ACLs; `bootstrap_server`: the broker they came from, None: a file."""

    authorizer: StandardAuthorizer
    release: str
    bootstrap_server: str | None
    assumed_settings: tuple[str, ...]


def add_acl_source_and_rule_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Source of the ACLs")
    group.add_argument(
        "--acls",
        action="append",
        metavar="FILE",
        help="File or folder with ACLs instead of a broker, in any format of `acls --format`"
        " (repeatable)",
    )
    add_connection_arguments(group)
    add_rule_arguments(group)


def require_acl_source_and_valid_options(args: argparse.Namespace) -> None:
    """Raise UsageError if no option names a source of ACLs, or if a value is invalid."""
    if not args.acls and not args.bootstrap_server:
        raise UsageError(NO_ACLS_GIVEN)
    for principal in args.super_user:
        check_principal_option("--super-user", principal)
    parse_release_option(args.kafka_version)


def load_authorizer(args: argparse.Namespace) -> LoadedAuthorizer:
    """Read the ACLs; raise ClientError if a broker fails, ConfigError if a file is invalid."""
    cluster_acls = None
    if args.acls:
        from kafka_shim.cli.acl_files import read_located_acls

        located = read_located_acls(args.acls)
        acls = [each.acl for each in located if has_known_concrete_fields(each.acl)]
    else:
        cluster_acls = read_cluster_acls(args)
        acls = cluster_acls.acls
    release = release_of_options_or_cluster(args, cluster_acls)
    return LoadedAuthorizer(
        authorizer_with_options(args, acls, release, cluster_acls),
        release,
        None if args.acls else args.bootstrap_server,
        settings_of_options_or_cluster(args, cluster_acls).assumed_settings,
    )
