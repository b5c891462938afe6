"""A client of the proxy and its connection to the broker; frames keep their order."""

import asyncio
from collections.abc import Callable
from itertools import chain

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.errors import FrameError, ProtocolError
from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.protocol.headers import RequestHeader, read_response_header
from kafka_shim.shim.request.session import Session
from kafka_shim.text.logs import Log
from kafka_shim.traces.connection_observer import ObservedConnection, TrafficObserver
from kafka_shim.traces.proxy.response_addresses import (
    AddressReplacement,
    replace_broker_addresses,
    response_contains_broker_addresses,
)

log = Log("shim.proxy")

CHUNK_BYTES = 256 * 1024
LAST_RESPONSES_S = 5.0
"""How long the broker may take to respond to requests of a client that has left."""


class ProxiedConnection:
    """Forwards frames in both directions until either side ends; changes only addresses."""

    def __init__(
        self,
        session: Session,
        observer: TrafficObserver,
        address_of: AddressReplacement,
        frame_bytes_max: int,
    ) -> None:
        self._session = session
        self._observed = ObservedConnection(session, observer)
        self._address_of = address_of
        self._requests = FrameSplitter(frame_bytes_max)
        self._responses = FrameSplitter(frame_bytes_max, frame_bytes_min=0)
        self._client_has_left = False

    async def forward(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        broker: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Forward in both directions; the end of one ends the other.

        The broker still answers requests of a client that has left, for the trace.
        """
        client_to_broker = asyncio.create_task(
            self._forward_direction(
                client[0], broker[1], self._observe_request, self._requests, is_response=False
            )
        )
        broker_to_client = asyncio.create_task(
            self._forward_direction(
                broker[0],
                client[1],
                self._readdress_response,
                self._responses,
                is_response=True,
            )
        )
        try:
            await asyncio.wait(
                {client_to_broker, broker_to_client}, return_when=asyncio.FIRST_COMPLETED
            )
            if self._observed.has_outstanding_responses:
                self._client_has_left = True
                await asyncio.wait({broker_to_client}, timeout=LAST_RESPONSES_S)
        finally:
            client_to_broker.cancel()
            broker_to_client.cancel()
            for writer in (client[1], broker[1]):
                writer.close()
            self._observed.record_close()
        for outcome in await asyncio.gather(
            client_to_broker, broker_to_client, return_exceptions=True
        ):
            if isinstance(outcome, Exception):
                log.error("link broke: a bug of the proxy", exc_info=outcome)

    async def _forward_direction(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        transform: Callable[[bytes], bytes],
        splitter: FrameSplitter,
        *,
        is_response: bool,
    ) -> None:
        try:
            while data := await source.read(CHUNK_BYTES):
                frames: list[bytes] = []
                try:
                    for frame in splitter.feed(data):
                        frames.append(transform(frame))  # noqa: PERF401 - keep earlier ones
                finally:  # forward the frames before an invalid one
                    await self._write_frames(frames, target, is_response=is_response)
                if (
                    is_response
                    and self._client_has_left
                    and not self._observed.has_outstanding_responses
                ):
                    return
        except (ConnectionError, FrameError) as error:
            log.info("link ended", reason=str(error), peer=self._session.host)

    async def _write_frames(
        self, frames: list[bytes], target: asyncio.StreamWriter, *, is_response: bool
    ) -> None:
        """Write frames, except responses to a client that has left."""
        if is_response and self._client_has_left:
            return
        try:
            # at once: asyncio would send each frame by itself
            sized = ((len(frame).to_bytes(4, "big"), frame) for frame in frames)
            target.write(b"".join(chain.from_iterable(sized)))
            await target.drain()
        except ConnectionError:
            if not is_response:
                raise
            self._client_has_left = True

    def _observe_request(self, frame: bytes) -> bytes:
        """Record a request, which is forwarded unchanged."""
        self._observed.observe_request(frame)
        return frame

    def _readdress_response(self, frame: bytes) -> bytes:
        """Record a response, and put the proxy's addresses into it."""
        header = self._observed.observe_response(frame)
        if header is None:
            return frame
        return readdressed_response(header, frame, self._address_of)


def readdressed_response(
    header: RequestHeader, frame: bytes, address_of: AddressReplacement
) -> bytes:
    """Return the frame of a response with the addresses that clients get."""
    key, version = header.api_key, header.api_version
    if not response_contains_broker_addresses(key, version):
        return frame
    try:
        _, at = read_response_header(key, version, frame)
        message = codecs.read_response(key, version, frame, at)
    except ProtocolError:
        return frame
    if replace_broker_addresses(key, message, address_of):
        return frame[:at] + codecs.write_response(key, version, message)
    return frame
