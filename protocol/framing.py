"""Cut a byte stream into Kafka frames: a size of four bytes, then so many bytes. No sockets."""

from struct import Struct

from protocol.errors import FrameError

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
        self._pending = bytearray()
        self._needed = _SIZE.size  # how many pending bytes it takes to go on
        self._size = -1  # size of the frame that is arriving, -1 while it is not known

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that `data` completes, in order.

        Raises FrameError on a size that is not above 0 or is over the limit; when frames come
        before it in the same data they are returned, `failure` is set, and the next call raises.
        """
        if self.failure is not None:
            raise self.failure
        pending = self._pending
        if pending:
            pending += data
            if len(pending) < self._needed:
                return []
            data = bytes(pending)
            pending.clear()
        return self._cut(data) or self._nothing()

    def _nothing(self) -> list[bytes]:
        if self.failure is not None:
            raise self.failure
        return []

    def _cut(self, data: bytes) -> list[bytes]:
        frames: list[bytes] = []
        pos, left = 0, len(data)
        while True:
            if self._size < 0:
                if left < _SIZE.size:
                    self._needed = _SIZE.size
                    break
                (size,) = _SIZE.unpack_from(data, pos)
                if not 0 < size <= self.frame_bytes_max:
                    self.failure = FrameError(self._refusal(size))
                    return frames
                self._size = size
                pos += _SIZE.size
                left -= _SIZE.size
            if left < self._size:
                self._needed = self._size
                break
            frames.append(data[pos : pos + self._size])
            pos += self._size
            left -= self._size
            self._size = -1
        self._pending += data[pos:]
        return frames

    def _refusal(self, size: int) -> str:
        if size <= 0:
            return f"a frame claims a size of {size} bytes"
        return f"a frame claims {size} bytes, over the limit of {self.frame_bytes_max}"
