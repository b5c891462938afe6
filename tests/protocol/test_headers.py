"""Request and response headers in their versions."""

import pytest

from kafka_shim.protocol.codec.codecs import has_version, request_versions
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.errors import DecodeError, EncodeError
from kafka_shim.protocol.headers import (
    RequestHeader,
    ResponseHeader,
    read_request_header,
    read_response_header,
    request_header_version,
    response_header_version,
    write_request_header,
    write_response_header,
)
from kafka_shim.protocol.messages.apis import APIS

TAGS = ((3, b"abc"), (200, b""))


@pytest.mark.parametrize("client_id", [None, "", "me", "ä" * 200])
@pytest.mark.parametrize(
    ("key", "version", "tags"),
    [(30, 1, ()), (30, 2, ()), (30, 2, TAGS), (7, 0, ()), (7, 1, ()), (18, 3, TAGS), (17, 1, ())],
)
def test_request_headers_survive_a_round_trip(
    key: int, version: int, tags: tuple[tuple[int, bytes], ...], client_id: str | None
) -> None:
    if (key, version) == (7, 0):
        client_id = None
    header = RequestHeader(key, version, -5, client_id, tags)
    written = write_request_header(header)
    assert read_request_header(written + b"body") == (header, len(written))


def test_request_headers_byte_by_byte() -> None:
    assert write_request_header(RequestHeader(30, 1, 7, "me")).hex(" ") == (
        "00 1e 00 01 00 00 00 07 00 02 6d 65"
    )
    assert write_request_header(RequestHeader(30, 2, 7, None)).hex(" ") == (
        "00 1e 00 02 00 00 00 07 ff ff 00"
    )
    assert write_request_header(RequestHeader(7, 0, 7)).hex(" ") == "00 07 00 00 00 00 00 07"


def test_header_versions_follow_the_definitions() -> None:
    for key, (name, low, high, _) in APIS.items():
        flexible = load_message_spec(f"{name}Request").flexible_versions
        assert load_message_spec(f"{name}Response").flexible_versions == flexible
        assert load_message_spec(f"{name}Response").versions == (low, high) == request_versions(key)
        for version in range(low, high + 1):
            is_flexible = flexible.has(version)
            expected = 0 if (key, version) == (7, 0) else 1 + is_flexible
            assert request_header_version(key, version) == expected
            assert response_header_version(key, version) == (is_flexible and key != 18)


def test_api_versions_responds_with_header_0() -> None:
    assert write_response_header(18, 4, 9) == b"\0\0\0\x09"
    assert write_response_header(30, 3, 9) == b"\0\0\0\x09\0"
    assert write_response_header(30, 1, 9) == b"\0\0\0\x09"


@pytest.mark.parametrize(("key", "version"), [(18, 4), (30, 1), (30, 3)])
def test_response_headers_survive_a_round_trip(key: int, version: int) -> None:
    tags = TAGS if (key, version) == (30, 3) else ()
    written = write_response_header(key, version, -2, tags)
    assert read_response_header(key, version, written + b"body") == (
        ResponseHeader(-2, tags),
        len(written),
    )


@pytest.mark.parametrize("frame", [b"", b"\0\x1e", b"\0\x1e\0\1\0\0\0", b"\0\7\0\0\0\0"])
def test_frame_without_a_correlation_id_is_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError, match="request header: only"):
        read_request_header(frame)


@pytest.mark.parametrize(
    "frame",
    [
        b"\0\x1e\0\1\0\0\0\7",
        b"\0\x1e\0\1\0\0\0\7\0",
        b"\0\x1e\0\1\0\0\0\7\0\2m",
        b"\0\x1e\0\2\0\0\0\7\0\2me",
        b"\0\x1e\0\2\0\0\0\7\0\2me\1\3",
        b"\0\x1e\0\2\0\0\0\7\0\2me\1\3\5a",
        b"\0\x1e\0\2\0\0\0\7\0\2me\xff\xff\xff\xff\xff\xff",
    ],
)
def test_damaged_header_of_a_known_version_is_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError, match="request header: "):
        read_request_header(frame)


@pytest.mark.parametrize(
    ("frame", "client_id", "body_at"),
    [
        (b"\0\x12\0\x63\0\0\0\7\0\2me\0", "me", 13),
        (b"\0\x12\0\x63\0\0\0\7", None, 8),
        (b"\0\x12\0\x63\0\0\0\7\0\2m", None, 11),
        (b"\0\x12\xff\xff\0\0\0\7\0\2me", "me", 12),
        (b"\3\xe7\0\0\0\0\0\7\0\2mebody", "me", 12),
        (b"\xff\xff\0\0\0\0\0\7\xff\xff", None, 10),
    ],
)
def test_unknown_apis_can_still_be_answered(
    frame: bytes, client_id: str | None, body_at: int
) -> None:
    header, found_at = read_request_header(frame)
    assert not has_version(header.api_key, header.api_version)
    assert (header.correlation_id, header.client_id, found_at) == (7, client_id, body_at)


def test_malformed_client_id_is_replaced() -> None:
    header, _ = read_request_header(b"\0\x1e\0\1\0\0\0\7\0\2m\xff")
    assert header.client_id == "m\ufffd"


@pytest.mark.parametrize(
    "frame", [b"", b"\0\0\0", b"\0\0\0\1", b"\0\0\0\1\1\2", b"\0\0\0\1\1\2\3a"]
)
def test_damaged_response_header_is_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError, match="response header: "):
        read_response_header(30, 3, frame)


def test_impossible_headers_are_not_written() -> None:
    for header in (RequestHeader(30, 1, 1 << 31), RequestHeader(30, 1, 0, "x" * 40_000)):
        with pytest.raises(EncodeError, match="request header: "):
            write_request_header(header)
