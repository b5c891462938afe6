"""Splits a byte stream into Kafka frames: a size of four bytes, then the frame."""

from io import BytesIO
from struct import Struct

from kafka_shim.protocol.errors import FrameError

_SIZE = Struct(">i")


class FrameSplitter:
    """Collects received bytes and returns complete frames, without their sizes.

    `frame_bytes_max` may be changed at any time, such as after authentication; it applies to frames
    whose size has not arrived yet. Memory depends on the received bytes, not on the claimed size.
    `frame_bytes_min` is 0 for what a broker sends: its last SASL message can be empty.
    """

    def __init__(self, frame_bytes_max: int, *, frame_bytes_min: int = 1) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._frame_bytes_min = frame_bytes_min
        self.failure: FrameError | None = None
        """The error after which no more frames follow. Answer the frames so far, then close."""
        self._partial_size = b""  # of a size that has not arrived as a whole
        self._partial_frame = BytesIO()  # of the frame that is arriving
        self.arriving_bytes = -1
        """The size of the arriving frame; -1 while it is unknown."""

    @property
    def pending_bytes(self) -> int:
        """Return the number of bytes that wait for the rest of their frame."""
        return len(self._partial_size) + self._partial_frame.tell()

    def feed(self, data: bytes | memoryview) -> list[bytes]:
        """Return the frames that `data` completes, in order.

        Raise FrameError for a size outside of the limits. If complete frames come before it in the
        same data, they are returned, `failure` is set, and the next call raises.
        """
        if self.arriving_bytes < 0 and not self._partial_size and len(data) > _SIZE.size:
            size = _SIZE.unpack_from(data)[0]  # usually it is one complete frame
            if size == len(data) - _SIZE.size <= self.frame_bytes_max and self.failure is None:
                return [bytes(data[_SIZE.size :])]
        if self.arriving_bytes > self._partial_frame.tell() + len(data):
            self._partial_frame.write(data)
            return []
        frames: list[bytes] = []
        if self.failure is None:
            at = self._fill_partial_frame(data, frames)
            self._split_frames(bytes(data[at:]), frames)
        if self.failure is not None and not frames:
            raise self.failure
        return frames

    def _fill_partial_frame(self, data: bytes | memoryview, frames: list[bytes]) -> int:
        """Add to the arriving frame; return where the next one begins in `data`."""
        at = 0
        if self._partial_size:
            at = _SIZE.size - len(self._partial_size)
            self._partial_size += data[:at]
            if len(self._partial_size) < _SIZE.size:
                return len(data)
            size = self._validate_size(*_SIZE.unpack(self._partial_size))
            if size < 0:
                return len(data)
            self.arriving_bytes, self._partial_size = size, b""
        if self.arriving_bytes >= 0:
            end = at + self.arriving_bytes - self._partial_frame.tell()
            self._partial_frame.write(data[at:end])
            at = end
            if self._partial_frame.tell() == self.arriving_bytes:
                frames.append(self._partial_frame.getvalue())
                self._partial_frame, self.arriving_bytes = BytesIO(), -1
        return at

    def _split_frames(self, data: bytes, frames: list[bytes]) -> None:
        """Return the complete frames, and keep the beginning of the next one."""
        at, end, size_bytes = 0, len(data), _SIZE.size
        size_min, size_max = self._frame_bytes_min, self.frame_bytes_max
        while at + size_bytes <= end:
            (size,) = _SIZE.unpack_from(data, at)
            if not size_min <= size <= size_max:
                self._validate_size(size)
                return
            at += size_bytes
            frame_end = at + size
            if frame_end > end:
                self.arriving_bytes = size
                self._partial_frame.write(data[at:])
                return
            frames.append(data[at:frame_end])
            at = frame_end
        if self.arriving_bytes < 0:
            self._partial_size += data[at:]

    def _validate_size(self, size: int) -> int:
        """Return the size; -1 if it is invalid, which sets `failure`."""
        if self._frame_bytes_min <= size <= self.frame_bytes_max:
            return size
        self.failure = FrameError(self._size_error(size))
        return -1

    def _size_error(self, size: int) -> str:
        if size < self._frame_bytes_min:
            return f"a frame claims a size of {size} bytes"
        return f"a frame claims {size} bytes, over the limit of {self.frame_bytes_max}"
