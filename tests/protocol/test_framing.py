"""Frames from a byte stream that is split anywhere."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.errors import FrameError
from kafka_shim.protocol.framing import FrameSplitter
from tests.support.frames import sized

LIMIT = 300


def fed(pieces: list[bytes]) -> tuple[list[bytes], str | None]:
    """Return the frames in these pieces and how the stream failed, if it did."""
    splitter = FrameSplitter(LIMIT)
    frames: list[bytes] = []
    try:
        for piece in pieces:
            frames += splitter.feed(piece)
    except FrameError as error:
        return frames, str(error)
    return frames, str(splitter.failure) if splitter.failure else None


FRAMES = st.lists(st.binary(min_size=1, max_size=LIMIT), max_size=8)


@given(FRAMES, st.lists(st.integers(0, 2000), max_size=10), st.binary(max_size=20))
def test_any_cut_gives_the_same_frames(frames: list[bytes], cuts: list[int], tail: bytes) -> None:
    stream = b"".join(sized(frame) for frame in frames) + tail
    at = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(at)]
    whole = fed([stream])
    assert whole[0][: len(frames)] == frames
    assert fed(pieces) == whole
    assert fed([stream[i : i + 1] for i in range(len(stream))]) == whole


@given(st.lists(st.binary(max_size=5), max_size=8), st.integers(1, 7))
def test_empty_frames_are_complete_where_they_are_allowed(frames: list[bytes], step: int) -> None:
    stream = b"".join(sized(frame) for frame in frames)
    splitter = FrameSplitter(LIMIT, frame_bytes_min=0)
    pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
    assert [frame for piece in pieces for frame in splitter.feed(piece)] == frames


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_noise_gives_frames_or_a_frame_error(pieces: list[bytes]) -> None:
    frames, _ = fed(pieces)
    assert all(0 < len(frame) <= LIMIT for frame in frames)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "a frame claims a size of 0 bytes"),
        (-1, "a frame claims a size of -1 bytes"),
        (LIMIT + 1, "a frame claims 301 bytes, over the limit of 300"),
        (0x7FFFFFFF, "a frame claims 2147483647 bytes, over the limit of 300"),
    ],
)
def test_an_impossible_size_is_rejected_before_the_frame_arrives(size: int, said: str) -> None:
    splitter = FrameSplitter(LIMIT)
    with pytest.raises(FrameError, match=said):
        splitter.feed(size.to_bytes(4, "big", signed=True))
    with pytest.raises(FrameError, match=said):
        splitter.feed(sized(b"fine"))


def test_frames_before_an_impossible_size_are_returned_first() -> None:
    splitter = FrameSplitter(LIMIT)
    assert splitter.feed(sized(b"a") + sized(b"b") + b"\0\0\0\0rest") == [b"a", b"b"]
    assert splitter.failure is not None
    with pytest.raises(FrameError, match="a size of 0 bytes"):
        splitter.feed(b"")


def test_limit_changes_between_frames() -> None:
    splitter = FrameSplitter(10)
    assert splitter.feed(sized(b"x" * 10)) == [b"x" * 10]
    splitter.frame_bytes_max = 20
    assert splitter.feed(sized(b"x" * 20)[:7]) == []
    splitter.frame_bytes_max = 5
    assert splitter.feed(sized(b"x" * 20)[7:]) == [b"x" * 20]
    with pytest.raises(FrameError, match="claims 6 bytes, over the limit of 5"):
        splitter.feed(sized(b"x" * 6))


def test_memory_is_allocated_for_received_bytes() -> None:
    splitter = FrameSplitter(1 << 30)
    tracemalloc.start()
    try:
        assert splitter.feed((1 << 30).to_bytes(4, "big") + b"x" * 1000) == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert splitter.pending_bytes == 1000
    assert most < 50_000


def test_pending_bytes_are_forgotten_with_their_frame() -> None:
    splitter = FrameSplitter(LIMIT)
    splitter.feed(sized(b"abc")[:5])
    assert splitter.pending_bytes == 1
    assert splitter.feed(b"bc") == [b"abc"]
    assert splitter.pending_bytes == 0
