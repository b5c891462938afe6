"""Brokers that scenarios are played on: here the real one, behind a socket."""

import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from kafka_shim.protocol import codecs
from kafka_shim.protocol.api_versions import parse_release, served
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.headers import RequestHeader, read_response_header, write_request_header
from kafka_shim.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

CLOSED = "closed"
NO_ANSWER = "no answer"
"""A real broker failed without a word, or wrote what cannot be read."""
SILENT = "silent"
CLIENT_ID = "answers"
CLEANING_SECONDS = 2.5
"""A cleaner that looks every 200 ms (log.cleaner.backoff.ms) has been everywhere by then."""


class Peer(Protocol):
    """What a scenario needs of a broker; it is asked as a super user."""

    release: str

    def versions(self, api: ApiKey) -> range: ...
    def create(self, topic: str, partitions: int, configs: dict[str, str]) -> bytes: ...
    def ask(self, api: ApiKey, version: int, request: Any) -> Any: ...
    def ask_silently(self, api: ApiKey, version: int, request: Any) -> str: ...
    def pause(self, milliseconds: int) -> None: ...
    def compact(self, topic: str, roll: Callable[[], None]) -> None: ...


class RealBroker:
    """A broker on a plaintext port of this machine."""

    def __init__(self, release: str, port: int) -> None:
        self.release = release
        self._port = port
        self._socket: socket.socket | None = None
        self._correlation_id = 0
        self._warm()

    def versions(self, api: ApiKey) -> range:
        return versions(self.release, api)

    def create(self, topic: str, partitions: int, configs: dict[str, str]) -> bytes:
        entries = [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]
        wanted = CreatableTopic(
            name=topic, num_partitions=partitions, replication_factor=1, configs=entries
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=10_000)
        answer = self.ask(ApiKey.CREATE_TOPICS, self.versions(ApiKey.CREATE_TOPICS)[-1], request)
        assert answer.topics[0].error_code in (0, 36), answer
        for _ in range(200):
            described = self._described(topic)
            if described.error_code == 0 and len(described.partitions) == partitions:
                leads = all(partition.leader_id >= 0 for partition in described.partitions)
                if leads and self._is_led(topic, partitions):
                    topic_id: bytes = described.topic_id
                    return topic_id
            time.sleep(0.05)
        raise AssertionError(f"{topic} does not come up")

    def _is_led(self, topic: str, partitions: int) -> bool:
        """Whether the broker knows that it leads, a little later than Metadata says so."""
        rows = [ListOffsetsPartition(index, timestamp=-1) for index in range(partitions)]
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(topic, rows)])
        answer = self.ask(ApiKey.LIST_OFFSETS, 1, request)
        return all(row.error_code == 0 for row in answer.topics[0].partitions)

    def _described(self, topic: str) -> Any:
        version = min(8, self.versions(ApiKey.METADATA)[-1])
        if self.versions(ApiKey.METADATA)[-1] >= 10:
            version = 10
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        return self.ask(ApiKey.METADATA, version, request).topics[0]

    def ask(self, api: ApiKey, version: int, request: Any) -> Any:
        try:
            self._send(api, version, request)
            frame = self._frame()
        except (ConnectionError, TimeoutError) as error:
            self._socket = None
            if isinstance(error, TimeoutError):
                return NO_ANSWER
            return CLOSED
        _, at = read_response_header(api, version, frame)
        try:
            return codecs.read_response(api, version, frame, at)
        except DecodeError:
            return NO_ANSWER

    def ask_silently(self, api: ApiKey, version: int, request: Any) -> str:
        """Send what has no answer; the next request tells whether the connection lives."""
        self._send(api, version, request)
        time.sleep(0.2)
        request = codecs.read_request(ApiKey.API_VERSIONS, 0, b"", 0)
        return CLOSED if self.ask(ApiKey.API_VERSIONS, 0, request) == CLOSED else SILENT

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        """Have partition 0 of a topic cleaned, once `roll` has begun a new segment."""
        roll()
        time.sleep(CLEANING_SECONDS)

    def _send(self, api: ApiKey, version: int, request: Any) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=4)
        self._correlation_id += 1
        header = RequestHeader(api, version, self._correlation_id, CLIENT_ID)
        payload = write_request_header(header) + codecs.write_request(request, version)
        self._socket.sendall(len(payload).to_bytes(4, "big") + payload)

    def _frame(self) -> bytes:
        size = int.from_bytes(self._exactly(4), "big")
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        assert self._socket is not None
        parts = []
        while size:
            part = self._socket.recv(size)
            if not part:
                raise ConnectionError("hung up")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _warm(self) -> None:
        """Wait until both coordinators answer."""
        for _ in range(300):
            codes = [self._coordinator_code(key_type) for key_type in (0, 1)]
            request = InitProducerIdRequest(transactional_id="warm", transaction_timeout_ms=60_000)
            version = min(4, self.versions(ApiKey.INIT_PRODUCER_ID)[-1])
            answer = self.ask(ApiKey.INIT_PRODUCER_ID, version, request)
            if codes == [0, 0] and not isinstance(answer, str) and answer.error_code == 0:
                return
            time.sleep(0.1)
        raise AssertionError("the coordinators do not come up")

    def _coordinator_code(self, key_type: int) -> int:
        version = min(3, self.versions(ApiKey.FIND_COORDINATOR)[-1])
        request = FindCoordinatorRequest(key="warm", key_type=key_type)
        answer = self.ask(ApiKey.FIND_COORDINATOR, version, request)
        return -1 if isinstance(answer, str) else int(answer.error_code)


def versions(release: str, api: ApiKey) -> range:
    ranges = served(parse_release(release))
    if api not in ranges:
        return range(0)
    low, high = ranges[api]
    return range(low, high + 1)
