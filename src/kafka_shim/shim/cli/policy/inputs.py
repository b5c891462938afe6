"""Options of the verbs: the cluster to read ACLs from, and settings of the authorizer."""

import argparse
import os
from collections.abc import Iterable

import msgspec

from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.cli.acl_source import is_concrete, release_of
from kafka_shim.shim.cli.connecting import BOOTSTRAP_VARIABLE, connected
from kafka_shim.shim.cli.usage import check_principal, release_named
from kafka_shim.shim.client.acls import describe_acls


class Live(msgspec.Struct, frozen=True):
    """The ACLs of a running cluster, and its probable release."""

    acls: list[Acl]
    release: str


def add_decision_arguments(parser: argparse.ArgumentParser) -> None:
    """Add options for what decisions depend on besides ACLs."""
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release whose rules decide (default: the broker's, else the newest)",
    )
    group.add_argument(
        "--super-user",
        action="append",
        default=[],
        metavar="User:x",
        help="treat this principal as a super user: it may do everything (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        help="assume allow.everyone.if.no.acl.found=true: resources without any ACL are open",
    )


def add_broker_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a running cluster")
    group.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help=f"brokers to connect to (default, if no file is given: ${BOOTSTRAP_VARIABLE})",
    )
    group.add_argument(
        "--command-config",
        metavar="FILE",
        help="client properties, as for `kafka-shim acls --command-config`",
    )


def bootstrap_or_default(args: argparse.Namespace) -> str | None:
    found: str | None = args.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE)
    args.bootstrap_server = found
    return found


def live_acls(args: argparse.Namespace) -> Live:
    """Return the ACLs of the cluster, and the release with the most similar API versions."""
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
