"""The principal of brokers on the inter-broker listener, used for their own operations."""

from collections.abc import Callable

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.shim.config import Config
from kafka_shim.shim.state.authorization import Policy

NAMED = "inter.broker.listener.name"
PROTOCOL = "security.inter.broker.protocol"


def brokers_actor(config: Config) -> Actor | None:
    """Return the principal of brokers on the inter-broker listener.

    None if the listener requires a log-in, since the brokers' credentials are unknown.
    """
    wanted = config.properties.get(NAMED) or config.properties.get(PROTOCOL) or "PLAINTEXT"
    for listener in config.listeners:
        if listener.name.upper() == wanted.upper():
            is_open = listener.protocol.name == "PLAINTEXT"
            return Actor(listener.principal, listener.host) if is_open else None
    return None


def brokers_may(config: Config, policy: Policy) -> Callable[[Action], bool]:
    """Return a check of the brokers' own operations; it allows all if brokers must log in."""
    actor = brokers_actor(config)

    def may(action: Action) -> bool:
        if policy.authorizer is None or actor is None:
            return True
        return policy.authorizer.authorize(actor, action).allowed

    return may
