"""Reads only the names of resources in a request, without building the request.

It is for code that reads many requests and needs only their resources. Damage after the last name
is not noticed; an unreadable name is a DecodeError.
"""

from collections.abc import Callable
from functools import cache

import msgspec

from kafka_shim.protocol.codec.catalogue import api_name, definition
from kafka_shim.protocol.codec.codecs import reader
from kafka_shim.protocol.codec.message_spec import ZERO_UUID
from kafka_shim.protocol.codec.skim_source import skim_source

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


Skim = Callable[[bytes, int], ResourceNames]


@cache
def compile_skimmer(message: str, version: int) -> Skim:
    """Return `skim(buf, pos) -> names` for a request by its full name, such as `FetchRequest`."""
    if message == "FindCoordinatorRequest":
        return _coordinator_skimmer(version)
    spec = definition(message, version)
    constants = {"ResourceNames": ResourceNames, "NOTHING": ZERO_UUID}
    return skim_source(spec, version, constants).compile(f"skimmer of {message} v{version}")


def read_resource_names(api_key: int, version: int, frame: bytes, pos: int) -> ResourceNames:
    """Return the names in the request whose body starts at `pos`."""
    return _skimmer_of_request(api_key, version)(frame, pos)


@cache
def _skimmer_of_request(api_key: int, version: int) -> Skim:
    return compile_skimmer(f"{api_name(api_key)}Request", version)


def _coordinator_skimmer(version: int) -> Skim:
    """Return a skim that reads the key type, which may follow the keys."""
    read = reader("FindCoordinatorRequest", version)

    def skim(buf: bytes, pos: int) -> ResourceNames:
        request = read(buf, pos)
        keys = list(request.coordinator_keys) or [request.key]
        if request.key_type == _TRANSACTION_COORDINATOR:
            return ResourceNames(transactional_ids=keys)
        return ResourceNames(groups=keys)

    return skim
