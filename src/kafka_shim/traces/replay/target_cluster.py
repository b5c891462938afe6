"""The target of a replay as one cluster: sends requests to brokers, and completes responses."""

import time
from contextlib import suppress
from functools import lru_cache
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, write_request_header
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.protocol.messages.fetch import FetchPartition
from kafka_shim.trace_format.entries import (
    Response,
    decode_request,
    decode_response,
    decode_response_entry,
)
from kafka_shim.traces.identities.message_fields import COORDINATOR_APIS
from kafka_shim.traces.replay.acl_changes import ReplayedAclChange
from kafka_shim.traces.replay.asking_again import (
    Attempts,
    ErrorRetries,
    RetryLimits,
    RoutedRequest,
    keys_of_request,
)
from kafka_shim.traces.replay.error_codes import is_coordinator_elsewhere
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.fetch_sessions import SHARE_APIS, FullFetches, sessionless_request
from kafka_shim.traces.replay.replay_connection import InFlightRequest, ReplayConnection
from kafka_shim.traces.replay.report import ReplayReport
from kafka_shim.traces.replay.request_parts import (
    LEADER_APIS,
    LISTS_OF_BROKERS,
    coordinated_rows,
)
from kafka_shim.traces.replay.routing import Parts, RequestRouter, merge_frames
from kafka_shim.traces.replay.target import Target
from kafka_shim.traces.replay.target_connection import (
    Address,
    ConnectionLostError,
    TargetConnector,
)
from kafka_shim.traces.replay.topology import TargetTopology

SETTLE_S = 3.0
"""How long after a change each broker of the target may still respond without it."""
ACL_S = 5.0
"""How long a change of ACLs is waited for, on each broker."""

_TOPOLOGY_APIS = frozenset(
    {ApiKey.METADATA, ApiKey.FIND_COORDINATOR, ApiKey.DESCRIBE_CLUSTER, ApiKey.API_VERSIONS}
)
_LATE_CHANGES = frozenset(
    {
        ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS,
        ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS, ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.UPDATE_FEATURES, ApiKey.END_TXN,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.ELECT_LEADERS, ApiKey.METADATA,
    }
)  # fmt: skip
"""Requests whose effect comes after the response; Metadata may create topics."""


