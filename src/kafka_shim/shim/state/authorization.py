"""The authorizer in use, the requirements of each API in the emulated release, and the principal of
brokers on the inter-broker listener.
"""

import random
from collections.abc import Callable, Iterable

from kafka_shim.authorizer.acl_rules import AclRules, acl_rules_of_release
from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    SUPER_USERS,
    Authorizer,
    StandardAuthorizer,
)
from kafka_shim.authorizer.authorizer_loading import (
    STANDARD_AUTHORIZER_NAMES,
    load_authorizer,
)
from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.authorizer.requirement import BoundRequirement, Requirement, bind_to_release
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.propagation import PropagatingAuthorizer
from kafka_shim.text.whole_number import parse_whole_number

PROPAGATION_DELAY = "shim.acl.propagation.delay.ms"
"""Setting: the longest time that a change of ACLs may take to a broker; 0 is immediately."""

CONTROLLER = "ControllerApis"
FORWARDED = frozenset({ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS})
"""Decided by the controller although the rows name a class that both sides share."""
_STANDARD = (StandardAuthorizer, PropagatingAuthorizer)


class ClusterAuthorization:
    """The authorization side of a cluster; `authorizer` None means that every check passes.

    `on_bound`, if not None, is called with a requirement before its checks. `caching_authorizer` is
    the authorizer if decisions may be taken from its cache, else None.
    """

    __slots__ = (
        "_bound", "_deciding", "authorizer", "caching_authorizer", "on_bound", "release", "rules",
    )  # fmt: skip

    def __init__(self, release: str, authorizer: Authorizer | None, rules: AclRules) -> None:
        self.release = release
        self.authorizer = authorizer
        self.caching_authorizer = authorizer if type(authorizer) is StandardAuthorizer else None
        self._deciding: Authorizer | None = None
        self.rules = rules
        self.on_bound: Callable[[BoundRequirement], None] | None = None
        self._bound: dict[Requirement, BoundRequirement] = {}

    def deciding_authorizer(
        self, node_id: int, requirement: Requirement | None = None
    ) -> Authorizer | None:
        """Return the authorizer that decides: that of `delegate_to`, else as `authorizer_copy`.

        Forwarded requests are decided by the controller, which is never delayed.
        """
        return self._deciding or self.authorizer_copy(node_id, requirement)

    def delegate_to(self, authorizer: Authorizer) -> None:
        """Let another authorizer decide, without caches. Clients still see the ACLs of the first,
        and change them.
        """
        self._deciding, self.caching_authorizer = authorizer, None

    def authorizer_copy(
        self, node_id: int, requirement: Requirement | None = None
    ) -> Authorizer | None:
        """Return the authorizer with the ACLs that a broker knows: its own copy, if copies are
        delayed.
        """
        if not isinstance(self.authorizer, PropagatingAuthorizer):
            return self.authorizer
        if requirement is not None and (
            requirement.source == CONTROLLER or requirement.api in FORWARDED
        ):
            return self.authorizer
        return self.authorizer.authorizer_copy_of(node_id)

    @property
    def uses_standard_authorizer(self) -> bool:
        """Return whether Kafka's authorizer decides, not a user's own or that of `delegate_to`."""
        return self._deciding is None and (
            self.authorizer is None or type(self.authorizer) in _STANDARD
        )

    def copy_acls_to_brokers(self) -> None:
        """Add all ACLs to every broker's copy immediately."""
        if isinstance(self.authorizer, PropagatingAuthorizer):
            self.authorizer.copy_acls_to_brokers()

    def bind(self, requirement: Requirement) -> BoundRequirement:
        """Return the requirement as bound to this release."""
        bound = self._bound.get(requirement)
        if bound is None:
            bound = self._bound[requirement] = bind_to_release(requirement, self.release)
        if self.on_bound is not None:
            self.on_bound(bound)
        return bound


def _parse_propagation_delay_ms(text: str) -> int:
    delay_ms = parse_whole_number(text)
    if delay_ms is None:
        raise ValueError(f"invalid {PROPAGATION_DELAY} `{text}`: expected 0 or more milliseconds")
    return delay_ms


def create_cluster_authorization(
    config: Config, release: str, node_ids: Iterable[int], clock: Clock, rng: random.Random
) -> ClusterAuthorization:
    """Create the configured policy; raise ConfigError if the configuration is invalid."""
    rules = acl_rules_of_release(release)
    settings = dict(config.properties)
    if config.super_users:
        settings[SUPER_USERS] = ";".join(config.super_users)
    if config.allow_everyone_if_no_acl_found:
        settings[ALLOW_EVERYONE] = "true"
    try:
        delay_ms = _parse_propagation_delay_ms(settings.get(PROPAGATION_DELAY, "0"))
        if delay_ms > 0 and config.authorizer in STANDARD_AUTHORIZER_NAMES:
            late = PropagatingAuthorizer(rules, node_ids, delay_ms, clock, rng.getrandbits(32))
            late.configure(settings)
            return ClusterAuthorization(release, late, rules)
        return ClusterAuthorization(
            release, load_authorizer(config.authorizer, settings, rules), rules
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


NAMED = "inter.broker.listener.name"
PROTOCOL = "security.inter.broker.protocol"


def inter_broker_actor(config: Config) -> Actor | None:
    """Return the principal of brokers on the inter-broker listener.

    None if the listener requires an authentication, since the brokers' credentials are unknown.
    """
    wanted = config.properties.get(NAMED) or config.properties.get(PROTOCOL) or "PLAINTEXT"
    for listener in config.listeners:
        if listener.name.upper() == wanted.upper():
            is_open = listener.protocol.name == "PLAINTEXT"
            return Actor(listener.principal, listener.host) if is_open else None
    return None


def create_inter_broker_check(
    config: Config, policy: ClusterAuthorization
) -> Callable[[Action], bool]:
    """Return a check of the brokers' own operations; it allows all if brokers must log in."""
    actor = inter_broker_actor(config)

    def is_allowed(action: Action) -> bool:
        if policy.authorizer is None or actor is None:
            return True
        return policy.authorizer.authorize(actor, action).allowed

    return is_allowed
