"""Responds to repeated reads as soon as their bytes arrive, without a coroutine."""

import asyncio
from collections.abc import Callable
from struct import Struct

from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.shim.traffic.cassettes.playback_report import PlaybackReport

RESPONSES_MAX = 256
WRITE_BUFFER_BYTES_MAX = 1024 * 1024
"""With more bytes that the client has not read, the connection waits for it."""
_SIZE = Struct(">i")
_CORRELATION_ID_AT, _CORRELATION_ID_END = 4, 8


class RepeatedResponses:
    """Responses by requests without their correlation ids, as long as the state is `version`."""

    def __init__(self, version: tuple[int, int], report: PlaybackReport) -> None:
        self.version = version
        self._report = report
        self._responses: dict[bytes, tuple[bytes, bytes]] = {}
        self.clear = self._responses.clear

    def add(self, key: bytes, frame: bytes) -> None:
        """Add the frame of a response to a request without its correlation id."""
        if len(self._responses) >= RESPONSES_MAX:
            self.clear()
        self._responses[key] = _SIZE.pack(len(frame)), frame[4:]

    def response_to(self, frame: bytes) -> bytes | None:
        """Return the frame of the response to a repeated request, None to any other one."""
        size = _SIZE.pack(len(frame))
        response, _ = self.split_responses(size + frame)
        return response[_SIZE.size :] or None

    def split_responses(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the responses to the first requests of a stream, and the rest of the stream."""
        responses: list[bytes] = []
        at, end, known = 0, len(data), self._responses
        while at + _SIZE.size < end:
            frame_at = at + _SIZE.size
            frame_end = frame_at + _SIZE.unpack_from(data, at)[0]
            id_at, id_end = frame_at + _CORRELATION_ID_AT, frame_at + _CORRELATION_ID_END
            found = known.get(data[frame_at:id_at] + data[id_end:frame_end])
            if found is None or frame_end > end:
                break
            responses += (found[0], data[id_at:id_end], found[1])
            at = frame_end
        self._report.requests += len(responses) // 3
        self._report.repeated += len(responses) // 3
        return b"".join(responses), data[at:]


class RepeatedRequestReader(asyncio.StreamReader):
    """A stream of requests without those that were responded to when they arrived."""

    _responses: Callable[[], RepeatedResponses] | None = None
    _writer: asyncio.StreamWriter
    _is_waiting = False

    def respond_to_repeated_with(
        self, responses: Callable[[], RepeatedResponses], writer: asyncio.StreamWriter
    ) -> None:
        """Respond to repeated requests while all earlier requests have their responses."""
        self._responses = responses
        self._writer = writer

    async def read_after_repeated(self, size: int, frames: FrameSplitter) -> bytes:
        """Return the next bytes; `frames` has those of an incomplete request so far."""
        self._is_waiting = not frames.pending_bytes
        try:
            return await self.read(size)
        finally:
            self._is_waiting = False

    def feed_data(self, data: bytes) -> None:  # type: ignore[override] # asyncio gives bytes
        """Process bytes that arrived."""
        if self._is_waiting and self._responses is not None:
            is_behind = self._writer.transport.get_write_buffer_size() > WRITE_BUFFER_BYTES_MAX
            if not is_behind:
                responses, data = self._responses().split_responses(data)
                if responses:
                    self._writer.write(responses)
                if not data:
                    return
            self._is_waiting = False
        super().feed_data(data)
