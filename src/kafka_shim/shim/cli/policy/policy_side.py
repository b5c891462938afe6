"""One of two sets of ACLs that are compared: where it comes from, and what else decides."""

import argparse
from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    SUPER_USERS,
    StandardAuthorizer,
    parse_super_users,
)
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.plain_decisions import PlainPolicy
from kafka_shim.authorizer.store import AclStore
from kafka_shim.shim.cli.policy.accepted_acls import read_accepted_acls
from kafka_shim.shim.cli.policy.authorizer_options import (
    ClusterAcls,
    read_cluster_acls,
    release_of_options_or_cluster,
)
from kafka_shim.shim.cli.usage import UsageError

AUTHORIZER_CLASS = "authorizer.class.name"
SETTINGS = (ALLOW_EVERYONE, SUPER_USERS, AUTHORIZER_CLASS)
SETTINGS_HELP = (
    f"NAME is {ALLOW_EVERYONE}, {SUPER_USERS} or {AUTHORIZER_CLASS} (none: no authorizer)"
)


class PolicySide(msgspec.Struct, frozen=True):
    """A set of ACLs with its source, release and settings."""

    source: str
    acls: Sequence[Acl]
    release: str
    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False
    assumed_settings: frozenset[str] = frozenset()
    """Settings of a cluster that no option gives: real brokers (4.4.0, 2.8.2) list them without a
    value."""

    def authorizer(self) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=self.super_users,
            allow_everyone=self.allow_everyone,
            rules=acl_rules_of_release(self.release),
            store=AclStore(self.acls, caches_lookups=True),
        )

    def plain_policy(self) -> PlainPolicy:
        return PlainPolicy(tuple(self.acls), self.release, self.super_users, self.allow_everyone)

    def with_settings(self, texts: Iterable[str], option: str) -> "PolicySide":
        """Return the side with settings in the form NAME=VALUE. Raise UsageError for an unknown
        one.

        Without an authorizer, everything is allowed.
        """
        side = self
        for text in texts:
            name, equals, value = text.partition("=")
            side = msgspec.structs.replace(side, assumed_settings=side.assumed_settings - {name})
            if not equals or name not in SETTINGS:
                raise UsageError(f"{option} `{text}`: expected NAME=VALUE; {SETTINGS_HELP}")
            if name == SUPER_USERS:
                try:
                    users = parse_super_users(value)
                except ValueError as error:
                    raise UsageError(f"{option}: {error}") from error
                side = msgspec.structs.replace(side, super_users=users)
            elif name == ALLOW_EVERYONE:
                if value not in ("true", "false"):
                    raise UsageError(f"{option} `{text}`: expected true or false")
                side = msgspec.structs.replace(side, allow_everyone=value == "true")
            elif value in ("", "none"):
                side = msgspec.structs.replace(side, acls=(), allow_everyone=True)
            else:
                raise UsageError(f"{option} `{text}`: expected none, for no authorizer")
        return side


def side_of_cluster(args: argparse.Namespace, cluster_acls: ClusterAcls) -> PolicySide:
    given = {ALLOW_EVERYONE: args.allow_everyone_if_no_acl_found, SUPER_USERS: args.super_user}
    return PolicySide(
        args.bootstrap_server,
        cluster_acls.acls,
        release_of_options_or_cluster(args, cluster_acls),
        frozenset(args.super_user),
        args.allow_everyone_if_no_acl_found,
        frozenset(name for name, value in given.items() if not value),
    )


def side_of_files(args: argparse.Namespace, paths: Sequence[str], release: str) -> PolicySide:
    return PolicySide(
        ", ".join(paths),
        read_accepted_acls(paths, release),
        release,
        frozenset(args.super_user),
        args.allow_everyone_if_no_acl_found,
    )


def side_a_or_b_of_options(args: argparse.Namespace, name: str, path: str | None) -> PolicySide:
    """Return side A or B: a file, or the cluster of `--a` or `--b`, with its own settings."""
    own = vars(args)
    options = argparse.Namespace(**own)
    options.kafka_version = own[f"{name}_version"] or args.kafka_version
    server = own[name]
    if server is not None:
        options.bootstrap_server = server
        options.command_config = own[f"{name}_command_config"] or args.command_config
        side = side_of_cluster(options, read_cluster_acls(options))
    else:
        assert path is not None, "checked by the command"
        side = side_of_files(options, [path], release_of_options_or_cluster(options))
    return side.with_settings(own[f"{name}_set"], f"--{name}-set")
