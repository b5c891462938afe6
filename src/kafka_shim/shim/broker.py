"""A whole broker: cluster and listeners together, started and stopped as one."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.dispatching.response_cache import ResponseCache
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.network.server import Server
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock

if TYPE_CHECKING:
    from pathlib import Path

    from kafka_shim.shim.faults.faults import Faults
    from kafka_shim.shim.observing.change_log import ChangeLog
    from kafka_shim.shim.observing.mutation_run import BrokerMutationRun
    from kafka_shim.shim.observing.request_history import History
    from kafka_shim.shim.observing.trace_recorder import TraceRecorder
    from kafka_shim.shim.state.snapshot import Snapshot
    from kafka_shim.shim.storage.storage import Storage
    from kafka_shim.trace_format.segments import TraceStorage


BOOTSTRAP = "KAFKA_BOOTSTRAP_SERVERS"
"""The variable in which programs look for a broker."""
SECURITY_PROTOCOL = "KAFKA_SECURITY_PROTOCOL"
SASL_MECHANISM = "KAFKA_SASL_MECHANISM"
"""What these begin with; the name of a listener follows."""
MUTATION_RUN = "SHIM_MUTATION_RUN"
"""A variable with the folder of a run with mutated ACLs. It does not begin with KAFKA_, since the
packages for tests do not pass such variables on to their brokers.
"""


class ListenerAddress(NamedTuple):
    """The address of a listener for clients, such as `127.0.0.1:9092`."""

    listener_name: str
    host_and_port: str


class Broker:
    """What `serve`, `run` and the tests start."""

    def __init__(self, config: Config, clock: Clock | None = None) -> None:
        self.cluster = Cluster(config, clock or SystemClock())
        self._decision_watch = self._join_mutation_run()
        self.dispatcher = Dispatcher(self.cluster)
        if self.cluster.policy.uses_standard_authorizer:
            self.dispatcher.response_cache = ResponseCache(self.cluster)
        self._server = Server(self.dispatcher)
        self.change_log: ChangeLog | None = None
        if config.data_dir is not None:
            self._open_storage(config.data_dir)
        self._create_initial_state()
        self.started_ms = self.cluster.clock.now_ms()

    def _join_mutation_run(self) -> "BrokerMutationRun | None":
        """Let mutated ACLs decide, if this is a run with them."""
        folder = os.environ.get(MUTATION_RUN)
        if folder is None:
            return None
        from kafka_shim.shim.observing.mutation_run import BrokerMutationRun  # noqa: PLC0415 - most brokers have no mutants

        watch = BrokerMutationRun(folder)
        watch.attach(self.cluster)
        return watch

    def _open_storage(self, data_dir: str) -> None:
        """Restore the state in a directory, and keep it there from now on.

        Raise ConfigError on Windows, which cannot lock or sync directories.
        """
        if sys.platform == "win32":
            raise ConfigError("--data-dir needs Linux or macOS")
        from pathlib import Path  # noqa: PLC0415 - as below

        from kafka_shim.shim.storage.storage import Storage  # noqa: PLC0415 - most brokers keep nothing

        storage = Storage(Path(data_dir))
        self.dispatcher.set_storage(storage)
        try:
            storage.restore_cluster(self.cluster)
        except BaseException:
            storage.close_without_writing()
            raise
        self.cluster.policy.copy_acls_to_brokers()
        self.cluster.elect_live_leaders()

    def allow_busy_polling(self) -> None:
        """Let it poll for requests for a moment after responses, in a process of its own."""
        self._server.busy_polling.enable()

    async def start(self) -> None:
        """Bind all listeners; `listener_addresses` then has the actual ports."""
        self.cluster.clock.start_early_timers()
        if self.storage is not None:
            self.storage.commit()
        await self._server.start()

    async def stop(self) -> None:
        if self.storage is not None:
            self.storage.commit()
        await self._server.stop()
        if self.recorder is not None:
            self.recorder.close()
        if self.storage is not None:
            self.storage.close()

    async def abort_connections(self, after_s: float) -> None:
        """Abort connections that are still open a while after `stop`."""
        await self._server.abort_connections(after_s)

    async def stop_node(self, node_id: int) -> None:
        """Stop one broker of the cluster: its clients are disconnected,
        and others become leaders.
        """
        if self.cluster.nodes[node_id].is_alive:
            self._server.close_connections(node_id)  # else requests are served without their state
            self.cluster.set_broker_alive(node_id, is_alive=False)
            await self._server.close_node(node_id)

    async def start_node(self, node_id: int, *, on_new_ports: bool = False) -> None:
        """Start a stopped broker on its ports, or on new ones. Raise ConfigError if they are in
        use.
        """
        if self._server.is_node_closed(node_id):
            moved = self.cluster.config.listeners if on_new_ports else ()
            await self._server.reopen_node(node_id, moved=moved)
            self.cluster.set_broker_alive(node_id, is_alive=True)

    async def move_to_new_ports(self) -> None:
        """Close all connections, and listen on other free ports; configured ports stay."""
        await self._server.move_to_new_ports()

    async def start_all_nodes(self) -> None:
        for node_id in self.cluster.nodes:
            await self.start_node(node_id)

    def reset_to_initial_state(self) -> None:
        """Reset to the configured state: close all connections and remove all faults."""
        self._clear()
        self._create_initial_state()
        if self.change_log is not None:
            self.change_log.record_reset("reset to the state at startup")

    def _create_initial_state(self) -> None:
        config = self.cluster.config
        if config.topics or config.acls or config.groups or config.client_metrics:
            from kafka_shim.shim.initial_state import create_missing_initial_state  # noqa: PLC0415 - imports take time

            create_missing_initial_state(self.cluster)
        self.cluster.policy.copy_acls_to_brokers()
        for fault in self.cluster.config.faults:
            self._check_fault(fault)
            self.faults.add(fault)

    def _check_fault(self, fields: Mapping[str, Any]) -> None:
        """Raise ConfigError if a fault cannot fire."""
        from kafka_shim.shim.faults.reachability import require_reachable  # noqa: PLC0415 - faults are rare
        from kafka_shim.shim.faults.spec import FaultError  # noqa: PLC0415 - as above

        try:
            require_reachable(fields, self.cluster)
        except FaultError as error:
            raise ConfigError(f"faults: {error}") from error

    def take_snapshot(self) -> "Snapshot":
        """Return a snapshot of the state (see shim/state/snapshot.py)."""
        from kafka_shim.shim.state.snapshot import take_snapshot  # noqa: PLC0415 - most brokers never need it

        return take_snapshot(self.cluster)

    def restore_snapshot(self, snapshot: "Snapshot") -> None:
        """Restore a snapshot; clients are disconnected, and faults are removed."""
        from kafka_shim.shim.state.snapshot import restore_into_cluster  # noqa: PLC0415 - as above

        self._clear()
        restore_into_cluster(snapshot, self.cluster)
        self.cluster.policy.copy_acls_to_brokers()
        self.cluster.elect_live_leaders()
        if self.change_log is not None:
            self.change_log.record_reset("reset to a snapshot")

    def _clear(self) -> None:
        self._server.reset_connections()
        self.faults.remove_all()
        for group in self.cluster.groups:
            group.close()
        self.cluster.reset_to_initial_state()
        if self._decision_watch is not None:
            self._decision_watch.attach(self.cluster)
        if self.storage is not None:
            self.storage.attach_reset_cluster(self.cluster)
        self.cluster.authentications.clear_but_continue_numbering()
        if self.dispatcher.history is not None:
            self.dispatcher.history.drop_requests_keeping_totals()

    @property
    def faults(self) -> "Faults":
        """Return the injected faults."""
        return self.dispatcher.faults

    @property
    def recorder(self) -> "TraceRecorder | None":
        """Return the writer of the trace, if one is recorded."""
        return self.dispatcher.recorder

    @property
    def storage(self) -> "Storage | None":
        """Return the storage of the state, if it is kept."""
        return self.dispatcher.storage

    @property
    def connection_count(self) -> int:
        """Return the number of connected clients."""
        return self._server.connection_count

    @property
    def accepted_connection_count(self) -> int:
        """The number of connections that clients have opened, with or without a request."""
        return self._server.accepted_count

    def start_recording(
        self, directory: "Path", trace_storage: "TraceStorage | None" = None
    ) -> None:
        """Record a trace (docs/reference/trace-format.md). Raise ConfigError if that fails."""
        from kafka_shim.shim.observing.trace_recorder import TraceRecorder  # noqa: PLC0415 - most brokers record nothing

        recorder = TraceRecorder(directory, self.cluster.clock, storage=trace_storage)
        recorder.release = self.cluster.release
        self.dispatcher.set_recorder(recorder)

    def enable_history(self) -> "History":
        """Keep the last requests and changes for the control API; repeated calls return one
        history.
        """
        from kafka_shim.shim.observing.change_log import ChangeLog  # noqa: PLC0415 - most brokers keep none
        from kafka_shim.shim.observing.request_history import History  # noqa: PLC0415 - as above

        history = self.dispatcher.history
        if history is None:
            history = History()
            self.dispatcher.set_history(history)
            self.change_log = ChangeLog(self.cluster)
            self.faults.observe_change = self.change_log.record_change
        return history

    def listener_addresses(self) -> Iterator[ListenerAddress]:
        """Yield the address of each listener, node by node."""
        for node_id in self.cluster.nodes:
            yield from self.listener_addresses_of_node(node_id)

    def listener_addresses_of_node(self, node_id: int) -> Iterator[ListenerAddress]:
        """Yield the address of each listener of a node."""
        for name, endpoint in self.cluster.nodes[node_id].endpoints.items():
            yield ListenerAddress(name, _endpoint_text(endpoint))

    def describe_listeners(self) -> Iterator[str]:
        """Yield the bound address of each listener, and its advertised one if different."""
        for node in self.cluster.nodes.values():
            for name, bound in node.bound.items():
                advertised = node.endpoints[name]
                note = (
                    f", advertised as {_endpoint_text(advertised)}" if advertised != bound else ""
                )
                yield f"{name}://{_endpoint_text(bound)}{note}"

    def bootstrap_servers(self, listener: str | None = None) -> str:
        """Return `host:port,...` of one listener for a client (default: the first)."""
        listener_name = listener or self.cluster.config.listeners[0].name
        return ",".join(
            each.host_and_port
            for each in self.listener_addresses()
            if each.listener_name == listener_name
        )

    def environment_for_clients(self) -> dict[str, str]:
        """Return environment variables with the addresses: the first listener's, and each one's.

        They include the security protocol, and the first SASL mechanism of SASL listeners.
        """
        variables = {BOOTSTRAP: self.bootstrap_servers()}
        for listener in self.cluster.config.listeners:
            name, protocol = listener.name, listener.protocol
            variables[f"{BOOTSTRAP}_{name}"] = self.bootstrap_servers(name)
            variables[f"{SECURITY_PROTOCOL}_{name}"] = protocol.value
            if protocol.uses_sasl:
                variables[f"{SASL_MECHANISM}_{name}"] = self.cluster.mechanisms_by_listener[name][0]
        return variables

    def describe_client_settings(self) -> Iterator[str]:
        """Yield the settings for a client of each listener, without name and password."""
        directory = self.cluster.config.properties.get("shim.tls.directory")
        for listener in self.cluster.config.listeners:
            settings = [f"bootstrap.servers={self.bootstrap_servers(listener.name)}"]
            settings.append(f"security.protocol={listener.protocol.value}")
            if listener.protocol.uses_sasl:
                mechanism = self.cluster.mechanisms_by_listener[listener.name][0]
                settings.append(f"sasl.mechanism={mechanism}")
            if listener.protocol.uses_tls and directory is not None:
                settings.append(
                    f"ssl.truststore.type=PEM ssl.truststore.location={directory}/ca.pem"
                )
            yield " ".join(settings)

    def write_ready_file(self, path: str, control_address: str | None = None) -> None:
        """Write the addresses for other processes; the file is written atomically."""
        addresses: list[tuple[str, str]] = [*self.listener_addresses()]
        if control_address is not None:
            addresses.append(("CONTROL", control_address))
        write_ready_file_atomically(path, addresses)


def write_ready_file_atomically(path: str, addresses: Iterable[tuple[str, str]]) -> None:
    """Write names with addresses, one a line; the file exists once it is complete."""
    from pathlib import Path  # noqa: PLC0415 - few brokers write it, and its imports take 3 % of a start

    partial = Path(f"{path}.part")
    lines = "".join(f"{name}={address}\n" for name, address in addresses)
    partial.write_text(lines, encoding="utf-8")
    partial.rename(path)


def _endpoint_text(endpoint: tuple[str, int]) -> str:
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
