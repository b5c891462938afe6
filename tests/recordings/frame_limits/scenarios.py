"""Frames with very many tagged fields or elements, each sent on its own connection."""

from collections.abc import Callable, Mapping
from typing import Final

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

TAGGED_FIELDS_MAX: Final = 10_000
ELEMENTS_MAX: Final = 1_000_000
_FIRST_TAG: Final = 1000

Tags = tuple[tuple[int, bytes], ...]


def _tags(count: int) -> Tags:
    return tuple((_FIRST_TAG + number, b"") for number in range(count))


def _frame(api: ApiKey, version: int, request: object, header_tags: Tags = ()) -> bytes:
    header = write_request_header(RequestHeader(api, version, 1, "c", header_tags))
    return header + codecs.write_request(request, version)  # type: ignore[arg-type]


def _tags_of_header(count: int) -> bytes:
    return _frame(ApiKey.METADATA, 12, MetadataRequest(topics=[]), _tags(count))


def _tags_of_body(count: int) -> bytes:
    return _frame(ApiKey.METADATA, 12, MetadataRequest(topics=[], unknown_tags=_tags(count)))


def _tags_of_element(count: int) -> bytes:
    topic = MetadataRequestTopic(name="t", unknown_tags=_tags(count))
    return _frame(ApiKey.METADATA, 12, MetadataRequest(topics=[topic]))


def _compact_array(count: int) -> bytes:
    return _frame(ApiKey.LIST_GROUPS, 4, ListGroupsRequest(states_filter=[""] * count))


def _array_of_numbers(count: int) -> bytes:
    topics = [DescribableLogDirTopic("t", [7] * count)]
    return _frame(ApiKey.DESCRIBE_LOG_DIRS, 1, DescribeLogDirsRequest(topics))


def _compact_array_of_numbers(count: int) -> bytes:
    topics = [DescribableLogDirTopic("t", [7] * count)]
    return _frame(ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics))


_MAKERS: Final[Mapping[str, tuple[Callable[[int], bytes], int]]] = {
    "tagged fields of the header": (_tags_of_header, TAGGED_FIELDS_MAX),
    "tagged fields of the request": (_tags_of_body, TAGGED_FIELDS_MAX),
    "tagged fields of an element": (_tags_of_element, TAGGED_FIELDS_MAX),
    "compact array": (_compact_array, ELEMENTS_MAX),
    "array of numbers": (_array_of_numbers, ELEMENTS_MAX),
    "compact array of numbers": (_compact_array_of_numbers, ELEMENTS_MAX),
}

SCENARIOS: Final[Mapping[str, Callable[[], bytes]]] = {
    f"{name}, {count}": lambda maker=maker, count=count: maker(count)  # type: ignore[misc]
    for name, (maker, limit) in _MAKERS.items()
    for count in (limit, limit + 1)
}
"""The frame of each scenario, by its name."""
