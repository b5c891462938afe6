"""Options that give a policy: the ACLs of files or of a cluster, and what else decides."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    AUTHORIZER_CLASS,
    SUPER_USERS,
    parse_super_users,
)
from kafka_shim.cli.connection_options import (
    BOOTSTRAP_VARIABLE,
    add_connection_arguments,
    connect_with_options,
)
from kafka_shim.cli.usage import UsageError, check_principal_option, release_argument
from kafka_shim.client.cluster_policy import read_policy
from kafka_shim.policy.acl_files import read_accepted_acls, read_located_acls
from kafka_shim.policy.policy import Policy, depends_on_assumed_mode

NO_ACLS_GIVEN = "no ACLs given: add --acls FILE or --bootstrap-server HOST:PORT"
_SETTINGS = (ALLOW_EVERYONE, SUPER_USERS, AUTHORIZER_CLASS)
SETTINGS_HELP = (
    f"NAME is {ALLOW_EVERYONE}, {SUPER_USERS} or {AUTHORIZER_CLASS} (none: no authorizer)"
)


def add_rule_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options of what decides besides the ACLs."""
    group.add_argument(
        "--kafka-version",
        type=release_argument,
        metavar="RELEASE",
        help="Kafka release whose rules decide (default: the broker's, else the newest)",
    )
    group.add_argument(
        "--super-user",
        action="append",
        default=[],
        metavar="User:x",
        help="Treat this principal as a super user, since brokers do not return theirs"
        " (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action=argparse.BooleanOptionalAction,
        help="Whether resources without any ACL are open, as allow.everyone.if.no.acl.found says"
        " (default: as the broker says if it returns the value, else not)",
    )


def add_cluster_and_rule_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the `policy` commands, which name files as arguments."""
    add_cluster_arguments(parser)
    add_rule_arguments(parser.add_argument_group("Rules"))


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("A running cluster")
    group.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help=f"Brokers to connect to (default, if no file is given: ${BOOTSTRAP_VARIABLE})",
    )
    group.add_argument(
        "--command-config",
        metavar="FILE",
        help="Client properties, as for `kafka-shim acls --command-config`",
    )


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `explain` and `who-can`."""
    group = parser.add_argument_group("Source of the ACLs")
    group.add_argument(
        "--acls",
        action="append",
        metavar="FILE",
        help="File or folder with ACLs instead of a broker, in any format of `acls --format`; - is"
        " standard input"
        " (repeatable)",
    )
    add_connection_arguments(group)
    add_rule_arguments(group)


def set_default_bootstrap_server(args: argparse.Namespace) -> str | None:
    """Return --bootstrap-server, else the variable, and keep it in the arguments."""
    bootstrap_server: str | None = args.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE)
    args.bootstrap_server = bootstrap_server
    return bootstrap_server


def check_acl_source(args: argparse.Namespace) -> None:
    """Raise UsageError if no option names a source of ACLs, or if a value is invalid."""
    if not args.acls and not args.bootstrap_server:
        raise UsageError(NO_ACLS_GIVEN)
    for principal in args.super_user:
        check_principal_option("--super-user", principal)


def policy_of_source(args: argparse.Namespace) -> Policy:
    """Return the policy of --acls or --bootstrap-server, also with ACLs that a release rejects.

    Raise ClientError if a broker fails, ConfigError if a file is invalid.
    """
    if not args.acls:
        return policy_of_cluster(args)
    acls = [each.acl for each in read_located_acls(args.acls) if each.acl.has_known_fields]
    return msgspec.structs.replace(policy_without_acls(args), acls=acls)


def policy_of_cluster(
    args: argparse.Namespace, bootstrap_option: str = "--bootstrap-server"
) -> Policy:
    """Return the policy of the cluster; the options come before what the cluster returns."""
    return with_rule_options(args, read_cluster_policy(args, bootstrap_option))


def policy_of_files(
    args: argparse.Namespace, paths: Sequence[str], settings_of: Policy | None = None
) -> Policy:
    """Return the ACLs of files, with the options, else the settings of another policy."""
    policy = policy_without_acls(args) if settings_of is None else settings_of
    release = args.kafka_version or policy.release
    return msgspec.structs.replace(
        policy,
        acls=read_accepted_acls(paths, release),
        release=release,
        source=", ".join(paths),
    )


def policy_of_options(args: argparse.Namespace) -> Policy:
    """Return the policy of the files, or by default of the cluster."""
    if args.files:
        if args.bootstrap_server:
            raise UsageError("name files or --bootstrap-server, not both")
        return policy_of_files(args, args.files)
    if not set_default_bootstrap_server(args):
        raise UsageError("no ACLs given: name files, or add --bootstrap-server HOST:PORT")
    return policy_of_cluster(args)


def policy_without_acls(args: argparse.Namespace) -> Policy:
    """Return the release and the settings of the options."""
    return with_rule_options(args, Policy(is_mode_known=False))


def read_cluster_policy(
    args: argparse.Namespace, bootstrap_option: str = "--bootstrap-server"
) -> Policy:
    """Return the policy of the cluster as its broker returns it."""
    with connect_with_options(args, bootstrap_option) as client:
        return read_policy(client, args.bootstrap_server)


def with_rule_options(args: argparse.Namespace, policy: Policy) -> Policy:
    """Return the policy with the release and the settings that options give."""
    release = args.kafka_version or policy.release
    policy = msgspec.structs.replace(policy, release=release)
    if args.allow_everyone_if_no_acl_found is not None:
        policy = policy.with_mode(allow_everyone=args.allow_everyone_if_no_acl_found)
    return policy.with_super_users(args.super_user) if args.super_user else policy


def with_settings(policy: Policy, texts: Iterable[str], option: str) -> Policy:
    """Return the policy with settings in the form NAME=VALUE. Raise UsageError for an invalid one.

    Without an authorizer, everything is allowed.
    """
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in _SETTINGS:
            raise UsageError(f"{option} `{text}`: expected NAME=VALUE; {SETTINGS_HELP}")
        if name == SUPER_USERS:
            try:
                policy = policy.with_super_users(parse_super_users(value))
            except ValueError as error:
                raise UsageError(f"{option}: {error}") from error
        elif name == ALLOW_EVERYONE:
            if value not in ("true", "false"):
                raise UsageError(f"{option} `{text}`: expected true or false")
            policy = policy.with_mode(allow_everyone=value == "true")
        elif value in ("", "none"):
            policy = policy.without_authorizer()
        else:
            raise UsageError(f"{option} `{text}`: expected none, for no authorizer")
    return policy


def require_known_mode(old: Policy, new: Policy, passes: Callable[[Policy, Policy], bool]) -> None:
    """Raise UsageError if a result depends on a mode that a broker does not return."""
    if depends_on_assumed_mode(old, new, passes):
        raise UsageError(
            f"the result depends on {ALLOW_EVERYONE}, and the broker does not return it; add"
            " --allow-everyone-if-no-acl-found or --no-allow-everyone-if-no-acl-found"
        )


def write_assumption_notes(policy: Policy) -> None:
    """Write the notes to standard error, for commands whose output has no room for them."""
    for note in policy.assumption_notes:
        sys.stderr.write(f"note: {note}\n")
