"""Sends requests to the brokers of a target that lead their partitions or coordinate their groups.

As a client does: by the target's own Metadata and FindCoordinator, wherever the recorded request
was sent.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.trace_format.entries import decode_response
from kafka_shim.traces.replay.fetch_sessions import SHARE_APIS, ShareSessions
from kafka_shim.traces.replay.request_parts import (
    COORDINATED_LISTS,
    LEADER_APIS,
    LISTS_OF_BROKERS,
    ROUTED_APIS,
    coordinated_keys,
    coordinator_key,
    merge_responses,
    request_partitions,
    select_keys,
    select_partitions,
)
from kafka_shim.traces.replay.target_connection import Address, TargetConnection
from kafka_shim.traces.replay.topology import TargetTopology, TopicKey

METADATA_VERSION_MAX, FIND_COORDINATOR_VERSION_MAX = 12, 3
_CLIENT_ID = "kafka-shim-replay"

Parts = list[tuple[Address, bytes]]
_Key = TypeVar("_Key")


class RequestRouter:
    """Knows which broker of the target a request is for."""

    def __init__(self, topology: TargetTopology) -> None:
        self.topology = topology
        self.share_sessions = ShareSessions()

    def is_routed(self, listener: str, api_key: int) -> bool:
        """Return whether the brokers for a request, or its parts, depend on its content."""
        if api_key in SHARE_APIS:
            return True
        return api_key in ROUTED_APIS and self.topology.has_several_brokers(listener)

    def parts(self, listener: str, default: Address, header: RequestHeader, message: Any) -> Parts:
        """Return the requests for each broker; what is for no known broker goes to `default`."""
        api_key = header.api_key
        addresses = self.topology.addresses(listener)
        if api_key in LISTS_OF_BROKERS:
            frame = _request_frame(header, message)
            return [(address, frame) for address in addresses.values()] or [(default, frame)]

        def address_of(node_id: int | None) -> Address:
            return default if node_id is None else addresses.get(node_id, default)

        if api_key in LEADER_APIS:
            leaders = self.topology.leaders
            partitions = ((topic, at) for topic, at, _ in request_partitions(api_key, message))
            by_leader = _group_by_address(partitions, lambda key: address_of(leaders.get(key)))
            if api_key in SHARE_APIS:
                selected = {
                    address: select_partitions(api_key, message, keys)
                    for address, keys in by_leader.items()
                }
                requests = self.share_sessions.requests(message, selected, default)
                return [(address, _request_frame(header, part)) for address, part in requests]
            if len(by_leader) > 1:
                return [
                    (address, _request_frame(header, select_partitions(api_key, message, keys)))
                    for address, keys in by_leader.items()
                ]
            return [(next(iter(by_leader), default), _request_frame(header, message))]
        coordinators = self.topology.coordinators
        key = coordinator_key(api_key, message)
        if key is None and api_key in COORDINATED_LISTS:
            by_coordinator = _group_by_address(
                coordinated_keys(api_key, message), lambda key: address_of(coordinators.get(key))
            )
            return [
                (address, _request_frame(header, select_keys(api_key, message, keys)))
                for address, keys in by_coordinator.items()
            ] or [(default, _request_frame(header, message))]
        address = default if key is None else address_of(coordinators.get(key))
        return [(address, _request_frame(header, message))]

    def learn(self, listener: str, api_key: int, request: Any, response: Any) -> None:
        """Learn brokers, leaders and coordinators from a response of the target."""
        self.topology.learn(listener, api_key, request, response)

    def ask_versions(self, connection: TargetConnection) -> None:
        """Ask a broker for its versions. Raise ConnectionLostError if the connection ends."""
        self._ask(connection, "", ApiKey.API_VERSIONS, 0, ApiVersionsRequest())

    def ask_leaders(
        self, connection: TargetConnection, listener: str, topics: Iterable[TopicKey]
    ) -> None:
        """Ask a broker for the brokers, and for the leaders of these topics.

        Raise ConnectionLostError if the connection ends.
        """
        version = self._version(ApiKey.METADATA, METADATA_VERSION_MAX)
        rows = [
            MetadataRequestTopic(name=topic)
            if isinstance(topic, str)
            else MetadataRequestTopic(topic_id=topic, name=None)
            for topic in dict.fromkeys(topics)
            if isinstance(topic, str) or version >= METADATA_VERSION_MAX
        ]
        request = MetadataRequest(rows, allow_auto_topic_creation=False)
        if version:
            self._ask(connection, listener, ApiKey.METADATA, version, request)

    def ask_coordinators(
        self, connection: TargetConnection, listener: str, keys: Iterable[tuple[int, str]]
    ) -> None:
        """Ask a broker for coordinators. Raise ConnectionLostError if the connection ends."""
        version = self._version(ApiKey.FIND_COORDINATOR, FIND_COORDINATOR_VERSION_MAX)
        for key_type, key in keys:
            request = FindCoordinatorRequest(key=key, key_type=key_type)
            self._ask(connection, listener, ApiKey.FIND_COORDINATOR, version, request)

    def _ask(
        self, connection: TargetConnection, listener: str, api: ApiKey, version: int, request: Any
    ) -> None:
        frame = connection.exchange(
            _request_frame(RequestHeader(api, version, 0, _CLIENT_ID), request)
        )
        response = decode_response(api, version, frame)
        if response is not None:
            self.learn(listener, api, request, response)

    def _version(self, api: ApiKey, highest: int) -> int:
        return min(highest, self.topology.versions.get(api, (0, highest))[1])


def merge_frames(header: RequestHeader, frames: list[bytes]) -> bytes:
    """Return one response with the rows of several to parts of a request.

    If one cannot be decoded, it is the first.
    """
    if len(frames) == 1:
        return frames[0]
    responses = [decode_response(header.api_key, header.api_version, frame) for frame in frames]
    if None in responses:
        return frames[0]
    return write_response_frame(header, merge_responses(header.api_key, responses))


def _group_by_address(
    keys: Iterable[_Key], address_of: Callable[[_Key], Address]
) -> dict[Address, set[_Key]]:
    grouped: dict[Address, set[_Key]] = {}
    for key in keys:
        grouped.setdefault(address_of(key), set()).add(key)
    return grouped


def _request_frame(header: RequestHeader, message: Any) -> bytes:
    return write_request_header(header) + codecs.write_request(message, header.api_version)
