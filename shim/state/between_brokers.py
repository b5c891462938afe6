"""Who a broker is to the others, as whom it also does what nobody asked it for."""

from collections.abc import Callable

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.shim.config import Config
from kafka_shim.shim.state.policy import Policy

NAMED = "inter.broker.listener.name"
PROTOCOL = "security.inter.broker.protocol"


def brokers_actor(config: Config) -> Actor | None:
    """The principal that brokers have on the listener between them.

    None if it asks for a log-in: as whom brokers would, nobody knows here.
    """
    wanted = config.properties.get(NAMED) or config.properties.get(PROTOCOL) or "PLAINTEXT"
    for listener in config.listeners:
        if listener.name.upper() == wanted.upper():
            is_open = listener.protocol.name == "PLAINTEXT"
            return Actor(listener.principal, listener.host) if is_open else None
    return None


def brokers_may(config: Config, policy: Policy) -> Callable[[Action], bool]:
    """Who decides what brokers may do by themselves: all, if they log in to each other."""
    actor = brokers_actor(config)

    def may(action: Action) -> bool:
        if policy.authorizer is None or actor is None:
            return True
        return policy.authorizer.authorize(actor, action).allowed

    return may
