"""The partition of a key, as Java's producer chooses it (murmur2)."""

_MASK = 0xFFFFFFFF
_MULTIPLIER = 0x5BD1E995


def partition_of_key(key: bytes, partition_count: int) -> int:
    """Return the partition that Java's default partitioner chooses for a key."""
    return (_murmur2(key) & 0x7FFFFFFF) % partition_count


def _murmur2(content: bytes) -> int:
    """Return the hash of `org.apache.kafka.common.utils.Utils.murmur2`, as an unsigned number."""
    value = 0x9747B28C ^ len(content)
    whole = len(content) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(content[at : at + 4], "little") * _MULTIPLIER & _MASK
        word = (word ^ word >> 24) * _MULTIPLIER & _MASK
        value = value * _MULTIPLIER & _MASK ^ word
    if whole < len(content):
        value = (value ^ int.from_bytes(content[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 13) * _MULTIPLIER & _MASK
    return value ^ value >> 15
