"""CRC32C against its published check value."""

from kafka_shim.protocol.records.batches import crc32c


def test_the_check_value() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(memoryview(b"x123456789")[1:]) == 0xE3069283
    assert crc32c(b"") == 0
