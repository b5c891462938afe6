"""What decides besides ACLs: the release and two settings, from options or from a cluster."""

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping

import msgspec

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    SUPER_USERS,
    StandardAuthorizer,
    parse_super_users,
)
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli.connection_options import connect_with_options
from kafka_shim.cli.usage import parse_release_option
from kafka_shim.client.acls import describe_acls
from kafka_shim.client.authorizer_settings import describe_authorizer_settings
from kafka_shim.protocol.api_versions import RELEASES, advertised_versions
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


class ClusterAcls(msgspec.Struct, frozen=True):
    """The ACLs of a running cluster, its probable release, and its settings.

    A setting whose value the broker does not return is None.
    """

    acls: list[Acl]
    release: str
    settings: Mapping[str, str | None]


class AuthorizerSettings(msgspec.Struct, frozen=True):
    """The settings to decide with. `assumed_settings` may have other values in the cluster.

    `is_mode_known` tells whether an option or the cluster gives `allow_everyone`.
    """

    super_users: frozenset[str]
    allow_everyone: bool
    is_mode_known: bool
    assumed_settings: tuple[str, ...] = ()


def add_rule_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options of what decides besides the ACLs."""
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
        help="Treat this principal as a super user, since brokers do not return theirs"
        " (repeatable)",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action=argparse.BooleanOptionalAction,
        help="Whether resources without any ACL are open, as allow.everyone.if.no.acl.found says"
        " (default: as the broker says if it returns the value, else not)",
    )


def read_cluster_acls(
    args: argparse.Namespace, bootstrap_option: str = "--bootstrap-server"
) -> ClusterAcls:
    """Return the ACLs of the cluster, and the release with the most similar API versions."""
    with connect_with_options(args, bootstrap_option) as client:
        acls = [acl for acl in describe_acls(client) if has_known_concrete_fields(acl)]
        release = most_similar_release(client.versions)
        return ClusterAcls(acls, release, describe_authorizer_settings(client))


def release_of_options_or_cluster(
    args: argparse.Namespace, cluster_acls: ClusterAcls | None = None
) -> str:
    """Return the release of --kafka-version, else that of the cluster, else the newest."""
    release = parse_release_option(args.kafka_version)
    return release or (cluster_acls.release if cluster_acls is not None else RELEASES[-1])


def settings_of_options_or_cluster(
    args: argparse.Namespace, cluster_acls: ClusterAcls | None = None
) -> AuthorizerSettings:
    """Return the settings of the options, else those that the cluster returns, else defaults."""
    mode: bool | None = args.allow_everyone_if_no_acl_found
    super_users = frozenset(args.super_user)
    assumed = []
    if cluster_acls is not None:
        mode_text = cluster_acls.settings[ALLOW_EVERYONE]
        super_users_text = cluster_acls.settings[SUPER_USERS]
        if mode is None and mode_text is not None:
            mode = mode_text.lower() == "true"
        elif mode is None:
            assumed.append(ALLOW_EVERYONE)
        if not super_users and super_users_text is not None:
            super_users = parse_super_users(super_users_text)
        elif not super_users:
            assumed.append(SUPER_USERS)
    return AuthorizerSettings(super_users, bool(mode), mode is not None, tuple(assumed))


def assumed_settings_note(assumed_settings: Collection[str]) -> str:
    """Return a sentence about settings of a cluster whose values are assumed."""
    known = {
        ALLOW_EVERYONE: (f"{ALLOW_EVERYONE}=false", "--[no-]allow-everyone-if-no-acl-found"),
        SUPER_USERS: ("no super users", "--super-user"),
    }
    values, options = zip(*(known[name] for name in assumed_settings), strict=True)
    return (
        f"assumed: {' and '.join(values)}, since the broker does not return its settings (options:"
        f" {', '.join(options)})"
    )


def denied_unless_text(
    principal: str, assumed_settings: Collection[str], *, allowed_in_open_mode: bool
) -> str:
    """Return `denied`, with the unknown values of settings that would allow the access."""
    conditions = []
    if SUPER_USERS in assumed_settings:
        conditions.append(f"{principal} is a super user")
    if ALLOW_EVERYONE in assumed_settings and allowed_in_open_mode:
        conditions.append(f"{ALLOW_EVERYONE} is true")
    return f"denied, unless {' or '.join(conditions)}" if conditions else "denied"


def write_note_on_assumed_settings(assumed_settings: Collection[str]) -> None:
    """Write the note to standard error, for commands whose output has no room for it."""
    if assumed_settings:
        sys.stderr.write(f"note: {assumed_settings_note(assumed_settings)}\n")


def authorizer_with_options(
    args: argparse.Namespace,
    acls: Iterable[Acl],
    release: str,
    cluster_acls: ClusterAcls | None = None,
) -> StandardAuthorizer:
    settings = settings_of_options_or_cluster(args, cluster_acls)
    return StandardAuthorizer(
        super_users=settings.super_users,
        allow_everyone=settings.allow_everyone,
        rules=acl_rules_of_release(release),
        store=AclStore(acls, caches_lookups=True),
    )


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
