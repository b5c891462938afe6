"""Shims on which cases run: one per set-up, started when it is first needed."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import msgspec

from kafka_shim.conformance import token_signing
from kafka_shim.conformance.cluster import ClusterUnderTest, ShimCluster
from kafka_shim.conformance.frames import FrameListener, HistoryWithResponses
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.settings.defaults import default_super_users
from kafka_shim.shim.tls.generated_certificates import write_certificate_for_host

USER = "alice"
PASSWORD = "alice-secret"  # noqa: S105 - of a test broker
OTHER_USER = "bob"
OTHER_PASSWORD = "bob-secret"  # noqa: S105 - likewise
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


class ClusterSetup(msgspec.Struct, frozen=True):
    """The cluster's configuration for a case."""

    brokers: int = 1
    has_tls: bool = False
    authorizer: str = "standard"
    properties: tuple[tuple[str, str], ...] = ()
    mechanisms: tuple[str, ...] = MECHANISMS
    has_signed_tokens: bool = False
    """Tokens are checked with the key of `signing`; otherwise they need no signature."""
    certificate_host: str = ""
    """The brokers' certificate is for this host only; empty: for the address that clients use."""


DEFAULT_SETUP = ClusterSetup()


class ClusterProvider(Protocol):
    """Provides an empty cluster for each case."""

    @property
    def ca_path(self) -> str | None: ...
    async def provide_empty_cluster(self, setup: ClusterSetup, title: str) -> ClusterUnderTest: ...
    async def close(self) -> None: ...


class ShimClusterProvider:
    """The shims of one release; `on_frame` is called with a line for each message."""

    def __init__(self, release: str, on_frame: FrameListener | None = None) -> None:
        self._release = release
        self._on_frame = on_frame
        self._brokers: dict[ClusterSetup, Broker] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="kafka-shim-suite-")
        self._cleanup = ExitStack()
        self._cleanup.enter_context(self._folder)

    async def provide_empty_cluster(self, setup: ClusterSetup, title: str) -> ShimCluster:
        """Return an empty broker, after reporting `title`.

        Raise ConfigError if an extra is missing.
        """
        if self._on_frame is not None:
            self._on_frame(title)
        return ShimCluster(await self._provide_empty_broker(setup))

    async def _provide_empty_broker(self, setup: ClusterSetup) -> Broker:
        """Return an empty broker. Raise ConfigError if an extra is missing: `tls`, `oauth`.

        It has new ports: a client that was not closed may still try those of an earlier case.
        """
        if setup in self._brokers:
            broker = self._brokers[setup]
            for node_id in broker.cluster.nodes:
                await broker.stop_node(node_id)
                await broker.start_node(node_id, on_new_ports=True)
            broker.reset_to_initial_state()
            return broker
        broker = Broker(self._broker_config(setup))
        broker.dispatcher.set_history(HistoryWithResponses(self._on_frame))
        # no cached responses: cases change the state directly, and inspect every response
        self._cleanup.enter_context(broker.cluster.state_version.changing())
        await broker.start()
        self._brokers[setup] = broker
        return broker

    def _broker_config(self, setup: ClusterSetup) -> Config:
        protocols = [each for each in SecurityProtocol if setup.has_tls or not each.uses_tls]
        return Config(
            listeners=tuple(ListenerConfig(p.value, p, "127.0.0.1", 0) for p in protocols),
            super_users=default_super_users({}),
            release=self._release,
            users={USER: PASSWORD, OTHER_USER: OTHER_PASSWORD},
            mechanisms=setup.mechanisms,
            auto_create_topics=False,
            authorizer=setup.authorizer,
            brokers=setup.brokers,
            properties=self._broker_properties(setup),
        )

    def _broker_properties(self, setup: ClusterSetup) -> dict[str, str]:
        folder = Path(self._folder.name)
        keys = token_signing.write_jwks(folder) if setup.has_signed_tokens else {}
        certificates = {"shim.tls.directory": str(folder)}
        if setup.certificate_host:
            store = write_certificate_for_host(folder, setup.certificate_host)
            certificates["ssl.keystore.location"] = str(store)
        return {**certificates, **keys, **dict(setup.properties)}

    @property
    def ca_path(self) -> str:
        """The path of the CA certificate that clients trust."""
        return str(Path(self._folder.name) / "ca.pem")

    async def close(self) -> None:
        for broker in self._brokers.values():
            await broker.stop()
            await broker.abort_connections(0)
        self._cleanup.close()
