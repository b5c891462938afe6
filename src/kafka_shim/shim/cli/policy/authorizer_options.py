"""Options of the verbs: the cluster to read ACLs from, and settings of the authorizer."""

import argparse
import os
from collections.abc import Iterable

import msgspec

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.cli.acl_source import has_known_concrete_fields, most_similar_release
from kafka_shim.shim.cli.connection_options import BOOTSTRAP_VARIABLE, connect_with_options
from kafka_shim.shim.cli.usage import parse_release_option
from kafka_shim.shim.client.acls import describe_acls


class ClusterAcls(msgspec.Struct, frozen=True):
    """The ACLs of a running cluster, and its probable release."""

    acls: list[Acl]
    release: str


def add_authorizer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add options for what decisions depend on besides ACLs."""
    group = parser.add_argument_group("Rules")
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
        help="Treat this principal as a super user: it is allowed everything (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        help="Assume allow.everyone.if.no.acl.found=true: resources without any ACL are open",
    )


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


def set_default_bootstrap_server(args: argparse.Namespace) -> str | None:
    bootstrap_server: str | None = args.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE)
    args.bootstrap_server = bootstrap_server
    return bootstrap_server


def read_cluster_acls(args: argparse.Namespace) -> ClusterAcls:
    """Return the ACLs of the cluster, and the release with the most similar API versions."""
    with connect_with_options(args) as client:
        acls = [acl for acl in describe_acls(client) if has_known_concrete_fields(acl)]
        return ClusterAcls(acls, most_similar_release(client.versions))


def release_of_options_or_cluster(
    args: argparse.Namespace, cluster_acls: ClusterAcls | None = None
) -> str:
    """Return the release of --kafka-version, else that of the cluster, else the newest."""
    release = parse_release_option(args.kafka_version)
    return release or (cluster_acls.release if cluster_acls is not None else RELEASES[-1])


def authorizer_with_options(
    args: argparse.Namespace, acls: Iterable[Acl], release: str
) -> StandardAuthorizer:
    return StandardAuthorizer(
        super_users=args.super_user,
        allow_everyone=args.allow_everyone_if_no_acl_found,
        rules=acl_rules_of_release(release),
        store=AclStore(acls, caches_lookups=True),
    )
