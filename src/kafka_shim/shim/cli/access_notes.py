"""Notes at startup for new users: which clients are allowed everything, or that none are."""

from collections.abc import Iterator

from kafka_shim.authorizer.loading import OURS
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.cli.error_output import print_note
from kafka_shim.shim.config import Config, ListenerConfig
from kafka_shim.shim.settings.defaults import ADMIN, SASL_PLAINTEXT

_BY_PASSWORD = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"})


def say_who_may_what(broker: Broker, *, has_control: bool = False) -> None:
    """Print the notes, before the broker's first client."""
    for text in access_notes(broker, has_control=has_control):
        print_note(text)


def access_notes(broker: Broker, *, has_control: bool = False) -> Iterator[str]:
    """Yield one line per note; with `has_control`, users and ACLs can still be added later."""
    config = broker.cluster.config
    mechanisms = frozenset(broker.cluster.mechanisms)
    if config.users:
        yield from _unusable_users(config, mechanisms)
    if config.authorizer not in OURS:
        return
    if any(_is_open(listener, config) for listener in config.listeners):
        if config.log_level in ("info", "debug"):
            yield _who_may_what(config)
    elif not has_control and _is_closed(config, mechanisms):
        yield f"nobody may do anything: there are no ACLs, and {_remedy(config)}"


def _unusable_users(config: Config, mechanisms: frozenset[str]) -> Iterator[str]:
    names = ", ".join(sorted(config.users))
    if not any(listener.protocol.sasl for listener in config.listeners):
        yield (
            f"no listener lets users log in ({names}); add"
            f" --listener {SASL_PLAINTEXT}://127.0.0.1:0"
        )
    elif not mechanisms & _BY_PASSWORD:
        enabled = ",".join(sorted(mechanisms))
        yield (
            f"users ({names}) cannot log in by {enabled}, which takes no passwords; add"
            f" -c sasl.enabled.mechanisms=PLAIN,{enabled}"
        )


def _who_may_what(config: Config) -> str:
    open_ones = [listener.name for listener in config.listeners if _is_open(listener, config)]
    text = f"every client of {', '.join(open_ones)} may do everything"
    for_users = [listener.name for listener in config.listeners if listener.protocol.sasl]
    if for_users:
        text += f"; users log in on {', '.join(for_users)}, and ACLs decide what they may do"
        above = [name for name in config.users if f"User:{name}" in config.super_users]
        text += f" (not for {', '.join(above)}: super user)" if above else ""
    return text


def _is_open(listener: ListenerConfig, config: Config) -> bool:
    """Return whether all clients of the listener are super users."""
    return not listener.protocol.sasl and listener.principal in config.super_users


def _is_closed(config: Config, mechanisms: frozenset[str]) -> bool:
    """Return whether no client can ever be allowed anything."""
    is_granted_later = any("grant" in fault.get("action", {}) for fault in config.faults)
    if config.acls or config.allow_everyone_if_no_acl_found or is_granted_later:
        return False
    return not any(
        _reaches_super_user(listener, config, mechanisms) for listener in config.listeners
    )


def _reaches_super_user(
    listener: ListenerConfig, config: Config, mechanisms: frozenset[str]
) -> bool:
    """Return whether a client can become a super user; certificates
    and tokens may have any name.
    """
    if not config.super_users:
        return False
    if not listener.protocol.sasl:
        return _is_open(listener, config) or _asks_for_certificates(listener, config)
    if "OAUTHBEARER" in mechanisms:
        return True
    return any(f"User:{name}" in config.super_users for name in config.users)


def _asks_for_certificates(listener: ListenerConfig, config: Config) -> bool:
    own = f"listener.name.{listener.name.lower()}.ssl.client.auth"
    mode = config.properties.get(own, config.properties.get("ssl.client.auth", "none"))
    return listener.protocol.tls and mode != "none"


def _remedy(config: Config) -> str:
    """Say what is missing, and the options that would help."""
    missing = "there is no super user"
    if config.super_users:
        missing = f"no client can be a super user ({', '.join(config.super_users)})"
    without_login = [listener for listener in config.listeners if not listener.protocol.sasl]
    if without_login:
        return f"{missing}; add --super-user {without_login[0].principal}, or --acls FILE"
    name = next(iter(config.users), None)
    user = f"--user {ADMIN}:{ADMIN}-secret " if name is None else ""
    return f"{missing}; add {user}--super-user User:{name or ADMIN}, or --acls FILE"
