"""The TLS contexts of listeners, whose stores clients can change while a broker runs (KIP-226).

A broker loads stores of `listener.name.<name>.ssl.*` that AlterConfigs sets for it, for new
connections. The certificate must keep its names, unless a setting allows other ones (KIP-978).
Measured on real brokers (tests/recordings/keystores).
"""

import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.tls.context import (
    build_server_context,
    has_keystore,
    keystore_pem,
    load_keystore,
    load_truststore,
    settings_of_listener,
)
from kafka_shim.text.extras import requires
from kafka_shim.text.logs import Log

log = Log("shim.tls")

_CHANGEABLE = re.compile(r"ssl\.(key\.password|(key|trust)store\..*)")
_HANDSHAKE_TURNS = 8


class _LoadedStores(NamedTuple):
    """A listener's context, and the settings and files from which it was made."""

    context: ssl.SSLContext
    peer_context: ssl.SSLContext | None
    """Of the other brokers, which connect to the listener between brokers."""
    settings: Mapping[str, str]
    files: Mapping[str, int]
    """When each was modified."""
    keystore: str | None
    altered: Mapping[str, str] | None = None
    """What clients have set on the broker."""


class ListenerStores:
    """The stores of the TLS listeners of each broker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        # on KRaft changed files are loaded after the response, and errors only logged
        self._has_zookeeper = not cluster.facts.cluster.brokers_have_process_roles
        self._listeners: dict[str, ListenerConfig] = {}
        self._static: dict[str, _LoadedStores] = {}
        self._loaded: dict[tuple[str, int], _LoadedStores] = {}
        cluster.check_listener_stores = self._check
        cluster.load_listener_stores = self._load

    def add(self, listener: ListenerConfig) -> None:
        """Load the stores of a listener's static settings. Raise ConfigError if that fails."""
        if listener.name not in self._listeners:
            self._static[listener.name] = self._build(listener, self._settings(listener, {}))
            self._listeners[listener.name] = listener

    def context(self, listener_name: str, node_id: int) -> ssl.SSLContext:
        """Return the context for a new connection, with the stores that the broker has loaded."""
        altered = self._cluster.configs.brokers.get(node_id)
        if self._current(listener_name, node_id).altered is not altered:
            self._load(node_id, is_change=False)  # the state was restored or reset
        return self._current(listener_name, node_id).context

    def _current(self, listener_name: str, node_id: int) -> _LoadedStores:
        return self._loaded.get((listener_name, node_id), self._static[listener_name])

    def _check(self, node_id: int, altered: Mapping[str, str]) -> None:
        """Raise ConfigError if a broker cannot load the stores of altered settings."""
        for name, listener in self._listeners.items():
            settings, current = self._settings(listener, altered), self._current(name, node_id)
            if settings != current.settings or (
                self._has_zookeeper and _modification_times(settings) != current.files
            ):
                self._replacement(listener, current, settings)

    def _load(self, node_id: int, *, is_change: bool = True) -> None:
        """Load the stores of a broker's settings, if settings or files have changed.

        Unless it is a change of the running broker, the current stores forbid nothing.
        """
        altered = self._cluster.configs.brokers.get(node_id)
        for name, listener in self._listeners.items():
            settings = self._settings(listener, altered or {})
            current = self._current(name, node_id)
            if settings != current.settings or _modification_times(settings) != current.files:
                try:
                    current = (
                        self._replacement(listener, current, settings)
                        if is_change
                        else self._build(listener, settings)
                    )
                except ConfigError as error:
                    log.warning("changed tls store not loaded", listener=name, reason=str(error))
            self._loaded[name, node_id] = current._replace(altered=altered)

    def _settings(self, listener: ListenerConfig, altered: Mapping[str, str]) -> dict[str, str]:
        """Return a listener's settings, of which only those of stores can be altered."""
        static = settings_of_listener(self._cluster.config.properties, listener.name)
        changes = settings_of_listener(altered, listener.name)
        return static | {name: changes[name] for name in changes if _CHANGEABLE.fullmatch(name)}

    def _build(self, listener: ListenerConfig, settings: Mapping[str, str]) -> _LoadedStores:
        advertised = [listener.advertised[0]] if listener.advertised else []
        return _LoadedStores(
            build_server_context(settings, listener.name, listener.host, *advertised),
            _peer_context(settings) if self._is_between_brokers(listener) else None,
            settings,
            _modification_times(settings),
            keystore_pem(settings) if has_keystore(settings) else None,
        )

    def _is_between_brokers(self, listener: ListenerConfig) -> bool:
        properties = self._cluster.config.properties
        own = properties.get("inter.broker.listener.name")
        return listener.name == (own or properties.get("security.inter.broker.protocol"))

    def _replacement(
        self, listener: ListenerConfig, current: _LoadedStores, settings: Mapping[str, str]
    ) -> _LoadedStores:
        """Return new stores. Raise ConfigError if they are invalid, or the current ones forbid."""
        for store in ("keystore", "truststore"):
            if _is_set(store, settings) != _is_set(store, current.settings):
                raise ConfigError(f"a {store} cannot be added to a running listener, or removed")
        try:
            new = self._build(listener, settings)
            if new.keystore and current.keystore:
                self._check_names(new.keystore, current.keystore, settings)
        except ValueError as error:
            raise ConfigError(f"the keystore has no valid certificate: {error}") from error
        _check_handshake(new.peer_context, current.context)
        _check_handshake(current.peer_context, new.context)
        return new

    def _check_names(self, new: str, current: str, settings: Mapping[str, str]) -> None:
        """Raise ConfigError if a certificate has other names than the current one."""
        new_names, current_names = _names_in_certificate(new), _names_in_certificate(current)
        lost = current_names.alternative - new_names.alternative
        if new_names.subject != current_names.subject and not self._allows(
            "ssl.allow.dn.changes", settings
        ):
            text = f"its subject is `{new_names.subject}` instead of `{current_names.subject}`"
        elif lost and not self._allows("ssl.allow.san.changes", settings):
            text = f"it lacks the subject alternative names {', '.join(sorted(lost))}"
        else:
            return
        raise ConfigError(f"the certificate of a running listener must keep its names: {text}")

    def _allows(self, setting: str, settings: Mapping[str, str]) -> bool:
        is_known = setting in self._cluster.configs.broker_definitions
        return is_known and settings.get(setting, "").strip().lower() == "true"


