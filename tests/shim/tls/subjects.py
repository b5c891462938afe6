"""Certificates with random subjects, ordinary and unusual ones, made without a library.

Libraries check what they write, and Java reads certificates that none of them would write.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.recordings.store import read_file

RECORDED = Path(__file__).with_name("subjects_recorded.json.gz")
SEED = "subjects"
COUNT = 4_000

UTF8, PRINTABLE, T61, IA5, GENERAL, UNIVERSAL, BMP = 0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1C, 0x1E
_TAGS = (UTF8, UTF8, UTF8, PRINTABLE, PRINTABLE, T61, IA5, GENERAL, UNIVERSAL, BMP, 0x12, 0x1A)
_UNUSUAL_TAGS = (0x02, 0x03, 0x04, 0x05, 0x17, 0x19, 0x30, 0x31, 0x80, 0xA0, 0x2C)
_KEYWORDS = (
    *("2.5.4.3", "2.5.4.6", "2.5.4.7", "2.5.4.8", "2.5.4.9", "2.5.4.10", "2.5.4.11"),
    *("0.9.2342.19200300.100.1.25", "0.9.2342.19200300.100.1.1"),
)
_OTHERS = (
    *("1.2.840.113549.1.9.1", "2.5.4.4", "2.5.4.5", "2.5.4.12", "2.5.4.17", "2.5.4.42"),
    *("2.5.4.46", "2.5.4.65", "2.5.4.97", "1.3.6.1.4.1.311.60.2.1.3", "0.0", "1.39.1"),
    *("2.40.1", "2.999.3", "2.25.329800735698586629295641978511506172918"),
)
_WORDS = (
    *("alice", "admin", "CN=admin", "x,CN=admin", "a+CN=admin", "example", "SE", "kafka-1"),
    *("#hash", "#", " ", "  two", "end ", "in side", "\r", "\n", "a\r", "\0", "a\0b", "", "\\"),
    *('"quoted"', "<a>", "a;b", "=", "å", "ß", "日本", "\U0001f600", "\u2028", "\ufeff", "\x7f"),
    *("\t", "a" * 130, "b" * 300, "\\ ", " \\", "\u00a0", "e\u0301", "*", "'()+,-./:=?", "@_&!"),
)
_BROKEN = (
    *(b"\xff", b"a\xffb", b"\xed\xa0\x80", b"\xed\xa0", b"\xed\xb0\x80x", b"\xed\xa0A", b"\xed"),
    *(
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xe1\x80",
        b"\xe1\x80A",
        b"\xf0\x80\x80\x80",
        b"\xf0\x9f\x98",
    ),
    *(
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xc3",
        b"\x80\x80",
        b"\xf5\x80",
        b"\xf0\x9fA",
    ),
)


FORMS = ("v1", "v3", "extension", "alternative name", "critical alternative name")
"""Forms of the certificate around a subject: its version, or the extension that it has."""


class Recorded(NamedTuple):
    """A certificate, and Java's text of its subject; None if Java rejects it."""

    certificate: bytes
    text: str | None


def recorded() -> list[Recorded]:
    """Return what Java answered."""
    rows = json.loads(read_file(RECORDED))
    return [
        Recorded(certificate_with(bytes.fromhex(name), form), text) for name, form, text in rows
    ]


def random_subjects() -> list[tuple[bytes, str]]:
    """Return the subjects to record, as DER content and the form of their certificates."""
    rng = random.Random(SEED)
    plain = [_name([[(kind, tag, word.encode())]]) for word in _WORDS for kind, tag in _PAIRS]
    count = COUNT - len(plain) - len(FORMS)
    names = [*[b""] * len(FORMS), *plain, *(_random_name(rng) for _ in range(count))]
    return [(name, FORMS[at % len(FORMS)]) for at, name in enumerate(names)]


def certificate_with(name: bytes, form: str) -> bytes:
    """Return a certificate whose subject is a DER name's content; its signature is not valid."""
    algorithm = element(0x30, object_id("1.2.840.10045.4.3.2"))
    curve = element(0x30, object_id("1.2.840.10045.2.1") + object_id("1.2.840.10045.3.1.7"))
    fields = [
        b"" if form == "v1" else element(0xA0, element(0x02, b"\x02")),
        element(0x02, b"\x01"),
        algorithm,
        element(0x30, _name([[("2.5.4.3", UTF8, b"issuer")]])),
        element(0x30, element(0x17, b"250101000000Z") + element(0x17, b"350101000000Z")),
        element(0x30, name),
        element(0x30, curve + element(0x03, b"\0\x04" + _POINT)),
        _extensions(form),
    ]
    body = element(0x30, b"".join(fields))
    return element(
        0x30, body + algorithm + element(0x03, b"\0" + bytes.fromhex("3006020101020101"))
    )


def _extensions(form: str) -> bytes:
    if form in ("v1", "v3"):
        return b""
    critical = element(0x01, b"\xff") if form == "critical alternative name" else b""
    kind, value = "2.5.29.17", element(0x30, element(0x82, b"localhost"))
    if form == "extension":
        kind, value = "2.5.29.15", element(0x03, b"\x07\x80")
    extension = element(0x30, object_id(kind) + critical + element(0x04, value))
    return element(0xA3, element(0x30, extension))


def element(tag: int, content: bytes) -> bytes:
    """Return a DER element."""
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    raw = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(raw)]) + raw + content


def object_id(dotted: str) -> bytes:
    """Return a DER object id."""
    first, second, *rest = map(int, dotted.split("."))
    return element(0x06, b"".join(_base_128(number) for number in (40 * first + second, *rest)))


def _base_128(number: int) -> bytes:
    digits = [number & 0x7F]
    while number := number >> 7:
        digits.append(0x80 | number & 0x7F)
    return bytes(reversed(digits))


def _name(parts: Sequence[Sequence[tuple[str, int, bytes]]]) -> bytes:
    return b"".join(
        element(0x31, b"".join(element(0x30, object_id(k) + element(t, v)) for k, t, v in part))
        for part in parts
    )


def _random_name(rng: random.Random) -> bytes:
    counts = [1 + (rng.random() < 0.2) + (rng.random() < 0.1) for _ in range(rng.randint(1, 5))]
    return _name([[_random_attribute(rng) for _ in range(count)] for count in counts])


def _random_attribute(rng: random.Random) -> tuple[str, int, bytes]:
    kind = rng.choice(_KEYWORDS if rng.random() < 0.8 else _OTHERS)
    if rng.random() < 0.05:
        return kind, rng.choice(_UNUSUAL_TAGS), b""
    tag = rng.choice(_TAGS)
    if tag == UTF8 and rng.random() < 0.15:
        return kind, tag, b"a" * rng.randint(0, 1) + rng.choice(_BROKEN) + b"b" * rng.randint(0, 1)
    word = "".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 2)))
    return kind, tag, word.encode(_ENCODINGS.get(tag, "utf-8"), "ignore")


_ENCODINGS = {BMP: "utf-16-be", UNIVERSAL: "utf-32-be", T61: "latin-1", IA5: "ascii"}
_PAIRS = (("2.5.4.3", UTF8), ("2.5.4.10", PRINTABLE), ("1.2.840.113549.1.9.1", IA5))
_POINT = bytes.fromhex(  # the generator of the curve P-256: a valid public key
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)
