"""One client of the proxy and its connection to the broker: frames over, answers back, in order."""

import asyncio
import contextlib
from collections import deque
from typing import Any, NamedTuple

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import FrameError, ProtocolError
from protocol.framing import FrameSplitter
from protocol.headers import RequestHeader, read_request_header, read_response_header
from shim.logs import Log
from shim.proxy.addresses import Rewrite, has_addresses, rewrite
from shim.proxy.principals import PassingLogin
from shim.recorder import Recorder
from shim.session import Session

log = Log("shim.proxy")

CHUNK_BYTES = 256 * 1024
_LOOKED_AT = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


class Outstanding(NamedTuple):
    """A request that the broker still has to answer."""

    header: RequestHeader
    sequence: int


class Link:
    """Carries frames both ways until either side ends; nothing changes but addresses."""

    def __init__(
        self,
        session: Session,
        recorder: Recorder,
        address_of: Rewrite,
        frame_bytes_max: int,
    ) -> None:
        self._session = session
        self._recorder = recorder
        self._address_of = address_of
        self._login = PassingLogin(session)
        self._outstanding: deque[Outstanding] = deque()
        self._raw_tokens = False  # after SaslHandshake version 0 frames are bare SASL
        self._requests = FrameSplitter(frame_bytes_max)
        self._answers = FrameSplitter(frame_bytes_max)

    async def carry(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        broker: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Run both directions; the end of one ends the other."""
        over = asyncio.create_task(self._pump(client[0], broker[1], self.request, self._requests))
        back = asyncio.create_task(self._pump(broker[0], client[1], self.answer, self._answers))
        try:
            await asyncio.wait({over, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
            back.cancel()
            for writer in (client[1], broker[1]):
                writer.close()
            self._recorder.closed(self._session, "")
        for outcome in await asyncio.gather(over, back, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("link broke: a fault of the proxy", exc_info=outcome)

    async def _pump(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        transform: Any,
        splitter: FrameSplitter,
    ) -> None:
        try:
            while data := await source.read(CHUNK_BYTES):
                for frame in splitter.feed(data):
                    passed = transform(frame)
                    target.write(len(passed).to_bytes(4, "big") + passed)
                await target.drain()
        except (ConnectionError, FrameError) as error:
            log.info("link ended", reason=str(error), peer=self._session.host)

    def request(self, frame: bytes) -> bytes:
        """Note a request; it goes over as it came."""
        if self._raw_tokens:
            return frame
        try:
            header, at = read_request_header(frame)
        except ProtocolError:
            return frame  # the broker will close the connection over it
        sequence = self._recorder.request(self._session, header, frame)
        if _expects_answer(header, frame, at):
            self._outstanding.append(Outstanding(header, sequence))
        if header.api_key in _LOOKED_AT:
            with contextlib.suppress(ProtocolError):
                message = codecs.read_request(header.api_key, header.api_version, frame, at)
                self._login.request(header.api_key, message)
        elif header.api_key == ApiKey.API_VERSIONS:
            self._note_software(header, frame, at)
        return frame

    def answer(self, frame: bytes) -> bytes:
        """Note an answer and put our addresses into it."""
        if self._raw_tokens or not self._outstanding:
            return frame
        header, sequence = self._outstanding.popleft()
        self._recorder.response(self._session, sequence, header, frame)
        key, version = header.api_key, header.api_version
        if key not in _LOOKED_AT and not has_addresses(key):
            return frame
        try:
            _, at = read_response_header(key, version, frame)
            message = codecs.read_response(key, version, frame, at)
        except ProtocolError:
            return frame
        if key == ApiKey.SASL_HANDSHAKE and version == 0 and message.error_code == 0:
            self._raw_tokens = True
        self._login.response(key, message)
        if has_addresses(key) and rewrite(key, message, self._address_of):
            return frame[:at] + codecs.write_response(key, version, message)
        return frame

    def _note_software(self, header: RequestHeader, frame: bytes, at: int) -> None:
        with contextlib.suppress(ProtocolError):
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            self._session.client_software_name = message.client_software_name
            self._session.client_software_version = message.client_software_version


def _expects_answer(header: RequestHeader, frame: bytes, at: int) -> bool:
    """Produce with acks=0 has no response."""
    if header.api_key != ApiKey.PRODUCE:
        return True
    try:
        message = codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return True
    return bool(message.acks != 0)