class _CertificateNames(NamedTuple):
    subject: str
    alternative: frozenset[str]


def _names_in_certificate(pem: str) -> _CertificateNames:
    """Return the names in the first certificate. Raise ValueError if there is none."""
    try:
        from cryptography import x509  # noqa: PLC0415 - an extra, and few clients change stores
    except ImportError as error:
        raise ConfigError(requires("a change of ssl.keystore.location", "tls")) from error
    certificate = x509.load_pem_x509_certificates(pem.encode())[0]
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        alternative = frozenset[str]()
    else:
        alternative = frozenset(str(name.value) for name in extension.value)
    return _CertificateNames(certificate.subject.rfc4514_string(), alternative)


def _is_set(store: str, settings: Mapping[str, str]) -> bool:
    texts = {"keystore": "certificate.chain", "truststore": "certificates"}
    return any(f"ssl.{store}.{name}" in settings for name in ("location", texts[store]))


def _modification_times(settings: Mapping[str, str]) -> dict[str, int]:
    """Return when the files of stores were modified; missing files are left out."""
    locations = [settings.get(f"ssl.{store}.location") for store in ("keystore", "truststore")]
    return {
        location: Path(location).stat().st_mtime_ns
        for location in locations
        if location and Path(location).exists()
    }


def _peer_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """Return the context with which another broker with the same settings connects."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    load_keystore(context, settings)
    load_truststore(context, settings)
    return context


def _check_handshake(peer: ssl.SSLContext | None, server: ssl.SSLContext) -> None:
    """Raise ConfigError if brokers with these contexts, one new and one old, cannot connect."""
    if peer is None:
        return
    to_server, to_peer = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(to_server, to_peer, server_side=True),
        peer.wrap_bio(to_peer, to_server),
    ]
    for _ in range(_HANDSHAKE_TURNS):
        for end in ends:
            try:
                end.do_handshake()
                if end is ends[0]:
                    return
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                raise ConfigError(
                    "brokers with the new and the old stores do not trust each other:"
                    f" {error.reason}; first add the new authority to the truststore"
                ) from error
