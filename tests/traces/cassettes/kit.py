"""Records a story on a broker, and plays it back without sockets."""

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import (
    read_request_frame,
    read_response_with_version,
    write_response_frame,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.fetch import FetchRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.config import Config
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.traces.cassettes.playback_report import Mismatch, MismatchError
from kafka_shim.traces.cassettes.playback_state import PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.player import PlayedConnection
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from tests.shim.wire import SASL, Wire, connected, serving
from tests.support.record_requests import fetch_request, produce_request

Story = Callable[[Wire, Wire], Awaitable[None]]
"""Sends requests on two connections: of an anonymous client, and on the SASL listener."""


async def record(folder: Path, story: Story, **settings: Any) -> Path:
    """Return the trace of a story that a broker was told."""
    async with serving(**settings) as broker:
        broker.start_recording(folder)
        async with connected(broker) as wire, connected(broker, "SASL_PLAINTEXT") as sasl:
            await story(wire, sasl)
    return folder


class Playback:
    """A played trace, with one connection for each name."""

    def __init__(self, trace: Path, *, client_id: str = "wire", **options: Any) -> None:
        self.state = PlaybackState(TraceIndex(trace), PlaybackOptions(**options))
        self._client_id = client_id
        self._connections: dict[str, PlayedConnection] = {}

    @property
    def report(self) -> dict[str, Any]:
        return self.state.finished_report().json_fields()

    def connection(self, name: str) -> PlayedConnection:
        """Return a connection, which is opened if it is new."""
        if name not in self._connections:
            self._connections[name] = played_connection(self.state)
        return self._connections[name]

    def ask(self, api: ApiKey, version: int, message: Any, connection: str = "a") -> Any:
        """Return the response as the client reads it; a response that waits is waited for."""
        header = RequestHeader(api, version, 7, self._client_id)
        frame = write_request_header(header) + codecs.write_request(message, version)
        pending = self.connection(connection).respond(*read_request_frame(frame))
        while (response := pending.due_response()) is None:
            time.sleep(0.01)
        frame = write_response_frame(header, response.message)
        return read_response_with_version(api, version, frame)[0]

    def mismatch(self, api: ApiKey, version: int, message: Any, connection: str = "a") -> Mismatch:
        """Return why a request has no response."""
        try:
            response = self.ask(api, version, message, connection)
        except MismatchError as error:
            header = RequestHeader(api, version, 7, self._client_id)
            return self.connection(connection).describe(header, error)
        raise AssertionError(f"played: {response}")


def played_connection(state: PlaybackState, node_id: int = 1) -> PlayedConnection:
    """Return a new connection to a playback without sockets, on a listener with SASL."""
    cluster = Cluster(Config(listeners=(SASL,), users=dict(state.options.users)), SystemClock())
    cluster.nodes = {}  # clients get the recorded addresses
    return PlayedConnection(state, Session(SASL, node_id, "127.0.0.1", 1), cluster)


def new_topic(name: str, partitions: int = 1) -> CreateTopicsRequest:
    topic = CreatableTopic(name, num_partitions=partitions, replication_factor=1)
    return CreateTopicsRequest([topic], timeout_ms=1000)


def acl(name: str, operation: Operation = Operation.READ) -> CreateAclsRequest:
    place = (ResourceType.TOPIC, name, PatternType.LITERAL, "User:alice", "*")
    return CreateAclsRequest([AclCreation(*place, operation, Permission.ALLOW)])


def metadata(name: str) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False)


def records(topic: str, *pairs: tuple[bytes | None, bytes], partition: int = 0) -> ProduceRequest:
    """Return a request with one batch of keys and values."""
    batch = encode_batch([Record(n, 1_000 + n, *pair) for n, pair in enumerate(pairs)])
    return produce_request(topic, batch, indexes=[partition])


def fetch(topic: str, offset: int, partitions: Sequence[int] = (0,)) -> FetchRequest:
    return fetch_request(topic, offset=offset, indexes=partitions, max_wait_ms=20)


HANDSHAKE = SaslHandshakeRequest(mechanism="PLAIN")


def plain(user: str, password: str) -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode())
