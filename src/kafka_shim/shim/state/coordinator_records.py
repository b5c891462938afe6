"""Records that coordinators write into their internal topics, for tools that read these."""

import msgspec

from kafka_shim.protocol import codecs
from kafka_shim.protocol.lone_records import lone_record
from kafka_shim.shim.state.log import StoredBatch
from kafka_shim.shim.state.topics import Partition


def versioned(message: msgspec.Struct, version: int, number: int | None = None) -> bytes:
    """Return a key or a value with the number before it: its version, or `number`."""
    before = version if number is None else number
    return before.to_bytes(2, "big") + codecs.write_message(message, version)


def append_record(partition: Partition, key: bytes, value: bytes | None, now_ms: int) -> int:
    """Append a record, alone in its batch, and return its offset; None: a tombstone."""
    log = partition.log
    offset = log.end_offset
    payload = lone_record(offset, now_ms, key, value, partition.leader_epoch)
    log.append(StoredBatch(offset, offset, now_ms, payload), partition.leader_epoch)
    return offset
