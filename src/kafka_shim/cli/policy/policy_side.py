"""One of two sets of ACLs that are compared: where it comes from, and what else decides."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

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
from kafka_shim.cli.authorizer_settings import (
    ClusterAcls,
    release_of_options_or_cluster,
    settings_of_options_or_cluster,
)
from kafka_shim.cli.policy.accepted_acls import read_accepted_acls
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.plain_decisions import PlainPolicy

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
    is_mode_known: bool = True
    """Whether an option or the cluster gives `allow_everyone`."""
    assumed_settings: tuple[str, ...] = ()
    """Settings of a cluster that no option gives, and whose values its broker does not return."""
    cluster: str | None = None
    """The address of the cluster whose settings these are."""

    def authorizer(self) -> StandardAuthorizer:
        return self._authorizer_in_mode(
            AclStore(self.acls, caches_lookups=True), allow_everyone=self.allow_everyone
        )

    def authorizers_by_possible_mode(self) -> dict[bool, StandardAuthorizer]:
        """Return an authorizer for each value that allow.everyone.if.no.acl.found can have."""
        store = AclStore(self.acls, caches_lookups=True)
        modes = (self.allow_everyone,) if self.is_mode_known else (False, True)
        return {mode: self._authorizer_in_mode(store, allow_everyone=mode) for mode in modes}

    def _authorizer_in_mode(self, store: AclStore, *, allow_everyone: bool) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=self.super_users,
            allow_everyone=allow_everyone,
            rules=acl_rules_of_release(self.release),
            store=store,
        )

    def plain_policy(self) -> PlainPolicy:
        return PlainPolicy(tuple(self.acls), self.release, self.super_users, self.allow_everyone)

    def with_mode(self, *, allow_everyone: bool) -> "PolicySide":
        """Return the side with a known value of allow.everyone.if.no.acl.found."""
        return msgspec.structs.replace(
            self._without_assuming(ALLOW_EVERYONE),
            allow_everyone=allow_everyone,
            is_mode_known=True,
        )

    def _without_assuming(self, setting: str) -> "PolicySide":
        assumed = tuple(each for each in self.assumed_settings if each != setting)
        return msgspec.structs.replace(self, assumed_settings=assumed)

    def with_settings(self, texts: Iterable[str], option: str) -> "PolicySide":
        """Return the side with settings in the form NAME=VALUE. Raise UsageError for an unknown
        one.

        Without an authorizer, everything is allowed.
        """
        side = self
        for text in texts:
            name, equals, value = text.partition("=")
            if not equals or name not in SETTINGS:
                raise UsageError(f"{option} `{text}`: expected NAME=VALUE; {SETTINGS_HELP}")
            if name == SUPER_USERS:
                try:
                    users = parse_super_users(value)
                except ValueError as error:
                    raise UsageError(f"{option}: {error}") from error
                side = side._without_assuming(SUPER_USERS)
                side = msgspec.structs.replace(side, super_users=users)
            elif name == ALLOW_EVERYONE:
                if value not in ("true", "false"):
                    raise UsageError(f"{option} `{text}`: expected true or false")
                side = side.with_mode(allow_everyone=value == "true")
            elif value in ("", "none"):
                side = msgspec.structs.replace(side, acls=()).with_mode(allow_everyone=True)
            else:
                raise UsageError(f"{option} `{text}`: expected none, for no authorizer")
        return side


def require_known_mode_if_it_matters(
    old: PolicySide, new: PolicySide, passes: Callable[[PolicySide, PolicySide], bool]
) -> None:
    """Raise UsageError if a result depends on a mode that a broker does not return.

    The mode is allow.everyone.if.no.acl.found.
    """
    if ALLOW_EVERYONE not in {*old.assumed_settings, *new.assumed_settings}:
        return
    if len({passes(*sides) for sides in _sides_in_possible_modes(old, new)}) > 1:
        raise UsageError(
            f"the result depends on {ALLOW_EVERYONE}, and the broker does not return it; add"
            " --allow-everyone-if-no-acl-found or --no-allow-everyone-if-no-acl-found"
        )


def _sides_in_possible_modes(
    old: PolicySide, new: PolicySide
) -> Iterator[tuple[PolicySide, PolicySide]]:
    """Yield both sides in each combination of modes; one cluster has the same on both sides."""
    clusters = {
        side.cluster: None for side in (old, new) if ALLOW_EVERYONE in side.assumed_settings
    }
    for modes in product((False, True), repeat=len(clusters)):
        mode_of = dict(zip(clusters, modes, strict=True))
        first, second = (
            msgspec.structs.replace(side, allow_everyone=mode_of[side.cluster])
            if ALLOW_EVERYONE in side.assumed_settings
            else side
            for side in (old, new)
        )
        yield first, second


def side_of_cluster(args: argparse.Namespace, cluster_acls: ClusterAcls) -> PolicySide:
    settings = settings_of_options_or_cluster(args, cluster_acls)
    return PolicySide(
        args.bootstrap_server,
        cluster_acls.acls,
        release_of_options_or_cluster(args, cluster_acls),
        settings.super_users,
        settings.allow_everyone,
        settings.is_mode_known,
        settings.assumed_settings,
        args.bootstrap_server,
    )


def side_of_files(
    args: argparse.Namespace,
    paths: Sequence[str],
    release: str,
    settings_of: PolicySide | None = None,
) -> PolicySide:
    """Return the ACLs of files, with the settings of the options or of another side."""
    acls = read_accepted_acls(paths, release)
    source = ", ".join(paths)
    if settings_of is not None:
        return msgspec.structs.replace(settings_of, source=source, acls=acls, release=release)
    return side_of_acls(args, source, acls, release)


def side_of_acls(
    args: argparse.Namespace, source: str, acls: Sequence[Acl], release: str
) -> PolicySide:
    """Return the ACLs with the settings of the options."""
    settings = settings_of_options_or_cluster(args)
    return PolicySide(
        source,
        acls,
        release,
        settings.super_users,
        settings.allow_everyone,
        settings.is_mode_known,
    )
