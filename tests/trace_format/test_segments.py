"""protocol.trace: written data is read back, and damage loses only the damaged block."""

import contextlib
import os
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.trace_format.blocks import (
    COMPRESSIONS,
    HEADER_BYTES,
    BlockError,
    decode_entry_block_body,
    decode_index,
    encode_block,
    read_block_header,
)
from kafka_shim.trace_format.entries import (
    Access,
    BlockBody,
    Connection,
    ConnectionClosed,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import (
    Block,
    Damage,
    SegmentWriter,
    has_no_next_segment,
    read_segment,
    read_trace,
    segment_paths,
)
from tests.support.small_disk import files_up_to, needs_a_limit

texts = st.text(max_size=20)
numbers = st.integers(0, 2**31 - 1)
times = st.integers(0, 2**60)
entries = st.one_of(
    st.builds(Request, numbers, numbers, times, st.binary(max_size=50), st.booleans()),
    st.builds(Response, numbers, numbers, times, numbers, numbers, st.binary(max_size=50)),
    st.builds(
        Access, numbers, numbers, times, *(numbers,) * 4, texts, st.booleans(), texts, numbers
    ),
    st.builds(ConnectionClosed, numbers, numbers, times, texts),
)
connections = st.builds(Connection, *(numbers,) * 3, texts, texts, numbers, texts)
bodies = st.builds(
    BlockBody, st.lists(connections, max_size=3), st.lists(entries, min_size=1, max_size=5)
)


def body(number: int, count: int = 3) -> BlockBody:
    """Return a body that differs from all others."""
    who = Connection(0, number, 1, "PLAINTEXT", "127.0.0.1", 5000, "User:alice")
    found: list[Entry] = [
        Request(0, sequence, 1_000 * number + sequence, b"frame %d" % number)
        for sequence in range(count)
    ]
    return BlockBody([who], found)


@given(bodies, st.sampled_from(COMPRESSIONS))
def test_a_block_is_read_as_it_was_written(written: BlockBody, compression: str) -> None:
    block = encode_block(written, compression)
    header = read_block_header(block)
    assert header.block_bytes == len(block)
    assert header.entry_count == len(written.entries)
    assert header.first_us == min(entry.time_us for entry in written.entries)
    assert decode_entry_block_body(header, block[HEADER_BYTES:]) == written


@pytest.mark.deep
@settings(max_examples=200)
@given(bodies, st.data())
def test_any_flipped_bit_is_noticed(written: BlockBody, choices: st.DataObject) -> None:
    block = bytearray(encode_block(written))
    at = choices.draw(st.integers(0, len(block) - 1))
    block[at] ^= 1 << choices.draw(st.integers(0, 7))
    with pytest.raises(BlockError):
        decode_entry_block_body(read_block_header(bytes(block)), bytes(block[HEADER_BYTES:]))


def write(folder: Path, blocks: int, **settings_: Any) -> list[BlockBody]:
    written = [body(number) for number in range(blocks)]
    writer = SegmentWriter(folder, "w", **settings_)
    for block_body in written:
        writer.write_block(block_body)
    writer.close()
    return written


def read(path: Path) -> tuple[list[BlockBody], list[Damage]]:
    good: list[BlockBody] = []
    damage: list[Damage] = []
    for block in read_trace(path):
        if isinstance(block, Block):
            good.append(block.body)
        else:
            damage.append(block)
    return good, damage


def test_a_trace_is_read_segment_by_segment_in_order(tmp_path: Path) -> None:
    written = write(tmp_path, 20, segment_bytes=500)
    assert len(segment_paths(tmp_path)) > 3
    assert read(tmp_path) == (written, [])


def test_a_finished_segment_ends_in_its_index(tmp_path: Path) -> None:
    write(tmp_path, 5)
    (path,) = segment_paths(tmp_path)
    data = path.read_bytes()
    at, found = 0, []
    while not (header := read_block_header(data, at)).is_index:
        found.append((at, header.entry_count, header.first_us, header.last_us))
        at += header.block_bytes
    assert decode_index(header, data[at + HEADER_BYTES :]) == found
    assert len(found) == 5


def test_an_existing_trace_is_continued_in_a_new_segment(tmp_path: Path) -> None:
    first = write(tmp_path, 2)
    second = write(tmp_path, 3)
    assert len(segment_paths(tmp_path)) == 2
    assert read(tmp_path) == (first + second, [])


def test_old_segments_are_retired(tmp_path: Path) -> None:
    written = write(tmp_path, 20, segment_bytes=200, segments_max=3)
    good, damage = read(tmp_path)
    assert damage == []
    assert good == written[-len(good) :]
    assert 3 <= len(segment_paths(tmp_path)) <= 4


def test_a_segment_cut_anywhere_loses_only_the_block_being_written(tmp_path: Path) -> None:
    written = write(tmp_path, 4)
    (path,) = segment_paths(tmp_path)
    whole = path.read_bytes()
    ends = []
    at = 0
    while at < len(whole):
        at += read_block_header(whole, at).block_bytes
        ends.append(at)
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        good, damage = read(tmp_path)
        complete = sum(end <= cut for end in ends[:4])
        assert good == written[:complete]
        if cut in (0, *ends):
            assert damage == []
        else:
            (tail,) = damage
            assert tail.is_tail
            assert tail.position + tail.length == cut


def test_an_incomplete_end_of_an_older_segment_is_damage(tmp_path: Path) -> None:
    write(tmp_path, 2)
    write(tmp_path, 2)
    older, newer = segment_paths(tmp_path)
    assert (has_no_next_segment(older), has_no_next_segment(newer)) == (False, True)
    older.write_bytes(older.read_bytes()[:-10])
    _, (damage,) = read(tmp_path)
    assert not damage.is_tail


def test_damage_in_the_middle_loses_only_its_block(tmp_path: Path) -> None:
    written = write(tmp_path, 6)
    (path,) = segment_paths(tmp_path)
    whole = path.read_bytes()
    rng = random.Random(7)
    for _ in range(200):
        data = bytearray(whole)
        at = rng.randrange(len(data))
        data[at] ^= 0xFF
        path.write_bytes(data)
        good, damage = read(tmp_path)
        assert len(damage) == 1
        assert damage[0].position <= at < damage[0].position + damage[0].length
        missing = [block_body for block_body in written if block_body not in good]
        assert len(missing) <= 1
        assert good == [block_body for block_body in written if block_body in good]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_ranges_of_a_segment_share_its_blocks(tmp_path: Path, parts: int) -> None:
    written = write(tmp_path, 10)
    (path,) = segment_paths(tmp_path)
    size = path.stat().st_size
    bounds = [size * part // parts for part in range(parts + 1)]
    found = [
        block.body
        for start, end in pairwise(bounds)
        for block in read_segment(path, start, end)
        if isinstance(block, Block)
    ]
    assert found == written


def test_noise_is_damage_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "w-00000000.ktrace"
    path.write_bytes(random.Random(1).randbytes(5_000))
    good, (damage,) = read(tmp_path)
    assert good == []
    assert (damage.position, damage.length) == (0, 5_000)


@needs_a_limit
def test_an_incomplete_block_on_a_full_disk_is_removed(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "w")
    written = 0
    with files_up_to(1000), contextlib.suppress(OSError):
        while written < 1000:
            writer.write_block(body(written))
            written += 1
    writer.close()
    found = list(read_trace(tmp_path))
    assert [block.header.entry_count for block in found if isinstance(block, Block)] == [
        3
    ] * written
    assert 1 < len(found) == written < 1000


def test_an_empty_segment_is_removed(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "w")
    assert segment_paths(tmp_path) == [writer.current_segment_path]
    writer.close()
    assert segment_paths(tmp_path) == []


def test_a_trace_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        writer = SegmentWriter(tmp_path / "trace", "broker-1")
    finally:
        os.umask(umask)
    assert writer.current_segment_path.stat().st_mode & 0o777 == 0o600
    assert writer.current_segment_path.parent.stat().st_mode & 0o777 == 0o700
    writer.close()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's /proc")
def test_a_segment_that_is_read_does_not_stay_in_memory(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "w")
    frames = [random.Random(number).randbytes(1 << 18) for number in range(32)]
    for number, frame in enumerate(frames):
        writer.write_block(BlockBody([], [Request(1, number, number, frame)]))
    writer.close()
    (path,) = segment_paths(tmp_path)
    read, in_memory = [], []
    for block in read_segment(path, released_bytes=1 << 20):
        assert isinstance(block, Block)
        read += [entry.frame for entry in block.body.entries if isinstance(entry, Request)]
        in_memory.append(mapped_bytes_in_memory(path))
    assert read == frames
    assert 0 < max(in_memory) < 3 << 20


def mapped_bytes_in_memory(path: Path) -> int:
    lines = Path("/proc/self/smaps").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
    rss = next(line for line in lines[at:] if line.startswith("Rss:"))
    return int(rss.split()[1]) * 1024
