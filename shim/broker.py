"""A whole broker: cluster and listeners together, started and stopped as one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shim.clock import Clock
from shim.config import Config
from shim.server import Server
from shim.settings.seed import seed
from shim.state.cluster import Cluster

if TYPE_CHECKING:
    from protocol.trace.segments import Keeping
    from shim.history import History
    from shim.snapshot import Snapshot


BOOTSTRAP = "KAFKA_BOOTSTRAP_SERVERS"
"""The variable in which programs look for a broker."""


class Broker:
    """What `serve`, `run` and the tests start."""

    def __init__(self, config: Config, clock: Clock | None = None) -> None:
        self.cluster = Cluster(config, clock)
        seed(self.cluster)
        self._server = Server(self.cluster)
        self.started_ms = self.cluster.clock.now_ms()

    async def start(self) -> None:
        """Bind all listeners; afterwards `addresses` tells the real ports."""
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()
        if self.cluster.recorder is not None:
            self.cluster.recorder.close()

    async def stop_node(self, node_id: int) -> None:
        """One broker of the cluster goes: its clients are hung up on, others lead in its place."""
        if self.cluster.nodes[node_id].is_alive:
            self.cluster.set_alive(node_id, False)
            await self._server.close_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """A broker that was stopped comes back, on its ports; ConfigError if they are taken."""
        if self._server.is_closed(node_id):
            await self._server.reopen_node(node_id)
            self.cluster.set_alive(node_id, True)

    async def start_all_nodes(self) -> None:
        for node_id in self.cluster.nodes:
            await self.start_node(node_id)

    def reset(self) -> None:
        """Begin anew with what the configuration names; clients are hung up on, faults are gone."""
        self._begin()
        seed(self.cluster)

    def snapshot(self) -> "Snapshot":
        """The state as it is, to come back to (shim/snapshot.py says what that is)."""
        from shim.snapshot import take  # noqa: PLC0415 - most brokers never need it

        return take(self.cluster)

    def restore(self, snapshot: "Snapshot") -> None:
        """Come back to a snapshot; clients are hung up on, faults are gone."""
        from shim.snapshot import put_back  # noqa: PLC0415 - as above

        self._begin()
        put_back(snapshot, self.cluster)
        self.cluster.settle()

    def _begin(self) -> None:
        self._server.close_connections()
        self.cluster.faults.clear()
        for group in self.cluster.groups:
            group.close()
        self.cluster.begin()
        if self.cluster.history is not None:
            self.cluster.history.forget()

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return self._server.connections

    def record(self, directory: Path, keeping: "Keeping | None" = None) -> None:
        """Write a trace of all that comes (docs/trace-format.md); ConfigError if it cannot be."""
        from shim.traces.recorder import Recorder  # noqa: PLC0415 - most brokers record nothing

        self.cluster.recorder = Recorder(directory, self.cluster.clock, keeping=keeping)

    def keep_history(self) -> "History":
        """Keep the last requests, for the control API; the same one however often it is asked."""
        from shim.history import History  # noqa: PLC0415 - most brokers keep none

        if self.cluster.history is None:
            self.cluster.history = History()
        return self.cluster.history

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Listener name and `host:port` of each, node by node."""
        for node_id in self.cluster.nodes:
            yield from self.addresses_of(node_id)

    def addresses_of(self, node_id: int) -> Iterator[tuple[str, str]]:
        """The same of one node."""
        for name, (host, port) in self.cluster.nodes[node_id].endpoints.items():
            yield name, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def bootstrap_servers(self, listener: str | None = None) -> str:
        """`host:port,...` for a client, of one listener (default: the first)."""
        wanted = listener or self.cluster.config.listeners[0].name
        return ",".join(address for name, address in self.addresses() if name == wanted)

    def environment(self) -> dict[str, str]:
        """Where it is, for programs: the first listener by the usual name, each by its own."""
        found = {BOOTSTRAP: self.bootstrap_servers()}
        for listener in self.cluster.config.listeners:
            found[f"{BOOTSTRAP}_{listener.name}"] = self.bootstrap_servers(listener.name)
        return found

    def write_ready_file(self, path: str, control: str | None = None) -> None:
        """Tell another process the addresses; the file appears in one piece."""
        partial = Path(f"{path}.part")
        lines = [f"{name}={address}\n" for name, address in self.addresses()]
        if control is not None:
            lines.append(f"CONTROL={control}\n")
        partial.write_text("".join(lines), encoding="utf-8")
        partial.rename(path)
