"""A whole broker: cluster and listeners together, started and stopped as one."""

from collections.abc import Iterator
from pathlib import Path

from shim.clock import Clock
from shim.config import Config
from shim.errors import ConfigError
from shim.seed import seed
from shim.server import Server
from shim.state.cluster import Cluster


class Broker:
    """What `serve`, `run` and the tests start."""

    def __init__(self, config: Config, clock: Clock | None = None) -> None:
        self.cluster = Cluster(config, clock)
        seed(self.cluster)
        self._server = Server(self.cluster)

    async def start(self) -> None:
        """Bind all listeners; afterwards `addresses` tells the real ports."""
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()
        if self.cluster.recorder is not None:
            self.cluster.recorder.close()

    def record(self, directory: Path) -> None:
        """Write a trace of everything from now on (docs/trace-format.md)."""
        from shim.recorder import Recorder  # noqa: PLC0415 - most brokers record nothing

        try:
            self.cluster.recorder = Recorder(directory, self.cluster.clock)
        except OSError as error:
            raise ConfigError(f"cannot record to `{directory}`: {error.strerror}") from error

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Listener name and `host:port` of each, node by node."""
        for node in self.cluster.nodes.values():
            for name, (host, port) in node.endpoints.items():
                yield name, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def bootstrap_servers(self, listener: str | None = None) -> str:
        """`host:port,...` for a client, of one listener (default: the first)."""
        wanted = listener or self.cluster.config.listeners[0].name
        return ",".join(address for name, address in self.addresses() if name == wanted)

    def write_ready_file(self, path: str) -> None:
        """Tell another process the addresses; the file appears in one piece."""
        partial = Path(f"{path}.part")
        lines = [f"{name}={address}\n" for name, address in self.addresses()]
        partial.write_text("".join(lines), encoding="utf-8")
        partial.rename(path)
