"""Cut a byte stream into Kafka frames: a size of four bytes, then the frame. No sockets."""

from io import BytesIO
from struct import Struct

from kafka_shim.protocol.errors import FrameError

_SIZE = Struct(">i")


class FrameSplitter:
    """Collects what arrives and hands out whole frames, without their sizes.

    `frame_bytes_max` may be changed at any time, such as after a login; it holds for frames whose
    size has not arrived yet. What is kept is what really arrived, whatever a frame claims to be.
    """

    def __init__(self, frame_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.failure: FrameError | None = None
        """Why no more frames can come. Answer the frames there are, then close."""
        self._begun = b""  # of a size that has not arrived as a whole
        self._arrived = BytesIO()  # of the frame that is arriving
        self.arriving_bytes = -1
        """The size of the frame that is arriving; -1 while it is not known."""

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._begun) + self._arrived.tell()

    def feed(self, data: bytes | memoryview) -> list[bytes]:
        """Return the frames that `data` completes, in order.

        Raises FrameError on a size that is not above 0 or is over the limit; when frames come
        before it in the same data they are returned, `failure` is set, and the next call raises.
        """
        if self.arriving_bytes > self._arrived.tell() + len(data):
            self._arrived.write(data)
            return []
        if self.arriving_bytes < 0 and not self._begun and len(data) > _SIZE.size:
            size = _SIZE.unpack_from(data)[0]  # mostly it is one whole frame
            if size == len(data) - _SIZE.size <= self.frame_bytes_max and self.failure is None:
                return [bytes(data[_SIZE.size :])]
        frames: list[bytes] = []
        if self.failure is None:
            self._cut(data, self._go_on(data, frames), frames)
        if self.failure is not None and not frames:
            raise self.failure
        return frames

    def _go_on(self, data: bytes | memoryview, frames: list[bytes]) -> int:
        """Add to the frame that is arriving; returns where in `data` the next one begins."""
        at = 0
        if self._begun:
            at = _SIZE.size - len(self._begun)
            self._begun += data[:at]
            if len(self._begun) < _SIZE.size:
                return len(data)
            size = self._checked(*_SIZE.unpack(self._begun))
            if size < 0:
                return len(data)
            self.arriving_bytes, self._begun = size, b""
        if self.arriving_bytes >= 0:
            end = at + self.arriving_bytes - self._arrived.tell()
            self._arrived.write(data[at:end])
            at = end
            if self._arrived.tell() == self.arriving_bytes:
                frames.append(self._arrived.getvalue())
                self._arrived, self.arriving_bytes = BytesIO(), -1
        return at

    def _cut(self, data: bytes | memoryview, at: int, frames: list[bytes]) -> None:
        """Take the frames that are there as a whole, and keep the beginning of the next one."""
        end = len(data)
        while at + _SIZE.size <= end:
            size = self._checked(*_SIZE.unpack_from(data, at))
            if size < 0:
                return
            at += _SIZE.size
            if at + size > end:
                self.arriving_bytes = size
                self._arrived.write(data[at:])
                return
            frames.append(bytes(data[at : at + size]))
            at += size
        if self.arriving_bytes < 0:
            self._begun += data[at:]

    def _checked(self, size: int) -> int:
        """The size, or -1 if it is impossible: then there is a `failure`."""
        if 0 < size <= self.frame_bytes_max:
            return size
        self.failure = FrameError(self._refusal(size))
        return -1

    def _refusal(self, size: int) -> str:
        if size <= 0:
            return f"a frame claims a size of {size} bytes"
        return f"a frame claims {size} bytes, over the limit of {self.frame_bytes_max}"
