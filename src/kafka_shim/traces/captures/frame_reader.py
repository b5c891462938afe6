"""Cut Kafka's frames from a stream with holes, and find the next frame after a hole."""

from collections.abc import Callable, Iterator
from struct import Struct

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import has_version
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header

FRAME_BYTES_MAX = 104_857_600
"""As a broker's socket.request.max.bytes is by default."""

CLIENT_ID_BYTES_MAX = 1024
"""A longer client id is taken for a sign that this is no request."""

_GREETING_VERSION_MAX = 50

_SPACE = ord(" ")  # text has no bytes below it
_SIZE = Struct(">i")
_REQUEST = Struct(">ihhih")


def looks_like_request(data: bytes) -> bool:
    """Return whether these bytes, which begin with a size, can be the start of a request.

    If the request is complete, it must also be decodable.
    """
    if len(data) < _REQUEST.size:
        return False
    size, api_key, version, correlation_id, client_id = _REQUEST.unpack_from(data)
    return (
        _REQUEST.size - _SIZE.size <= size <= FRAME_BYTES_MAX
        and (has_version(api_key, version) or _is_newer_api_versions_request(api_key, version))
        and correlation_id >= 0
        and -1 <= client_id <= min(size - 10, len(data) - _REQUEST.size, CLIENT_ID_BYTES_MAX)
        and min(data[_REQUEST.size : _REQUEST.size + client_id], default=_SPACE) >= _SPACE
        and (
            size + _SIZE.size > len(data)
            or _is_decodable_request(data[_SIZE.size : _SIZE.size + size])
        )
    )


def begins_with_complete_request(data: bytes) -> bool:
    """Return whether there is a complete request; responses can look like the start of one."""
    size = int.from_bytes(data[: _SIZE.size], "big", signed=True)
    return _SIZE.size + size <= len(data) and looks_like_request(data)


def _is_decodable_request(frame: bytes) -> bool:
    try:
        header, at = read_request_header(frame)
        if not _is_newer_api_versions_request(header.api_key, header.api_version):
            codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return False
    return True


def _is_newer_api_versions_request(api_key: int, version: int) -> bool:
    """Return whether it is ApiVersions in a newer version, with which
    clients may begin (KIP-511).
    """
    return (
        api_key == ApiKey.API_VERSIONS
        and not has_version(api_key, version)
        and 0 <= version <= _GREETING_VERSION_MAX
    )


class FrameReader:
    """Cuts frames, without their sizes; `skipped_bytes` counts bytes of incomplete frames.

    If a hole hides where the next frame begins, bytes are skipped until `is_frame_start` is True
    for the beginning of a segment.
    """

    def __init__(self, is_frame_start: Callable[[bytes], bool]) -> None:
        self._is_frame_start = is_frame_start
        self._in_step = True
        self._pending = bytearray()
        self._skip = 0  # remaining bytes of a frame with a hole
        self.skipped_bytes = 0
        self.broken_frames = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the frames that a segment completes."""
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            self.skipped_bytes += passed
            data = data[passed:]
        if not self._in_step:
            self._in_step = self._is_frame_start(data)
            if not self._in_step:
                self.skipped_bytes += len(data)
                return
        self._pending += data
        yield from self._take_frames()

    def note_lost_bytes(self, count: int | None) -> None:
        """Record that `count` bytes (None: unknown) are missing after the last fed ones."""
        if count is None or not self._in_step:
            self._in_step = False
            return
        size = self._first_frame_size_or_none()
        missing_frame_bytes = self._skip or (0 if size is None else size - len(self._pending))
        self.broken_frames += not self._skip
        self.skipped_bytes += len(self._pending)
        self._pending.clear()
        self._skip = max(0, missing_frame_bytes - count)
        self._in_step = missing_frame_bytes >= count

    def _first_frame_size_or_none(self) -> int | None:
        """Return the length of the first pending frame with its size; None if unknown."""
        if len(self._pending) < _SIZE.size:
            return None
        return _SIZE.size + int(_SIZE.unpack_from(self._pending)[0])

    def _take_frames(self) -> Iterator[bytes]:
        while (size := self._first_frame_size_or_none()) is not None:
            if not _SIZE.size < size <= FRAME_BYTES_MAX:
                self.skipped_bytes += len(self._pending)
                self._pending.clear()
                self._in_step = False
                return
            if len(self._pending) < size:
                return
            frame = bytes(self._pending[_SIZE.size : size])
            del self._pending[:size]
            yield frame
