"""Readers and writers of every message and version, each compiled when it is first used.

A reader takes bytes and a position and returns a message; bytes after the message are ignored, as
a broker ignores them (`bytes_after_request` counts them). Readers raise only DecodeError,
writers only EncodeError; an unknown message or version is an UnsupportedVersionError.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec

from kafka_shim.protocol.codec.catalogue import (
    api_name,
    has_version,
    message_classes_by_name,
    message_spec_of_version,
    request_versions,
)
from kafka_shim.protocol.codec.chunks import ByteChunks
from kafka_shim.protocol.codec.reader_source import reader_source
from kafka_shim.protocol.codec.writer_source import writer_source

__all__ = [
    "bytes_after_request",
    "has_version",
    "read_message",
    "read_request",
    "read_response",
    "request_reader",
    "request_versions",
    "request_writer",
    "response_chunk_writer",
    "response_reader",
    "response_writer",
    "write_message",
    "write_request",
    "write_response",
]

Reader = Callable[[bytes, int], Any]
Writer = Callable[[Any], bytes]
ChunkWriter = Callable[[Any], list[bytes | ByteChunks]]


@cache
def message_reader(message_name: str, version: int, *, limits_counts: bool = False) -> Reader:
    """Return `read(buf, pos) -> message` for a message by its full name.

    With `limits_counts`, it rejects more tagged fields or elements than Kafka accepts since 4.2.2.
    """
    return _compile_reader_with_utf8_fallback(
        message_name, version, returns_end=False, limits_counts=limits_counts
    )


@cache
def message_and_end_reader(
    message_name: str, version: int
) -> Callable[[bytes, int], tuple[Any, int]]:
    """Return `read(buf, pos) -> (message, end)`, where `end` is the position after the message."""
    return _compile_reader_with_utf8_fallback(
        message_name, version, returns_end=True, limits_counts=False
    )


@cache
def message_writer(message_name: str, version: int) -> Writer:
    """Return `write(message) -> bytes` for a message by its full name."""
    source = writer_source(
        message_spec_of_version(message_name, version),
        version,
        message_classes_by_name(message_name),
    )
    return source.compile(f"writer of {message_name} v{version}")


def _compile_reader_with_utf8_fallback(
    message_name: str, version: int, *, returns_end: bool, limits_counts: bool
) -> Callable[..., Any]:
    spec, types = (
        message_spec_of_version(message_name, version),
        message_classes_by_name(message_name),
    )
    kind = f"{'end ' if returns_end else ''}{'limited ' if limits_counts else ''}reader"
    title = f"{kind} of {message_name} v{version}"
    emit = partial(
        reader_source, spec, version, types, returns_end=returns_end, limits_counts=limits_counts
    )
    replacing: list[Callable[..., Any]] = []

    def read_leniently(buf: bytes, pos: int) -> Any:
        if not replacing:
            source = emit(falls_back_on_invalid_utf8=True)
            replacing.append(source.compile(f"{title}, replacing"))
        return replacing[0](buf, pos)

    source = emit()
    source.add_constant("read_leniently", read_leniently)
    return source.compile(title)


@cache
def request_reader(api_key: int, version: int, *, limits_counts: bool = False) -> Reader:
    """Return the reader of a request (see `reader`). Raise UnsupportedVersionError if unknown."""
    return message_reader(f"{api_name(api_key)}Request", version, limits_counts=limits_counts)


@cache
def request_writer(api_key: int, version: int) -> Writer:
    """Return the writer of a request. Raise UnsupportedVersionError if there is none."""
    return message_writer(f"{api_name(api_key)}Request", version)


@cache
def response_reader(api_key: int, version: int) -> Reader:
    """Return the reader of a response. Raise UnsupportedVersionError if there is none."""
    return message_reader(f"{api_name(api_key)}Response", version)


@cache
def response_writer(api_key: int, version: int) -> Writer:
    """Return the writer of a response. Raise UnsupportedVersionError if there is none."""
    return message_writer(f"{api_name(api_key)}Response", version)


@cache
def response_chunk_writer(api_key: int, version: int) -> ChunkWriter:
    """Return a writer of a response that does not join its chunks (see `flatten_byte_chunks`)."""
    name = f"{api_name(api_key)}Response"
    source = writer_source(
        message_spec_of_version(name, version),
        version,
        message_classes_by_name(name),
        joins_chunks=False,
    )
    return source.compile(f"piece writer of {name} v{version}")


def read_request(api_key: int, version: int, frame: bytes, pos: int) -> Any:
    """Return the request whose body starts at `pos` (see `headers.read_request_header`)."""
    return request_reader(api_key, version)(frame, pos)


def read_response(api_key: int, version: int, data: bytes, pos: int = 0) -> Any:
    """Return the response whose body starts at `pos`."""
    return response_reader(api_key, version)(data, pos)


def write_response(api_key: int, version: int, message: msgspec.Struct) -> bytes:
    """Return the body of a response."""
    return response_writer(api_key, version)(message)


def write_request(message: msgspec.Struct, version: int) -> bytes:
    """Return the body of a request."""
    return message_writer(type(message).__name__, version)(message)


def write_message(message: msgspec.Struct, version: int) -> bytes:
    """Return the bytes of any message, such as a ConsumerProtocolSubscription."""
    return message_writer(type(message).__name__, version)(message)


def read_message(message_class_or_name: type | str, version: int, data: bytes, pos: int = 0) -> Any:
    """Return a message of any class, such as ConsumerProtocolSubscription, by class or name."""
    name = (
        message_class_or_name
        if isinstance(message_class_or_name, str)
        else message_class_or_name.__name__
    )
    return message_reader(name, version)(data, pos)


def bytes_after_request(api_key: int, version: int, frame: bytes, pos: int) -> int:
    """Return how many bytes follow the request in its frame; a correct client sends none."""
    _, end = message_and_end_reader(f"{api_name(api_key)}Request", version)(frame, pos)
    return len(frame) - end
