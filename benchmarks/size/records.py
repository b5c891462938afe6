"""Records: the memory that a broker needs for batches of several sizes."""

from datetime import UTC, datetime

from benchmarks.broker import framed
from benchmarks.size.asked import Asked, started
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record

BATCHES = {"1 KiB": 1, "16 KiB": 15, "1 MB": 960}
"""Numbers of 1 KiB records in a batch: one, the default batch size of Java, that of librdkafka."""
VALUE = b"x" * 1024
KEEP_ALL = ("-c", "log.retention.bytes=-1")
IN_FLIGHT_BYTES = 4 << 20


def records(mib: int) -> dict[str, float]:
    """Write `mib` MiB to one partition, the same share in batches of each size."""
    found: dict[str, float] = {"records, MiB": mib}
    with started(*KEEP_ALL) as asked:
        began = asked.resident_bytes()
        stored = 0
        for name, count in BATCHES.items():
            held = asked.resident_bytes()
            wrote, taken_s = write(asked, count, (mib << 20) // len(BATCHES))
            stored += wrote
            grown = asked.resident_bytes() - held
            found[f"batches of {name}, overhead %"] = (grown / wrote - 1) * 100
            found[f"batches of {name}, ms a MiB"] = taken_s * 1000 / (wrote / (1 << 20))
        found["overhead of all, %"] = ((asked.resident_bytes() - began) / stored - 1) * 100
    return found


def write(asked: Asked, records_a_batch: int, wanted_bytes: int) -> tuple[int, float]:
    """Produce until this size is stored; return the bytes, and processor seconds."""
    now_ms = int(datetime.now(UTC).timestamp() * 1000)  # older records would be deleted
    batch = encode_batch(
        [Record(offset=n, timestamp=now_ms, key=None, value=VALUE) for n in range(records_a_batch)]
    )
    data = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="orders", partition_data=[data])
    frame = framed(ApiKey.PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]))
    window = max(1, min(1000, IN_FLIGHT_BYTES // len(batch)))
    before, wrote = asked.processor_s(), 0
    while wrote < wanted_bytes:
        asked.processor_us([frame] * window, window)
        wrote += window * len(batch)
    return wrote, asked.processor_s() - before
