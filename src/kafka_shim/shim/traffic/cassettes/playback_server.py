"""The listeners of a playback, one for each recorded broker, and its connections."""

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import FrameError, ProtocolError
from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.shim.apis import import_handler
from kafka_shim.shim.client.login import InvalidLoginResponseError
from kafka_shim.shim.config import Limits
from kafka_shim.shim.errors import UnavailableError
from kafka_shim.shim.logs import Log
from kafka_shim.shim.traffic.cassettes.cassette_recording import PlaybackListener
from kafka_shim.shim.traffic.cassettes.new_episodes import EpisodeConnection, NewEpisodes
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.player import (
    PendingResponse,
    PlayedConnection,
    PlayedResponse,
)
from kafka_shim.shim.traffic.cassettes.repeated_requests import RepeatedRequestReader
from kafka_shim.shim.traffic.proxy.client_listeners import Address, ClientListeners, address_text

log = Log("shim.playback")

CHUNK_BYTES = 256 * 1024


class PlaybackServer:
    """Plays a trace to clients, on the addresses of some listeners."""

    def __init__(
        self,
        state: PlaybackState,
        listeners: Sequence[PlaybackListener],
        episodes: NewEpisodes | None = None,
    ) -> None:
        self._state = state
        self._listeners = listeners
        self._episodes = episodes
        self._addresses: dict[tuple[str, int], Address] = {}
        self._clients = [
            ClientListeners(listener.tls, RepeatedRequestReader) for listener in listeners
        ]
        self._change = asyncio.Event()

    def bootstrap_servers(self, listener: str) -> str:
        """Return the addresses of all brokers on a listener, as HOST:PORT,HOST:PORT."""
        return ",".join(
            address_text(address)
            for (name, _), address in self._addresses.items()
            if name == listener
        )

    async def start(self) -> None:
        """Open all listeners. Raise UnavailableError if an address is in use."""
        self._state.on_change = self._notify_waiting
        node_ids = sorted(self._state.index.brokers) or [0]
        for listener, clients in zip(self._listeners, self._clients, strict=True):
            address = listener.config.host, listener.config.port
            for node_id in node_ids:
                try:
                    bound = clients.listen(
                        address, partial(self._respond_until_mismatch_or_end, listener, node_id)
                    )
                except OSError as error:
                    reason = f"cannot listen on {address_text(address)}: {error.strerror}"
                    raise UnavailableError(reason) from error
                place = listener.config.name, node_id
                is_first = node_id == node_ids[0]
                self._addresses[place] = listener.advertised(bound, is_first_broker=is_first)
                address = listener.config.host, 0

    async def stop(self) -> None:
        """Close all listeners and connections."""
        for clients in self._clients:
            await clients.close()

    async def _respond_until_mismatch_or_end(
        self,
        listener: PlaybackListener,
        node_id: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Respond in order until the client leaves, or until a request has no response."""

        def address_of(node_id: int, host: str, port: int) -> Address:
            return self._addresses.get((listener.config.name, node_id), (host, port))

        connection = PlayedConnection(self._state, node_id, address_of)
        upstream = None
        if self._episodes is not None:
            upstream = self._episodes.connection(listener, node_id, address_of, connection)
        frames = FrameSplitter(Limits().frame_bytes_max)
        assert isinstance(reader, RepeatedRequestReader)
        if upstream is None:
            reader.respond_to_repeated_with(connection.repeated_responses, writer)
        try:
            while data := await reader.read_after_repeated(CHUNK_BYTES, frames):
                for frame in frames.feed(data):
                    response = await self._response(connection, upstream, frame)
                    if response is not None:
                        writer.write(len(response).to_bytes(4, "big") + response)
                await writer.drain()
        except MismatchError as error:
            self._log_once("no recorded response, connection closed", connection.describe(error))
        except (OSError, FrameError, InvalidLoginResponseError) as error:
            log.info("connection ended", reason=str(error))
        finally:
            writer.close()
            if upstream is not None:
                upstream.close()

    async def _response(
        self, connection: PlayedConnection, upstream: EpisodeConnection | None, frame: bytes
    ) -> bytes | None:
        """Return the recorded response when it is due, or that of the cluster, or an error
        response; None if there is none.

        Raise MismatchError if there is none, and the client is to be disconnected.
        """
        if upstream is None:
            repeated = connection.repeated_responses().response_to(frame)
            if repeated is not None:
                return repeated
        elif upstream.depends_on_new_state(frame):
            return await upstream.forward(frame)
        try:
            try:
                response = await self._wait_until_due(connection.respond(frame))
            except MismatchError as error:
                if upstream is None:
                    raise
                return await upstream.forward_unrecorded_part(frame, error)
        except MismatchError as error:
            return self._error_response(connection, frame, error)
        if response.frame is not None:
            await self._wait_scaled_latency_or_delay(response)
        return response.frame

    def _error_response(
        self, connection: PlayedConnection, frame: bytes, error: MismatchError
    ) -> bytes:
        """Report a mismatch; return an error response. Raise it if there is none."""
        mismatch = connection.describe(error)
        self._state.report.add_mismatch(mismatch)
        code = self._state.options.error_for_mismatches
        response = None if code is None else _error_response_frame(frame, code, str(mismatch))
        if response is None:
            raise error
        self._log_once("no recorded response, error returned", mismatch)
        return response

    def _log_once(self, event: str, mismatch: Mismatch) -> None:
        if self._state.report.mismatches[mismatch] == 1:
            log.warning(event, mismatch=str(mismatch))

    async def _wait_until_due(self, pending: PendingResponse) -> PlayedResponse:
        loop = asyncio.get_running_loop()
        while (response := pending.if_due()) is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.001, pending.deadline - loop.time())):
                    await self._change.wait()
        return response

    async def _wait_scaled_latency_or_delay(self, response: PlayedResponse) -> None:
        speed = self._state.options.speed
        delay_s = response.delay_s if speed is None else response.recorded_latency_s / speed
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def _notify_waiting(self) -> None:
        """Wake all connections that wait for a change."""
        self._change.set()
        self._change = asyncio.Event()


def _error_response_frame(frame: bytes, error: ErrorCode, reason: str) -> bytes | None:
    """Return the frame of an error response to a request, with the reason where the API has a
    field for it; None if the request cannot be read or gets no response.
    """
    try:
        header, message = read_request_frame(frame)
    except ProtocolError:
        return None
    if header.api_key == ApiKey.PRODUCE and message.acks == 0:
        return None
    handler = import_handler(ApiKey(header.api_key))
    return write_response_frame(header, handler.error_response(message, error, reason))
