"""The listeners of a playback, one for each recorded broker, and its connections."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple

from kafka_shim.protocol.errors import FrameError
from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.shim.config import Limits
from kafka_shim.shim.errors import UnavailableError
from kafka_shim.shim.logs import Log
from kafka_shim.shim.network.listening_sockets import ONE_AT_A_TIME, raise_backlog
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.player import (
    Answer,
    MismatchError,
    PendingAnswer,
    PlayedConnection,
)

log = Log("shim.playback")

Address = tuple[str, int]
CHUNK_BYTES = 256 * 1024


class PlaybackListener(NamedTuple):
    """A listener of the playback, which has a port for each recorded broker."""

    name: str
    host: str
    port: int
    tls: ssl.SSLContext | None = None


class PlaybackServer:
    """Plays a trace to clients, on the addresses of some listeners."""

    def __init__(self, state: PlaybackState, listeners: Sequence[PlaybackListener]) -> None:
        self._state = state
        self._listeners = listeners
        self._addresses: dict[tuple[str, int], Address] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._change = asyncio.Event()

    def bootstrap_servers(self, listener: str) -> str:
        """Return the addresses of all brokers on a listener, as HOST:PORT,HOST:PORT."""
        return ",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            for (name, _), (host, port) in self._addresses.items()
            if name == listener
        )

    async def start(self) -> None:
        """Open all listeners. Raise UnavailableError if an address is in use."""
        self._state.on_change = self._notify_waiting
        for listener in self._listeners:
            port = listener.port
            for node_id in sorted(self._state.index.brokers) or [0]:
                bound = self._bind(listener.host, port)
                self._addresses[listener.name, node_id] = bound.getsockname()[:2]
                await self._serve(bound, node_id, listener)
                port = 0

    async def stop(self) -> None:
        """Close all listeners and connections."""
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _bind(self, host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            return socket.create_server((host, port), family=family)
        except OSError as error:
            raise UnavailableError(f"cannot listen on {host}:{port}: {error.strerror}") from error

    async def _serve(self, bound: socket.socket, node_id: int, listener: PlaybackListener) -> None:
        def address_of(node_id: int, host: str, port: int) -> Address:
            return self._addresses.get((listener.name, node_id), (host, port))

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = PlayedConnection(self._state, node_id, address_of)
            task = self._track_task(self._respond_until_mismatch_or_end(connection, reader, writer))
            with contextlib.suppress(asyncio.CancelledError):
                await task

        server = await asyncio.start_server(
            accept, sock=bound, backlog=ONE_AT_A_TIME, ssl=listener.tls
        )
        raise_backlog(server)
        self._servers.append(server)

    def _track_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _respond_until_mismatch_or_end(
        self,
        connection: PlayedConnection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Respond in order until the client leaves, or until a request has no response."""
        frames = FrameSplitter(Limits().frame_bytes_max)
        try:
            while data := await reader.read(CHUNK_BYTES):
                for frame in frames.feed(data):
                    answer = await self._wait_for_answer(connection.respond(frame))
                    if answer.frame is not None:
                        await self._wait_scaled_latency_or_delay(answer)
                        writer.write(len(answer.frame).to_bytes(4, "big") + answer.frame)
                await writer.drain()
        except MismatchError as error:
            log.warning("no recorded response, connection closed", mismatch=str(error))
        except (ConnectionError, FrameError) as error:
            log.info("connection ended", reason=str(error))
        finally:
            writer.close()

    async def _wait_for_answer(self, pending: PendingAnswer) -> Answer:
        loop = asyncio.get_running_loop()
        while (answer := pending.attempt()) is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.001, pending.deadline - loop.time())):
                    await self._change.wait()
        return answer

    async def _wait_scaled_latency_or_delay(self, answer: Answer) -> None:
        speed = self._state.options.speed
        delay_s = answer.delay_s if speed is None else answer.recorded_latency_s / speed
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def _notify_waiting(self) -> None:
        """Wake all connections that wait for a change."""
        self._change.set()
        self._change = asyncio.Event()
