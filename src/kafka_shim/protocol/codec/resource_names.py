"""Reads only the names of resources in a request, without building the request.

It is for code that reads many requests and needs only their resources. Damage after the last name
is not noticed; an unreadable name is a DecodeError.
"""

from collections.abc import Callable
from functools import cache

import msgspec

from kafka_shim.protocol.codec.catalogue import api_name, message_spec_of_version
from kafka_shim.protocol.codec.codecs import message_reader
from kafka_shim.protocol.codec.message_spec import ZERO_UUID
from kafka_shim.protocol.codec.resource_names_source import name_lists, resource_names_source

_TRANSACTION_COORDINATOR = 1


class ResourceNames(msgspec.Struct, gc=False):
    """Names in the order of the request, including repeated ones; null names are left out.

    `topic_ids` are of 16 bytes, zero ids are left out; `config_resources` are pairs of a config
    resource type's code (2 topic, 4 broker, ...) and a name. Names in
    ACLs, and names of users, quotas and settings, are not resources that the request accesses.
    """

    topics: list[str] = []
    topic_ids: list[bytes] = []
    groups: list[str] = []
    transactional_ids: list[str] = []
    config_resources: list[tuple[int, str]] = []


NamesReader = Callable[[bytes, int], ResourceNames]


@cache
def names_reader(message_name: str, version: int) -> NamesReader:
    """Return `read(buf, pos) -> names` for a request by its full name, such as `FetchRequest`."""
    if message_name == "FindCoordinatorRequest":
        return _find_coordinator_names_reader(version)
    spec = message_spec_of_version(message_name, version)
    constants = {"ResourceNames": ResourceNames, "NOTHING": ZERO_UUID}
    return resource_names_source(spec, version, constants).compile(
        f"names reader of {message_name} v{version}"
    )


@cache
def names_in_requests(api_key: int, version: int) -> frozenset[str]:
    """Return the attributes of `ResourceNames` that requests of an API can fill."""
    message_name = f"{api_name(api_key)}Request"
    if message_name == "FindCoordinatorRequest":
        return frozenset({"groups", "transactional_ids"} if version else {"groups"})
    return name_lists(message_spec_of_version(message_name, version), version)


def read_resource_names(api_key: int, version: int, frame: bytes, pos: int) -> ResourceNames:
    """Return the names in the request whose body starts at `pos`."""
    return _request_names_reader(api_key, version)(frame, pos)


@cache
def _request_names_reader(api_key: int, version: int) -> NamesReader:
    return names_reader(f"{api_name(api_key)}Request", version)


def _find_coordinator_names_reader(version: int) -> NamesReader:
    """Return a reader that reads also the key type, which may follow the keys."""
    read = message_reader("FindCoordinatorRequest", version)

    def read_names(buf: bytes, pos: int) -> ResourceNames:
        request = read(buf, pos)
        keys = list(request.coordinator_keys) or [request.key]
        if request.key_type == _TRANSACTION_COORDINATOR:
            return ResourceNames(transactional_ids=keys)
        return ResourceNames(groups=keys)

    return read_names
