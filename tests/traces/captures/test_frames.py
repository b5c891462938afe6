"""Frames are read from streams with gaps; only frames within a gap are lost."""

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.traces.captures.frame_reader import FrameReader, looks_like_request
from tests.support.frames import sized
from tests.traces.captures.wires import heartbeat

FRAMES = [heartbeat(number, number % 7) for number in range(12)]
TEXT = b"".join(sized(frame) for frame in FRAMES)
ENDS = [len(b"".join(sized(frame) for frame in FRAMES[: n + 1])) for n in range(len(FRAMES))]


@settings(deadline=None)  # no deadline: the machine may be busy
@given(st.lists(st.integers(1, len(TEXT) - 1), max_size=20))
def test_frames_are_read_from_pieces_of_any_size(places: list[int]) -> None:
    reader = FrameReader(looks_like_request)
    bounds = sorted({0, len(TEXT), *places})
    found = [frame for left, right in pairwise(bounds) for frame in reader.feed(TEXT[left:right])]
    assert found == FRAMES
    assert (reader.skipped_bytes, reader.broken_frames) == (0, 0)


@settings(deadline=None)  # no deadline: the machine may be busy
@given(st.integers(0, len(TEXT) - 1), st.integers(1, 60))
def test_a_gap_costs_only_the_frames_that_it_touches(start: int, length: int) -> None:
    """This holds if a later segment begins with a frame, as is usual for clients."""
    end = min(start + length, len(TEXT))
    reader = FrameReader(looks_like_request)
    found = list(reader.feed(TEXT[:start]))
    reader.note_lost_bytes(end - start)
    starts = [0, *ENDS]
    bounds = [end, *(place for place in starts if place > end), len(TEXT)]
    for left, right in pairwise(bounds):
        found += reader.feed(TEXT[left:right])
    touched = {
        number
        for number, (left, right) in enumerate(pairwise(starts))
        if left < end and start < right
    }
    assert found == [frame for number, frame in enumerate(FRAMES) if number not in touched]


def test_other_bytes_are_skipped_until_a_request_begins() -> None:
    reader = FrameReader(looks_like_request)
    assert list(reader.feed(b"GET / HTTP/1.1\r\n\r\n")) == []
    assert list(reader.feed(b"more of it")) == []
    assert list(reader.feed(sized(FRAMES[0]))) == [FRAMES[0]]
    assert reader.skipped_bytes == 28


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:13],
        lambda text: b"\x7f" + text[1:],  # a size above the limit
        lambda text: text[:4] + b"\x7f" + text[5:],  # an unknown API
        lambda text: text[:6] + b"\x7f" + text[7:],  # an unknown version
        lambda text: text[:8] + b"\xff" + text[9:],  # a negative correlation id
        lambda text: text[:12] + b"\x7f" + text[13:],  # a client id longer than the frame
    ],
)
def test_invalid_headers_do_not_look_like_a_request(change: object) -> None:
    assert callable(change)
    text = sized(FRAMES[0])
    assert looks_like_request(text)
    assert not looks_like_request(change(text))
