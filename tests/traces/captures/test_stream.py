"""One direction of a TCP connection: segments in any order, repeated or lost."""

import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.traces.captures.tcp_stream import SEQUENCE_MODULUS, ReassembledStream


class Heard:
    """A stream with its output: bytes and gaps."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.stream = ReassembledStream(self._deliver, self.parts.append)

    def _deliver(self, data: bytes, time_us: int) -> None:
        self.parts.append(data)

    @property
    def text(self) -> bytes:
        return b"".join(part for part in self.parts if isinstance(part, bytes))

    @property
    def holes(self) -> list[int | None]:
        return [part for part in self.parts if not isinstance(part, bytes)]


@st.composite
def cuts(draw: st.DrawFn) -> tuple[bytes, int, list[tuple[int, bytes]]]:
    """Return a text, its SYN number, and overlapping segments that cover it."""
    text = draw(st.binary(min_size=1, max_size=200))
    first = draw(st.sampled_from([0, 1, SEQUENCE_MODULUS - 1, SEQUENCE_MODULUS - 100, 2**31 - 50]))
    pieces, at = [], 0
    while at < len(text):
        length = draw(st.integers(1, 60))
        before = draw(st.integers(0, min(at, 20)))
        start = (first + 1 + at - before) % SEQUENCE_MODULUS
        pieces.append((start, text[at - before : at + length]))
        at += length
    return text, first, pieces


@settings(deadline=None)  # no deadline: the machine may be busy
@given(cuts(), st.randoms(use_true_random=False), st.booleans())
def test_segments_may_come_in_any_order_and_repeatedly(
    made: tuple[bytes, int, list[tuple[int, bytes]]], rng: random.Random, syn_late: bool
) -> None:
    text, first, pieces = made
    pieces = pieces + rng.choices(pieces, k=3)
    rng.shuffle(pieces)
    heard = Heard()
    syn_at = rng.randrange(len(pieces)) if syn_late else 0
    for number, (sequence, data) in enumerate(pieces):
        if number == syn_at:
            heard.stream.on_syn(first)
        heard.stream.add(sequence, data, 0)
    heard.stream.on_syn(first)  # a repeated SYN
    assert heard.text == text
    assert heard.holes == []
    assert not heard.stream.is_missing_acknowledged_bytes
    assert heard.stream.retransmitted >= 3


@settings(deadline=None)  # no deadline: the machine may be busy
@given(cuts(), st.randoms(use_true_random=False))
def test_a_loss_is_reported_at_its_position(
    made: tuple[bytes, int, list[tuple[int, bytes]]], rng: random.Random
) -> None:
    text, first, pieces = made
    kept = [piece for piece in pieces if rng.random() < 0.7]
    there = bytearray(len(text))
    for sequence, data in kept:
        at = (sequence - first - 1) % SEQUENCE_MODULUS
        there[at : at + len(data)] = b"\1" * len(data)
    rng.shuffle(kept)
    heard = Heard()
    heard.stream.on_syn(first)
    for sequence, data in kept:
        heard.stream.add(sequence, data, 0)
    heard.stream.acknowledge((first + 1 + len(text)) % SEQUENCE_MODULUS)
    assert heard.stream.is_missing_acknowledged_bytes is (0 in there)
    heard.stream.skip_all_holes()
    found = bytearray()
    for part in heard.parts:
        found += part if isinstance(part, bytes) else b"?" * part
    assert found == bytes(
        byte if is_there else ord("?") for byte, is_there in zip(text, there, strict=True)
    )
    assert heard.stream.lost_bytes == there.count(0)
    assert not heard.stream.is_missing_acknowledged_bytes


def test_a_beginning_that_was_not_captured_is_a_gap_of_unknown_size() -> None:
    heard = Heard()
    for sequence, data in ((1000, b"late"), (990, b"early")):
        heard.stream.note_lowest_sequence(sequence)
        heard.stream.add(sequence, data, 0)
    assert heard.stream.is_missing_acknowledged_bytes
    heard.stream.skip_all_holes()
    assert heard.parts == [None, b"early", 5, b"late"]


def test_an_acknowledged_fin_is_not_a_lost_byte() -> None:
    heard = Heard()
    heard.stream.on_syn(10)
    heard.stream.add(11, b"x", 0)
    heard.stream.on_fin(12)
    heard.stream.acknowledge(13)
    assert not heard.stream.is_missing_acknowledged_bytes


def test_waiting_for_a_lost_segment_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shim.traces.captures.tcp_stream.WAITING_BYTES_MAX", 100)
    heard = Heard()
    heard.stream.on_syn(0)
    heard.stream.add(11, b"x" * 101, 0)
    assert heard.parts == [10, b"x" * 101]
