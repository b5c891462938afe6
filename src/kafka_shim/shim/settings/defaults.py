"""Default listeners and super users: open to clients without authentication, ACLs for users.

The commands that start a broker, the control API and the pytest fixture share them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shim.shim.config import ListenerConfig

PLAINTEXT = "PLAINTEXT"
SASL_PLAINTEXT = "SASL_PLAINTEXT"
LISTENERS = (PLAINTEXT, SASL_PLAINTEXT)
HOST = "127.0.0.1"
ADMIN = "admin"
SUPER_USERS = ("User:ANONYMOUS", f"User:{ADMIN}")

_PERMISSION_FIELDS = frozenset({"authorizer", "super_users", "allow_everyone_if_no_acl_found"})
"""Fields of Config: if one is set, there are no default super users."""


def default_listeners(first_port: int = 0, brokers: int = 1) -> "tuple[ListenerConfig, ...]":
    """Return a listener without authentication, and one where users log in.

    Each broker has one port for each listener, from `first_port` on; 0: any free ports.
    """
    from kafka_shim.shim.config import ListenerConfig, SecurityProtocol  # noqa: PLC0415 - the pytest plugin needs the names alone

    ports = (first_port, first_port and first_port + brokers)
    return tuple(
        ListenerConfig(name, SecurityProtocol(name), HOST, port)
        for name, port in zip(LISTENERS, ports, strict=True)
    )


def default_super_users(config_fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the default super users for the fields of Config that are set.

    There are none if a field about permissions is set, or if listeners are named together with
    ACLs, or without one for clients that do not log in.
    """
    if _PERMISSION_FIELDS.intersection(config_fields):
        return ()
    listeners = config_fields.get("listeners")
    if listeners is None:
        return SUPER_USERS
    is_open = any(listener.protocol.value == PLAINTEXT for listener in listeners)
    return SUPER_USERS if is_open and not config_fields.get("acls") else ()