class TargetCluster:
    """Sends requests to the right brokers of the target, and completes their responses."""

    def __init__(self, target: Target) -> None:
        self.topology = TargetTopology()
        self.limits = RetryLimits(target.timeout_s)
        self.connector = TargetConnector(target.config, target.timeout_s)
        self._target = target
        self._router = RequestRouter(self.topology)
        self.retries = ErrorRetries(self._router, self.limits)
        self._full_fetches = FullFetches()
        self._recorded_coordinators: dict[tuple[int, str], int] = {}
        self._recorded_broker_count = 0
        self._learned: dict[tuple[str, int], tuple[bytes, bytes, bytes]] = {}
        self.is_resumed = False
        """Whether the target's fetch sessions are lost."""

    def learn_versions(self) -> None:
        """Ask the target which versions it supports; if it does not say, they stay unknown."""
        try:
            connection = self.connector.open(self._target.address)
        except ConnectionLostError:
            return  # each request says so
        try:
            self._router.ask_versions(connection)
        except ConnectionLostError:
            pass
        finally:
            connection.close()

    def default_address(self, event: Event) -> Address:
        """Return the broker for requests that any broker can respond to.

        That is the one with the recorded broker's id, if there is one and it can be reached.
        """
        routes, known = self._target.routes, self.topology.addresses(event.listener)
        address = (
            routes.get(str(event.node_id))
            or known.get(event.node_id)
            or routes.get(event.listener)
            or self._target.address
        )
        if self.connector.is_unreachable(address):
            others = (each for each in known.values() if not self.connector.is_unreachable(each))
            return next(others, address)
        return address

    def attempts(
        self, connection: ReplayConnection, event: Event, header: RequestHeader, message: Any
    ) -> Attempts:
        """Return the attempts to get a request answered; the message is None if it is unknown."""

        def refresh() -> None:
            self.is_resumed = True
            default = self.default_address(event)
            keys = () if message is None else keys_of_request(header.api_key, message)
            with suppress(ConnectionLostError):
                routed = RoutedRequest(event.listener, default, header, message)
                if self._router.is_routed(event.listener, header.api_key):
                    self.retries.refresh(connection, routed, keys)

        return Attempts(self.retries, self.connector, connection, refresh)

    def receive_parts(self, connection: ReplayConnection, request: InFlightRequest) -> list[bytes]:
        """Return the response of each broker; a part whose connection was lost is sent again.

        Raise ConnectionLostError if that fails, too.
        """
        frames = []
        for target, sent in request.parts:
            try:
                frames.append(target.receive_response(sent))
                connection.is_rejected = False
            except ConnectionLostError as error:
                header, message = decode_request(sent.frame)
                attempts = self.attempts(connection, request.event, header, message)
                attempts.wait(error)
                request.is_repeated = True
                frames.append(
                    self._exchange(connection, request.event, header, message, attempts=attempts)
                )
        return frames

    def parts(self, event: Event, header: RequestHeader, frame: bytes, at: int) -> Parts:
        """Return the brokers that a request is for, and the request for each of them."""
        default = self.default_address(event)
        if not self._router.is_routed(event.listener, header.api_key):
            return [(default, frame)]
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError:
            return [(default, frame)]
        if header.api_key in SHARE_APIS:
            self._router.share_sessions.note(message)
        return self._router.parts(event.listener, default, header, message)

    def without_session(self, event: Event, header: RequestHeader, frame: bytes, at: int) -> bytes:
        """Return a recorded Fetch request as one for all partitions, if several brokers get it."""
        if header.api_key != ApiKey.FETCH or not (
            self.is_resumed or self._router.is_routed(event.listener, header.api_key)
        ):
            return frame
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError:
            return frame
        message = self._full_fetches.without_session(event.connection_id, message)
        return write_request_header(header) + codecs.write_request(message, header.api_version)

    def reduce_replication_factors(
        self, header: RequestHeader, frame: bytes, at: int, report: ReplayReport
    ) -> bytes:
        """Return a CreateTopics request with as many replicas as the target has brokers."""
        brokers = self.topology.broker_count
        if header.api_key != ApiKey.CREATE_TOPICS or not brokers:
            return frame
        if brokers >= self._recorded_broker_count:
            return frame
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError:
            return frame
        reduced = 0
        for topic in message.topics:
            if topic.replication_factor > brokers:
                topic.replication_factor = brokers
                reduced += 1
            if topic.assignments:
                topic.num_partitions = len(topic.assignments)
                topic.replication_factor = min(brokers, len(topic.assignments[0].broker_ids))
                topic.assignments = []
                reduced += 1
        if not reduced:
            return frame
        report.reduced_topics += reduced
        return write_request_header(header) + codecs.write_request(message, header.api_version)

    def merge_response(self, request: InFlightRequest, frames: list[bytes]) -> bytes:
        """Return the responses of several brokers as one."""
        if len(frames) == 1:
            return frames[0]
        return merge_frames(read_request_header(request.frame)[0], frames)

    def complete_response(
        self,
        connection: ReplayConnection,
        request: InFlightRequest,
        entry: Response,
        frames: list[bytes],
    ) -> bytes:
        """Return the response to a request, without errors after which clients ask again.

        Raise ConnectionLostError if a connection ends.
        """
        frame = self.merge_response(request, frames)
        key, event = entry.api_key, request.event
        if key in LEADER_APIS:
            has_retries = self.limits.is_settling or self._router.is_routed(event.listener, key)
        else:
            has_retries = key in COORDINATOR_APIS and is_coordinator_elsewhere(entry, frame)
        if has_retries and frame != entry.frame:
            header, message = decode_request(request.frame)
            if message is not None:
                routed = RoutedRequest(event.listener, self.default_address(event), header, message)
                frame = self.retries.complete(connection, routed, frame, entry.frame)
        if key in _TOPOLOGY_APIS:
            learned = request.frame[8:], entry.frame[4:], frame[4:]
            if self._learned.get((event.listener, key)) != learned:
                self._learned[event.listener, key] = learned
                self._learn_topology(request, entry, frame)
        if key in LISTS_OF_BROKERS:
            frame = self._filter_own_rows(event, request, entry, frame)
        self._begin_settling(key, request)
        return frame

    def send_again(
        self, connection: ReplayConnection, request: InFlightRequest, entry: Response
    ) -> bytes:
        """Send a request again, and return the response. Raise ConnectionLostError as above."""
        header, message = decode_request(request.frame)
        frame = self._exchange(connection, request.event, header, message)
        if entry.api_key in LISTS_OF_BROKERS:
            return self._filter_own_rows(request.event, request, entry, frame)
        return frame

    def _exchange(
        self,
        connection: ReplayConnection,
        event: Event,
        header: RequestHeader,
        message: Any,
        attempts: Attempts | None = None,
    ) -> bytes:
        attempts = attempts or self.attempts(connection, event, header, message)
        while True:
            default = self.default_address(event)
            parts = self._router.parts(event.listener, default, header, message)
            try:
                frames = [
                    connection.target_connection(address).exchange(frame)
                    for address, frame in parts
                ]
            except ConnectionLostError as error:
                attempts.wait(error)
            else:
                attempts.end()
                return merge_frames(header, frames)

    def exchange(
        self, connection: ReplayConnection, event: Event, header: RequestHeader, message: Any
    ) -> bytes:
        """Send a request that the recording does not have, again after retriable errors.

        Return the response. Raise ConnectionLostError as above.
        """
        frame = self._exchange(connection, event, header, message)
        routed = RoutedRequest(event.listener, self.default_address(event), header, message)
        return self.retries.complete(connection, routed, frame, b"")

    def fetch_again(
        self,
        connection: ReplayConnection,
        event: Event,
        header: RequestHeader,
        message: Any,
        offsets: dict[tuple[str | bytes, int], int],
    ) -> Any:
        """Return the response to a Fetch request for the records from these offsets on.

        None if it cannot be decoded. Raise ConnectionLostError as above.
        """
        rows = [
            (topic, FetchPartition(number, fetch_offset=offset, partition_max_bytes=1 << 20))
            for (topic, number), offset in offsets.items()
        ]
        again = sessionless_request(message, rows)
        again.max_wait_ms, again.min_bytes = 200, 1
        frame = self._exchange(connection, event, header, again)
        return decode_response(header.api_key, header.api_version, frame)

    def await_acl_change(
        self, connection: ReplayConnection, event: Event, change: ReplayedAclChange
    ) -> None:
        """Wait until each broker has applied a change of ACLs, as far as they can be asked."""
        addresses = {*self.topology.addresses(event.listener).values(), self.default_address(event)}
        for address in addresses:
            try:
                target = connection.target_connection(address)
                change.await_application(target, min(ACL_S, self._target.timeout_s))
            except ConnectionLostError:  # the change is waited for, and not the broker
                continue

    def _learn_topology(self, request: InFlightRequest, entry: Response, frame: bytes) -> None:
        header, message = decode_request(request.frame)
        response = decode_response(entry.api_key, entry.api_version, frame)
        if response is None:
            return
        self.topology.learn(request.event.listener, entry.api_key, message, response)
        recorded = decode_response_entry(entry)
        if recorded is None:
            return
        if entry.api_key == ApiKey.METADATA:
            self._recorded_broker_count = max(self._recorded_broker_count, len(recorded.brokers))
        elif entry.api_key == ApiKey.FIND_COORDINATOR and message is not None:
            found = TargetTopology()
            found.learn(request.event.listener, header.api_key, message, recorded)
            self._recorded_coordinators |= found.coordinators

    def _filter_own_rows(
        self, event: Event, request: InFlightRequest, entry: Response, frame: bytes
    ) -> bytes:
        """Return a list of all brokers without what other recorded brokers coordinated."""
        if self._recorded_broker_count <= 1:
            return frame
        key, version = entry.api_key, entry.api_version
        recorded = decode_response_entry(entry)
        response = decode_response(key, version, frame)
        if recorded is None or response is None:
            return frame
        listed = {name for name, _ in coordinated_rows(key, recorded)}
        rows = [
            row
            for name, row in coordinated_rows(key, response)
            if name in listed or self._recorded_coordinators.get(name) == event.node_id
        ]
        setattr(response, LISTS_OF_BROKERS[key].response_rows, rows)
        return write_response_frame(read_request_header(request.frame)[0], response)

    def _begin_settling(self, api_key: int, request: InFlightRequest) -> None:
        if api_key not in _LATE_CHANGES:
            return
        if api_key == ApiKey.METADATA:
            frame = request.frame  # without the correlation id, many are equal
            if not _may_create_topics(frame[:4] + bytes(4) + frame[8:]):
                return
        self.limits.settles_until = time.monotonic() + SETTLE_S


@lru_cache(maxsize=256)
def _may_create_topics(frame: bytes) -> bool:
    """Return whether a Metadata request creates the topics that it names, if they are missing."""
    message = decode_request(frame)[1]
    return message is not None and bool(message.topics) and message.allow_auto_topic_creation
