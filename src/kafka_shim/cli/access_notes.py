"""Notes at startup for new users: which clients are allowed everything, or that none are."""

from collections.abc import Iterator

from kafka_shim.authorizer.authorizer_loading import STANDARD_AUTHORIZER_NAMES
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig
from kafka_shim.shim.settings.defaults import ADMIN, SASL_PLAINTEXT
from kafka_shim.text.message_text import print_note

_PASSWORD_MECHANISMS = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"})


def print_access_notes(broker: Broker, *, has_control_api: bool = False) -> None:
    """Print the notes, before the broker's first client."""
    for text in startup_access_notes(broker, has_control_api=has_control_api):
        print_note(text)


def startup_access_notes(broker: Broker, *, has_control_api: bool = False) -> Iterator[str]:
    """Yield one line per note; with `has_control_api`, users and ACLs can still be added later."""
    config = broker.cluster.config
    mechanisms = frozenset[str]().union(*broker.cluster.mechanisms_by_listener.values())
    if config.users_of_any_listener:
        yield from _unusable_user_notes(config, mechanisms)
    if config.authorizer not in STANDARD_AUTHORIZER_NAMES:
        return
    if any(_all_clients_are_super_users(listener, config) for listener in config.listeners):
        if config.log_level in ("info", "debug"):
            yield _listener_access_note(config)
    elif not has_control_api and _denies_every_client(config, mechanisms):
        advice = _missing_super_user_advice(config)
        yield f"every request will be denied: there are no ACLs, and {advice}"


def _unusable_user_notes(config: Config, mechanisms: frozenset[str]) -> Iterator[str]:
    names = ", ".join(sorted(config.users_of_any_listener))
    if not any(listener.protocol.uses_sasl for listener in config.listeners):
        yield (
            f"no listener authenticates users ({names}); add"
            f" --listener {SASL_PLAINTEXT}://127.0.0.1:0"
        )
    elif not mechanisms & _PASSWORD_MECHANISMS:
        enabled = ",".join(sorted(mechanisms))
        yield (
            f"users ({names}) cannot authenticate with {enabled}, which takes no passwords; add"
            f" -c sasl.enabled.mechanisms=PLAIN,{enabled}"
        )


def _listener_access_note(config: Config) -> str:
    open_ones = [
        listener.name
        for listener in config.listeners
        if _all_clients_are_super_users(listener, config)
    ]
    text = f"{', '.join(open_ones)}: no authentication, everything allowed"
    for_users = [listener.name for listener in config.listeners if listener.protocol.uses_sasl]
    if for_users:
        text += f"; {', '.join(for_users)}: users authenticate, ACLs apply"
        above = [
            name for name in config.users_of_any_listener if f"User:{name}" in config.super_users
        ]
        text += f" (not to {', '.join(above)}: super user)" if above else ""
    return text


def _all_clients_are_super_users(listener: ListenerConfig, config: Config) -> bool:
    """Return whether all clients of the listener are super users."""
    return not listener.protocol.uses_sasl and listener.principal in config.super_users


def _denies_every_client(config: Config, mechanisms: frozenset[str]) -> bool:
    """Return whether no client can ever be allowed anything."""
    is_granted_later = any("grant" in fault.get("action", {}) for fault in config.faults)
    if config.acls or config.allow_everyone_if_no_acl_found or is_granted_later:
        return False
    return not any(
        _may_have_super_user(listener, config, mechanisms) for listener in config.listeners
    )


def _may_have_super_user(
    listener: ListenerConfig, config: Config, mechanisms: frozenset[str]
) -> bool:
    """Return whether a client can become a super user; certificates
    and tokens may have any name.
    """
    if not config.super_users:
        return False
    if not listener.protocol.uses_sasl:
        return _all_clients_are_super_users(listener, config) or _authenticates_client_certificates(
            listener, config
        )
    if "OAUTHBEARER" in mechanisms:
        return True
    return any(
        f"User:{name}" in config.super_users for name in config.users_of_listener(listener.name)
    )


def _authenticates_client_certificates(listener: ListenerConfig, config: Config) -> bool:
    own = f"listener.name.{listener.name.lower()}.ssl.client.auth"
    mode = config.properties.get(own, config.properties.get("ssl.client.auth", "none"))
    return listener.protocol.uses_tls and mode != "none"


def _missing_super_user_advice(config: Config) -> str:
    """Return what is missing for a super user, and the options that would help."""
    missing = "there is no super user"
    if config.super_users:
        missing = f"no client can be a super user ({', '.join(config.super_users)})"
    without_login = [listener for listener in config.listeners if not listener.protocol.uses_sasl]
    if without_login:
        return f"{missing}; add --super-user {without_login[0].principal}, or --acls FILE"
    name = next(iter(config.users_of_any_listener), None)
    user = f"--user {ADMIN}:{ADMIN}-secret " if name is None else ""
    return f"{missing}; add {user}--super-user User:{name or ADMIN}, or --acls FILE"
