"""Compression of batches; the error without a package names it."""

import gzip
from random import Random

import pytest

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records import compression
from kafka_shim.protocol.records.compression import (
    Compression,
    compress,
    decompress,
    is_compression_available,
)

TEXT = b"orders and payments " * 5000
NOISE = Random(1).randbytes(100_000)


def codecs(*names: str) -> list[object]:
    """Return parameters for these compressions; those without an installed package are skipped."""
    return [
        pytest.param(
            Compression[name],
            marks=pytest.mark.skipif(
                not is_compression_available(Compression[name]), reason=f"no {name} here"
            ),
        )
        for name in names
    ]


ALL = codecs("NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD")
REAL = ALL[1:]


@pytest.mark.parametrize("codec", ALL)
@pytest.mark.parametrize("data", [b"", b"x", TEXT, NOISE])
def test_round_trip(codec: Compression, data: bytes) -> None:
    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize("codec", REAL)
def test_it_gets_smaller(codec: Compression) -> None:
    assert len(compress(codec, TEXT)) < len(TEXT) / 10


@pytest.mark.parametrize("codec", REAL)
def test_a_bomb_is_rejected(codec: Compression) -> None:
    bomb = compress(codec, bytes(10_000_000))
    assert len(decompress(codec, bomb, 10_000_000)) == 10_000_000
    with pytest.raises(DecodeError, match="over 9999999 bytes when decompressed"):
        decompress(codec, bomb, 9_999_999)


@pytest.mark.parametrize("codec", REAL)
def test_damage_is_a_decode_error(codec: Compression) -> None:
    data = compress(codec, TEXT[:2000])
    random = Random(3)
    for _ in range(300):
        at = random.randrange(len(data))
        damaged = data[:at] + random.randbytes(2) + data[at + 2 :]
        try:
            decompress(codec, random.choice((damaged, data[:at])), 1 << 20)
        except DecodeError as error:
            said = str(error)
            assert said.startswith("records are ")


def test_gzip_of_several_members() -> None:
    assert (
        decompress(Compression.GZIP, gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"
    )


@pytest.mark.skipif(not is_compression_available(Compression.SNAPPY), reason="no SNAPPY here")
def test_snappy_without_blocks() -> None:
    import snappy

    assert decompress(Compression.SNAPPY, snappy.compress(TEXT)) == TEXT
    assert compress(Compression.SNAPPY, TEXT).startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(compression._MODULES, Compression.ZSTD, "no_such_module")
    assert not is_compression_available(Compression.ZSTD)
    with pytest.raises(compression.MissingPackageError, match=r"install .*zstandard"):
        compress(Compression.ZSTD, b"x")
    with pytest.raises(compression.MissingPackageError):
        decompress(Compression.ZSTD, b"x")
