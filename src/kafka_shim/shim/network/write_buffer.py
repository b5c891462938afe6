"""Sends responses: short ones joined, a long one piece by piece, as its client reads it.

So a long one is never copied as a whole, nor is what its client has not read yet.
"""

import asyncio
from collections import deque

AT_ONCE_BYTES = 512 * 1024


class WriteBuffer:
    """What the transport of a connection is given to send."""

    def __init__(self, transport: asyncio.Transport, buffer_bytes_max: int) -> None:
        self._transport = transport
        self._high = buffer_bytes_max
        self._waiting_chunks: deque[bytes | memoryview] = (
            deque()
        )  # that the transport has not been given
        self.following_chunks: list[bytes | memoryview] = []
        """The pieces that follow the frames that are sent next."""
        transport.set_write_buffer_limits(high=buffer_bytes_max)

    def send_in_chunks(self, frames: list[bytes]) -> None:
        """Send frames and the pieces that follow them, and clear the list."""
        self._waiting_chunks.append(b"".join(frames))
        frames.clear()
        self._waiting_chunks.extend(self.following_chunks)
        self.following_chunks.clear()
        self._transport.set_write_buffer_limits(high=0)  # so that it says when all is taken
        self.send_waiting_chunks()

    def send_waiting_chunks(self) -> None:
        """Send as much as the peer takes now."""
        transport = self._transport
        while self._waiting_chunks and not transport.is_closing():
            if transport.get_write_buffer_size():
                return
            transport.write(self._take_next_chunks())
            if not self._waiting_chunks:
                transport.set_write_buffer_limits(high=self._high)

    def flush(self) -> None:
        """Give all pieces to the transport, which is about to be closed."""
        while self._waiting_chunks:
            self._transport.write(self._take_next_chunks())

    def _take_next_chunks(self) -> bytes | memoryview:
        """Take the next pieces; joined they are not long."""
        pieces = self._waiting_chunks
        first = pieces.popleft()
        left = AT_ONCE_BYTES - len(first)
        if left < 0:
            view = memoryview(first)
            pieces.appendleft(view[AT_ONCE_BYTES:])
            return view[:AT_ONCE_BYTES]
        joined = [first]
        while pieces and len(pieces[0]) <= left:
            left -= len(pieces[0])
            joined.append(pieces.popleft())
        return first if len(joined) == 1 else b"".join(joined)
