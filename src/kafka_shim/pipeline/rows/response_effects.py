"""What a response shows of the decisions of its request: which had an effect, and on which names.

A broker makes some checks whose result it does not use, and leaves names out of lists for reasons
other than a denial.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import msgspec

from kafka_shim.authorizer.access_plan import checked_names_in_response
from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.authorizer.requirements import (
    TABLE,
    bound_requirements,
    bound_requirements_by_id,
)
from kafka_shim.pipeline.rows.access_roles import LISTED, POSSIBLE, UNSHOWN, format_alternative
from kafka_shim.pipeline.rows.existence import is_complete_list
from kafka_shim.protocol.codec.resource_names import ResourceNames
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.protocol.responses import (
    error_codes_by_name,
    has_error_codes_of_elements,
    nonzero_error_codes,
)
from kafka_shim.trace_format.entries import Access, Response, decode_response_entry

_OPERATIONS_ON_TOPICS = {
    int(ApiKey.CREATE_TOPICS): Operation.DESCRIBE_CONFIGS,
    int(ApiKey.DELETE_TOPICS): Operation.DELETE,
}
_UNDELETABLE = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INVALID_REQUEST)
"""Errors of DeleteTopics about an unknown id or a repeated name, which need no permission."""
_CREATED_WITH_SETTINGS = 5
"""The first version of CreateTopics whose response has the settings of topics."""
_FILTERED_LISTS = {
    ApiKey.LIST_GROUPS: "ListGroups.group",
    ApiKey.LIST_TRANSACTIONS: "ListTransactions.transactional_id",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "DescribeTopicPartitions.all_topics",
}
"""Requirements, by API, of lists that may lack the name of an allowed access."""
_PAGED_LISTS = (ApiKey.DESCRIBE_TOPIC_PARTITIONS,)
"""APIs whose response depends on names that it lacks: they are where the next page begins."""
_UNSHOWN_LISTS = (ApiKey.CONSUMER_GROUP_HEARTBEAT,)
"""APIs whose response does not have the names that a denial leaves out."""
_ON_EACH_ELEMENT = frozenset(
    row
    for row in TABLE
    if any(denial.effect is DenialEffect.EACH for denial in row.denied)
    and not all("[]" in path for path in row.names)
    and row.api not in (ApiKey.PRODUCE, ApiKey.FETCH)  # their frames are large
)
"""Requirements of a whole request whose denial shows in each element of the response."""
_OFFSETS_OF_GROUP = (
    ApiKey.OFFSET_DELETE,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
)
"""APIs whose response has only an error of the whole group, if there is one."""
RESPONSES_SHOW_EFFECT = frozenset(
    {
        *_OPERATIONS_ON_TOPICS,
        *_FILTERED_LISTS,
        *_OFFSETS_OF_GROUP,
        *(row.api for row in _ON_EACH_ELEMENT),
        ApiKey.METADATA,
    }
)
"""APIs with checks whose decision is used only in some states of topics and groups, or whose lists
may lack names.
"""
REQUESTS_SHOW_EFFECT = frozenset({*_FILTERED_LISTS, *(row.api for row in _ON_EACH_ELEMENT)})
"""APIs whose requests say what a list may lack, or whether there is an element."""


def all_topics_positions(
    accesses: Sequence[Access], names: ResourceNames, frame: bytes | None
) -> frozenset[int]:
    """Return the positions of the accesses for groups of which an OffsetFetch asks for all topics.

    Groups are checked in the order of the request, and each before its topics.
    """
    if accesses[0].api_key != ApiKey.OFFSET_FETCH or len(names.groups) <= 1:
        return frozenset()
    request = _read_request_or_none(frame)
    groups = iter(() if request is None else request.groups)
    found, group = set(), None
    for position, access in enumerate(accesses):
        if access.resource_type == ResourceType.GROUP:
            group = next((each for each in groups if each.group_id == access.resource_name), None)
        elif group is not None and group.topics is None:
            found.add(position)
    return frozenset(found)


class _CheckedExchange(msgspec.Struct, frozen=True):
    """A request with its accesses and names, and its decoded response."""

    accesses: Sequence[Access]
    names: ResourceNames
    frame: bytes | None
    version: int
    response: Any
    release: str


def find_unused_actions(
    accesses: Sequence[Access],
    names: ResourceNames,
    frame: bytes | None,
    response: Response | None,
    release: str,
) -> frozenset[str]:
    """Return the actions whose decisions, as the response shows, the broker did not use."""
    if response is None:
        return frozenset()
    finders = []
    if response.api_key in _OPERATIONS_ON_TOPICS:
        finders.append(_find_unused_on_topics)
    elif response.api_key in _OFFSETS_OF_GROUP:
        finders.append(_find_topics_of_failed_group)
    elif response.api_key == ApiKey.METADATA and any(map(_is_creation, accesses)):
        finders.append(_unused_create_alternatives)
    elif all(_shows_in_each_element(access, release) for access in accesses):
        finders.append(_find_all_without_elements)
    if any(map(_is_on_nameless_topic, accesses)):
        finders.append(_find_unknown_topic_ids)
    decoded = decode_response_entry(response) if finders else None
    if decoded is None:
        return frozenset()
    exchange = _CheckedExchange(accesses, names, frame, response.api_version, decoded, release)
    return frozenset(chain.from_iterable(find(exchange) for find in finders))


def _find_unused_on_topics(exchange: _CheckedExchange) -> Iterator[str]:
    """Yield what CreateTopics and DeleteTopics did not use.

    A broker looks for a topic before it uses the decision about DELETE, shows no settings of a
    topic that it did not create, and creates no topic that the request names twice.
    """
    api_key = exchange.accesses[0].api_key
    operation = _OPERATIONS_ON_TOPICS[api_key]
    for name, codes in error_codes_by_name(exchange.response).items():
        if isinstance(name, str) and (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION in codes
            if operation is Operation.DELETE
            else codes or exchange.version < _CREATED_WITH_SETTINGS
        ):
            yield format_alternative(operation, ResourceType.TOPIC, name)
    for name, times in Counter(exchange.names.topics).items():
        if times > 1 and api_key == ApiKey.CREATE_TOPICS:
            yield format_alternative(Operation.CREATE, ResourceType.TOPIC, name)
    if operation is Operation.DELETE and all(
        element.error_code in _UNDELETABLE for element in exchange.response.responses
    ):
        yield format_alternative(operation, ResourceType.CLUSTER, CLUSTER_NAME)


def _find_unknown_topic_ids(exchange: _CheckedExchange) -> Iterator[str]:
    """Yield the actions on the empty name, for which brokers ask about a topic id without a topic.
    The response says that the id is unknown, whatever the decision.
    """
    if ErrorCode.UNKNOWN_TOPIC_ID in nonzero_error_codes(exchange.response, exchange.version):
        yield from map(action_text, filter(_is_on_nameless_topic, exchange.accesses))


def _unused_create_alternatives(exchange: _CheckedExchange) -> Iterator[str]:
    """Yield CREATE of the topics in a Metadata response that exist, or cannot be described."""
    denied = {
        access.resource_name
        for access in exchange.accesses
        if access.operation == Operation.DESCRIBE and not access.allowed
    }
    for name, codes in error_codes_by_name(exchange.response).items():
        if isinstance(name, str) and (not codes or name in denied):
            yield format_alternative(Operation.CREATE, ResourceType.TOPIC, name)


def _find_topics_of_failed_group(exchange: _CheckedExchange) -> Iterator[str]:
    """Yield the actions on topics if the response has only the error of the group.

    Up to 4.1, a broker looks for the group of DeleteShareGroupOffsets only if a topic is allowed.
    """
    groups = facts_of_release(exchange.release).groups
    is_looked_up = groups.share_offset_deletion_always_checks_group or (
        exchange.accesses[0].api_key != ApiKey.DELETE_SHARE_GROUP_OFFSETS
    )
    if exchange.response.error_code and is_looked_up:
        for access in exchange.accesses:
            if access.resource_type == ResourceType.TOPIC:
                yield action_text(access)


def _find_all_without_elements(exchange: _CheckedExchange) -> Iterator[str]:
    """Yield all actions if neither request nor response has an element, which a denial would
    fail.
    """
    request = _read_request_or_none(exchange.frame)
    if (
        request is not None
        and not _has_elements(request)
        and not has_error_codes_of_elements(exchange.response)
    ):
        yield from map(action_text, exchange.accesses)


def _has_elements(request: msgspec.Struct) -> bool:
    """Return whether a list of a request has an element; null stands for all."""
    lists = (name for name, hint in type(request).__annotations__.items() if "list[" in str(hint))
    return any(getattr(request, name) != [] for name in lists)


def _is_on_nameless_topic(access: Access) -> bool:
    return access.resource_type == ResourceType.TOPIC and not access.resource_name


def _is_creation(access: Access) -> bool:
    return access.operation == Operation.CREATE


def _shows_in_each_element(access: Access, release: str) -> bool:
    key = (access.api_key, access.operation, access.resource_type)
    return key in _accesses_in_each_element(access.api_version, release)


@cache
def _accesses_in_each_element(version: int, release: str) -> frozenset[tuple[int, int, int]]:
    """Return the accesses whose denial shows in each element of a response of this version."""
    bound_by_row = bound_requirements(release)
    return frozenset(
        (row.api, need.operation, need.resource_type)
        for row in _ON_EACH_ELEMENT
        if bound_by_row[row].is_checked_in_version(version)
        and bound_by_row[row].effect_in_version(version) is DenialEffect.EACH
        for need in bound_by_row[row].needs
    )


class FilteredList(msgspec.Struct, frozen=True):
    """The names in a list; `is_complete`: all that exist are, except those that were denied."""

    names: frozenset[str]
    is_complete: bool

    def role_of_access(self, access: Access) -> str:
        """Return the role of an access that decided what the list shows."""
        if access.resource_type == ResourceType.CLUSTER:  # denied: there was nothing to list
            return LISTED if access.allowed and self.names else POSSIBLE
        if access.resource_name in self.names:
            return LISTED
        if access.allowed:
            return UNSHOWN if access.api_key in _PAGED_LISTS else POSSIBLE
        return LISTED if self.is_complete else UNSHOWN

    def cluster_alternatives(self) -> list[str]:
        """Return the accesses that together show the same names as one to the cluster."""
        return sorted(
            format_alternative(Operation.DESCRIBE, ResourceType.GROUP, name) for name in self.names
        )


def read_filtered_list(
    api_key: int, frame: bytes | None, response: Response | None, release: str
) -> FilteredList | None:
    """Return the list in a response; None if the response cannot be read or has no such list."""
    requirement = _FILTERED_LISTS.get(ApiKey(api_key))
    request = None if requirement is None else _read_request_or_none(frame)
    decoded = None if response is None else decode_response_entry(response)
    if requirement is None or request is None or decoded is None:
        return None
    bound = bound_requirements_by_id(release)[requirement]
    return FilteredList(
        frozenset(checked_names_in_response(bound, decoded)),
        is_complete_list(requirement, request, decoded),
    )


def list_role(access: Access, shown: FilteredList | None) -> str:
    """Return the role of an access that decided what a list shows."""
    if access.api_key not in (*_FILTERED_LISTS, *_UNSHOWN_LISTS):
        return LISTED
    return UNSHOWN if shown is None else shown.role_of_access(access)


def action_text(access: Access) -> str:
    """Return the action of an access as an entry of the column `instead`."""
    kinds = Operation(access.operation), ResourceType(access.resource_type)
    return format_alternative(*kinds, access.resource_name)


def _read_request_or_none(frame: bytes | None) -> Any:
    if frame is None:
        return None
    try:
        return read_request_frame(frame)[1]
    except ProtocolError:
        return None
