"""Blocks have at most about 1 MiB, so that a few damaged bytes do not cost more."""

from pathlib import Path

from kafka_shim.trace_format.blocks import BLOCK_BYTES
from kafka_shim.trace_format.entries import BlockBody, Connection, Entry, Request
from kafka_shim.trace_format.segments import Block, Damage, SegmentWriter, read_segment

LARGE = 900_000


def test_large_entries_are_written_as_several_blocks(tmp_path: Path) -> None:
    entries: list[Entry] = [Request(number, 0, number, bytes(LARGE)) for number in range(3)]
    rows = [Connection(number, number, 1, "L", "h", 1, "User:a") for number in range(3)]
    writer = SegmentWriter(tmp_path, "w")
    size = writer.write_block(BlockBody(rows, entries))
    writer.close()
    (path,) = tmp_path.iterdir()
    blocks = [block for block in read_segment(path) if isinstance(block, Block)]
    assert [block.body.entries for block in blocks] == [[entry] for entry in entries]
    assert [block.body.connections for block in blocks] == [[row] for row in rows]
    assert size == sum(block.header.block_bytes for block in blocks)
    with path.open("r+b") as file:
        file.seek(LARGE // 2)
        file.write(b"five!")
    (damage,) = [part for part in read_segment(path) if isinstance(part, Damage)]
    assert damage.length < BLOCK_BYTES + 1000
