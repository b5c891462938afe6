"""The proxy itself: a listener for the bootstrap address and one for every broker it hears of."""

import asyncio
import contextlib
import itertools
import socket
from collections.abc import Coroutine

from shim.config import Limits, ListenerConfig, SecurityProtocol
from shim.errors import ConfigError
from shim.logs import Log
from shim.proxy.link import Link
from shim.session import Session, java_host_text
from shim.traces.recorder import Recorder

log = Log("shim.proxy")

CONNECT_SECONDS = 10
Address = tuple[str, int]


class Proxy:
    """Listens on one host; what `start` tells is the bootstrap server for clients."""

    def __init__(
        self,
        upstream: Address,
        listen: Address,
        recorder: Recorder,
        limits: Limits | None = None,
        name: str = "PROXY",
    ) -> None:
        self._name = name
        self._upstream = upstream
        self._listen = listen
        self._recorder = recorder
        self._limits = limits or Limits()
        self._local: dict[Address, Address] = {}
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)

    async def start(self) -> str:
        """Open the bootstrap listener; ConfigError if it cannot be."""
        host, port = self._listen
        try:
            self._local[self._upstream] = self._listen_for(self._upstream, -1, port)
        except OSError as error:
            raise ConfigError(
                f"cannot listen on {host}:{port}: {error.strerror or error}"
            ) from error
        return "{}:{}".format(*self._local[self._upstream])

    async def stop(self) -> None:
        """Close listeners and links, and finish the trace."""
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._recorder.close()

    def _address_of(self, node_id: int, host: str, port: int) -> Address:
        broker = (host, port)
        if broker not in self._local:
            self._local[broker] = self._listen_for(broker, node_id, 0)
        return self._local[broker]

    def _listen_for(self, broker: Address, node_id: int, port: int) -> Address:
        """Bind at once, so that the address can be told; it is served a moment later."""
        bound = socket.create_server((self._listen[0], port))
        self._keep(self._serve(bound, broker, node_id))
        host, actual = bound.getsockname()[:2]
        return host, actual

    async def _serve(self, bound: socket.socket, broker: Address, node_id: int) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            link = self._keep(self._link(broker, node_id, reader, writer))
            with contextlib.suppress(asyncio.CancelledError):
                await link

        self._servers.append(await asyncio.start_server(accept, sock=bound))

    async def _link(
        self,
        broker: Address,
        node_id: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                upstream = await asyncio.open_connection(*broker)
        except (OSError, TimeoutError) as error:
            log.warning("broker not reached", broker=f"{broker[0]}:{broker[1]}", reason=str(error))
            writer.close()
            return
        peer = writer.get_extra_info("peername")
        listener = ListenerConfig(self._name, SecurityProtocol.PLAINTEXT, *self._listen)
        session = Session(listener, node_id, java_host_text(peer[0]), peer[1])
        session.number = next(self._numbers)
        link = Link(session, self._recorder, self._address_of, self._limits.frame_bytes_max)
        await link.carry((reader, writer), upstream)

    def _keep(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
