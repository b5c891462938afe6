"""The subject of a certificate as Java writes it (`X500Principal.getName()`, RFC 2253).

Kafka makes principals of this text, and mapping rules are about it. The standard library decodes
subjects without their string types, so they are read from the certificate's bytes.
DEVIATION: newer Java decodes some rare string types by their own character sets.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
"""Attributes that RFC 2253 has a keyword for. Java writes all others as object ids and hex."""

_SET, _OBJECT_ID, _BOOLEAN = 0x31, 0x06, 0x01
_VERSION, _EXTENSIONS = 0xA0, 0xA3
_TEXT_TAGS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})
"""UTF8, Printable, T61, IA5, General and BMP strings: Java 17 reads the bytes of all as UTF-8."""

_SPECIAL = re.compile('[,=+<>#;"\\\\]')
_OUTER_BLANKS = re.compile(r"^[ \r]+|[ \r]+\Z")
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_SUBJECT_ALTERNATIVE_NAME = bytes.fromhex("0603551d11")
_FIELDS_UP_TO_SUBJECT = 5
"""Serial number, signature algorithm, issuer, validity, subject."""


def subject_of_certificate(certificate: bytes) -> str:
    """Return the subject of a DER certificate, such as `CN=alice,OU=tests,O=example,C=SE`.

    Raise ValueError if it is malformed, or has no subject although Java demands one.
    """
    fields = list(_der_elements(_content_of_first_element(_content_of_first_element(certificate))))
    has_version = bool(fields) and fields[0].tag == _VERSION
    if has_version:
        del fields[0]
    if len(fields) <= _FIELDS_UP_TO_SUBJECT:
        raise ValueError("malformed certificate: fields are missing")
    subject = fields[_FIELDS_UP_TO_SUBJECT - 1].content
    extensions = [field.content for field in fields if field.tag == _EXTENSIONS]
    is_named = any(map(_has_critical_alternative_name, extensions)) if extensions else has_version
    if not subject and not is_named:
        raise ValueError("the certificate has neither a subject nor a critical alternative name")
    return rfc2253_text(subject)


def rfc2253_text(name: bytes) -> str:
    """Return the text of a DER name's content, the most specific part first.

    Raise ValueError if the name is malformed.
    """
    parts = []
    for part in _der_elements(name):
        if part.tag != _SET:
            raise ValueError("malformed certificate: a part of the subject is not a set")
        parts.append(
            "+".join(_attribute_text(each.content) for each in _der_elements(part.content))
        )
    return ",".join(reversed(parts))


def _attribute_text(body: bytes) -> str:
    try:
        (id_tag, object_id, _), (tag, value, encoded) = _der_elements(body)
    except ValueError:
        raise ValueError("malformed certificate: an attribute is not a pair") from None
    if id_tag != _OBJECT_ID:
        raise ValueError("malformed certificate: an attribute has no object id")
    dotted = _dotted_object_id(object_id)
    keyword = KEYWORDS.get(dotted)
    if keyword is None or tag not in _TEXT_TAGS:
        return f"{keyword or dotted}=#{encoded.hex()}"
    return f"{keyword}={_escape_value(_decode_utf8_as_java(value))}"


def _escape_value(value: str) -> str:
    text = _SPECIAL.sub(r"\\\g<0>", value).replace("\0", "\\00")
    return _OUTER_BLANKS.sub(lambda blanks: re.sub("(?s).", r"\\\g<0>", blanks[0]), text)


def _decode_utf8_as_java(value: bytes) -> str:
    """Decode UTF-8 as Java does, which replaces an encoded surrogate by one character."""
    return _ENCODED_SURROGATE.sub(b"\xef\xbf\xbd", value).decode(errors="replace")


def _dotted_object_id(object_id: bytes) -> str:
    numbers, number = [], 0
    for byte in object_id:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    if not numbers or object_id[-1] >= 0x80:
        raise ValueError("malformed certificate: an object id is cut off")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _has_critical_alternative_name(extensions: bytes) -> bool:
    """Return whether there is a critical alternative name, as Java demands without a subject."""
    for extension in _der_elements(_content_of_first_element(extensions)):
        tags = [each.tag for each in _der_elements(extension.content)]
        if tags[1:2] == [_BOOLEAN] and extension.content.startswith(_SUBJECT_ALTERNATIVE_NAME):
            return True
    return False


def _content_of_first_element(data: bytes) -> bytes:
    for element in _der_elements(data):
        return element.content
    raise ValueError("malformed certificate: an element is empty")


class _DerElement(NamedTuple):
    tag: int
    content: bytes
    encoding: bytes


def _der_elements(data: bytes) -> Iterator[_DerElement]:
    """Yield each element of DER data. Raise ValueError if one is longer than the data."""
    at = 0
    while at < len(data):
        begin, tag, size = at, data[at], int.from_bytes(data[at + 1 : at + 2])
        at += 2
        if size >= 0x80:
            count = size & 0x7F
            size = int.from_bytes(data[at : at + count])
            at += count
        if not 2 <= at - begin <= 6 or at + size > len(data):
            raise ValueError("malformed certificate: an element is longer than its container")
        yield _DerElement(tag, data[at : at + size], data[begin : at + size])
        at += size
