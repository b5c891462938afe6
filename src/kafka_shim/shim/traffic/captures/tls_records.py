"""Records of one direction of a TLS connection: cut from the stream, and decrypted."""

import hmac
from collections.abc import Iterator
from hashlib import new as new_hash
from struct import Struct
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

HEADER_BYTES = 5
RECORD_BYTES_MAX = 16_384 + 2_048
TLS_1_2, TLS_1_3 = 0x0303, 0x0304
_HEADER = Struct(">BHH")
_SEQUENCE = Struct(">Q")
_LENGTH = Struct(">H")
_TAG_BYTES = 16
_EXPLICIT_BYTES = 8


class TlsError(Exception):
    """The rest of the connection cannot be decrypted; the text says why."""


class Cipher(NamedTuple):
    """The relevant properties of a cipher suite; all have tags of 16 bytes."""

    key_bytes: int
    digest: str
    is_chacha: bool = False


_AES_128 = Cipher(16, "sha256")
_AES_256 = Cipher(32, "sha384")
_CHACHA = Cipher(32, "sha256", is_chacha=True)
CIPHERS = {
    0x1301: _AES_128, 0x1302: _AES_256, 0x1303: _CHACHA,
    0x009C: _AES_128, 0x009D: _AES_256, 0x009E: _AES_128, 0x009F: _AES_256,
    0xC02B: _AES_128, 0xC02C: _AES_256, 0xC02F: _AES_128, 0xC030: _AES_256,
    0xCCA8: _CHACHA, 0xCCA9: _CHACHA, 0xCCAA: _CHACHA,
}  # fmt: skip
"""By their numbers (RFC 8446 B.4, 5288, 5289, 7905): those with authenticated encryption."""


class Record(NamedTuple):
    """A record as received; `head` is its header."""

    kind: int
    head: bytes
    body: bytes


class Records:
    """Cuts a stream into records."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Record]:
        """Yield whole records; TlsError if none begins where one should."""
        self._rest += data
        while len(self._rest) >= HEADER_BYTES:
            kind, version, length = _HEADER.unpack_from(self._rest)
            if version >> 8 != 3 or length > RECORD_BYTES_MAX:
                raise TlsError("no TLS record begins where one should")
            end = HEADER_BYTES + length
            if len(self._rest) < end:
                return
            record = Record(kind, self._rest[:HEADER_BYTES], self._rest[HEADER_BYTES:end])
            self._rest = self._rest[end:]
            yield record


class Opener:
    """Decrypts the records of one direction with one key, in their order."""

    def __init__(self, cipher: Cipher, version: int, key: bytes, iv: bytes) -> None:
        self._aead = ChaCha20Poly1305(key) if cipher.is_chacha else AESGCM(key)
        self._iv = iv
        self._is_1_3 = version == TLS_1_3
        self._has_explicit = version == TLS_1_2 and not cipher.is_chacha
        self._sequence = 0

    def open(self, record: Record) -> tuple[int, bytes]:
        """Return kind and content; TlsError if the key does not fit."""
        sequence = _SEQUENCE.pack(self._sequence)
        self._sequence += 1
        sealed = record.body
        if self._has_explicit:
            nonce, sealed = self._iv + sealed[:_EXPLICIT_BYTES], sealed[_EXPLICIT_BYTES:]
        else:
            nonce = self._nonce(sequence)
        known = record.head
        if not self._is_1_3:
            known = sequence + known[:3] + _LENGTH.pack(max(0, len(sealed) - _TAG_BYTES))
        try:
            content = self._aead.decrypt(nonce, sealed, known)
        except (InvalidTag, ValueError) as error:
            raise TlsError("a record was not made with the keys of the key log") from error
        if not self._is_1_3:
            return record.kind, content
        content = content.rstrip(b"\0")  # padding, then the real kind (RFC 8446, 5.4)
        if not content:
            raise TlsError("a record has no kind")
        return content[-1], content[:-1]

    def _nonce(self, sequence: bytes) -> bytes:
        padded = sequence.rjust(len(self._iv), b"\0")
        return bytes(left ^ right for left, right in zip(self._iv, padded, strict=True))


def expanded(secret: bytes, label: str, length: int, digest: str) -> bytes:
    """Return HKDF-Expand-Label without a context (RFC 8446, 7.1)."""
    name = b"tls13 " + label.encode()
    info = _LENGTH.pack(length) + bytes([len(name)]) + name + b"\0"
    out = block = b""
    for number in range(1, 256):
        if len(out) >= length:
            break
        block = hmac.digest(secret, block + info + bytes([number]), digest)
        out += block
    return out[:length]


def opener_1_3(cipher: Cipher, secret: bytes) -> Opener:
    """Return a decrypter with the keys of a traffic secret."""
    key = expanded(secret, "key", cipher.key_bytes, cipher.digest)
    return Opener(cipher, TLS_1_3, key, expanded(secret, "iv", 12, cipher.digest))


def openers_1_2(cipher: Cipher, master: bytes, randoms: bytes) -> tuple[Opener, Opener]:
    """Return the decrypters of client and server (RFC 5246, 6.3).

    `randoms` are the server's and then the client's.
    """
    iv_bytes = 12 if cipher.is_chacha else 4
    sizes = (cipher.key_bytes, cipher.key_bytes, iv_bytes, iv_bytes)
    block = _pseudo_random(master, b"key expansion" + randoms, sum(sizes), cipher.digest)
    parts, at = [], 0
    for size in sizes:
        parts.append(block[at : at + size])
        at += size
    client_key, server_key, client_iv, server_iv = parts
    return (
        Opener(cipher, TLS_1_2, client_key, client_iv),
        Opener(cipher, TLS_1_2, server_key, server_iv),
    )


def _pseudo_random(secret: bytes, seed: bytes, length: int, digest: str) -> bytes:
    out, link = b"", seed
    while len(out) < length:
        link = hmac.digest(secret, link, digest)
        out += hmac.digest(secret, link + seed, digest)
    return out[:length]


def digest_bytes(cipher: Cipher) -> int:
    return new_hash(cipher.digest).digest_size
