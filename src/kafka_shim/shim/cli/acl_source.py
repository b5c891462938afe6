"""Where `explain` and `who-can` take the ACLs from: files and folders, or a running broker."""

import argparse
from collections.abc import Mapping

import msgspec

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES, advertised_versions
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.shim.cli.connection_options import add_connection_arguments, connect_with_options
from kafka_shim.shim.cli.usage import UsageError, check_principal_option, parse_release_option
from kafka_shim.shim.client.acls import describe_acls

NO_ACLS_GIVEN = "no ACLs given: add --acls FILE or --bootstrap-server HOST:PORT"


class LoadedAuthorizer(msgspec.Struct, frozen=True):
    """An authorizer with its ACLs; `bootstrap_server`: the broker they came from, None: a file."""

    authorizer: StandardAuthorizer
    release: str
    bootstrap_server: str | None


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


def add_rule_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options of what decides besides the ACLs, which brokers do not expose."""
    group.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release whose rules decide (default: the broker's; the newest with --acls)",
    )
    group.add_argument(
        "--super-user",
        action="append",
        default=[],
        metavar="User:x",
        help="Treat this principal as a super user: brokers do not expose theirs (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        help="Assume allow.everyone.if.no.acl.found=true: brokers do not expose it",
    )


def require_acl_source_and_valid_options(args: argparse.Namespace) -> None:
    """Raise UsageError if no option names a source of ACLs, or if a value is invalid."""
    if not args.acls and not args.bootstrap_server:
        raise UsageError(NO_ACLS_GIVEN)
    for principal in args.super_user:
        check_principal_option("--super-user", principal)
    parse_release_option(args.kafka_version)


def load_authorizer(args: argparse.Namespace) -> LoadedAuthorizer:
    """Read the ACLs; raise ClientError if a broker fails, ConfigError if a file is invalid."""
    release = parse_release_option(args.kafka_version)
    bootstrap = None
    if args.acls:
        from kafka_shim.shim.cli.acl_files import read_located_acls

        acls = [each.acl for each in read_located_acls(args.acls)]
    else:
        bootstrap = args.bootstrap_server
        with connect_with_options(args) as client:
            acls = describe_acls(client)
            release = release or most_similar_release(client.versions)
    release = release or RELEASES[-1]
    authorizer = StandardAuthorizer(
        super_users=args.super_user,
        allow_everyone=args.allow_everyone_if_no_acl_found,
        rules=acl_rules_of_release(release),
        store=AclStore(acl for acl in acls if has_known_concrete_fields(acl)),
    )
    return LoadedAuthorizer(authorizer, release, bootstrap)


def most_similar_release(api_versions: Mapping[int, tuple[int, int]]) -> str:
    """Return the release whose advertised versions are most like these; the newest of equals."""

    def likeness(release: str) -> tuple[int, int]:
        known = advertised_versions(release)
        same = sum(api_versions.get(key) == span for key, span in known.items())
        return same - len(known.keys() ^ api_versions.keys()), RELEASES.index(release)

    return max(RELEASES, key=likeness)


def has_known_concrete_fields(acl: Acl) -> bool:
    """Return whether this shim understands all fields of the ACL; newer brokers may send others."""
    return (
        acl.resource_type > ResourceType.ANY
        and acl.operation > Operation.ANY
        and acl.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
        and acl.permission in (Permission.ALLOW, Permission.DENY)
    )
