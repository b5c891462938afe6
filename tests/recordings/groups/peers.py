"""Brokers that group scenarios are played on: a real one behind sockets, or the shim in process.

A scenario has several connections, by name; the name is also the client id.
"""

import select
import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from kafka_shim.protocol import codecs
from kafka_shim.protocol.api_versions import parse_release, served
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, read_response_header, write_request_header
from kafka_shim.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.dispatch import Pending
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.wait import NoAnswer
from tests.shim.play import ADMIN, LISTENER, Stage

CLOSED = "closed"
READS_COMMITTED = frozenset(
    {
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_DESCRIBE,
    }
)
"""What a new coordinator answers from its log, which is a little behind."""
WAITS = "waits"
STEP_MS = 50
CLEANING_SECONDS = 2.5
"""A cleaner that looks every 200 ms (log.cleaner.backoff.ms) has been everywhere by then."""


class Peer(Protocol):
    """What a scenario needs of a broker; it is asked as a super user."""

    release: str

    def versions(self, api: ApiKey) -> range: ...
    def create(self, topics: list[str], partitions: int) -> dict[str, bytes]: ...
    def delete(self, topic: str) -> None: ...
    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None: ...
    def receive(self, connection: str, patience_ms: int) -> Any: ...
    def hang_up(self, connection: str) -> None: ...
    def pause(self, milliseconds: int) -> None: ...
    def compact(self, topic: str, roll: Callable[[], None]) -> None: ...


class InProcess:
    """The shim; its time is moved by hand."""

    def __init__(self, release: str, **settings: Any) -> None:
        self.release = release
        self.stage = Stage(release, **settings)
        self._sessions: dict[str, Session] = {}
        self._answers: dict[str, tuple[ApiKey, int, bytes | Pending | str]] = {}

    def versions(self, api: ApiKey) -> range:
        return _versions(self.release, api)

    def create(self, topics: list[str], partitions: int) -> dict[str, bytes]:
        return {name: self.stage.topic(name, partitions).topic_id for name in topics}

    def delete(self, topic: str) -> None:
        self.stage.cluster.topics.delete(topic)

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None:
        session = self._sessions.get(connection)
        if session is None:
            session = Session(LISTENER, 1, "127.0.0.1", 50_000 + len(self._sessions))
            session.principal = ADMIN
            session.phase = Phase.READY
            self._sessions[connection] = session
        head = write_request_header(RequestHeader(api, version, 7, connection))
        frame = head + codecs.write_request(request, version)
        answer: bytes | Pending | str
        try:
            found = self.stage.dispatcher.dispatch(frame, session)
            assert not isinstance(found, NoAnswer)
            answer = found
        except CloseConnection:
            answer = CLOSED
        self._answers[connection] = api, version, answer

    def receive(self, connection: str, patience_ms: int) -> Any:
        api, version, answer = self._answers[connection]
        if isinstance(answer, str):
            return answer
        if isinstance(answer, Pending):
            for _ in range(0, patience_ms, STEP_MS):
                if not answer.wait.is_done:
                    self.stage.clock.advance(STEP_MS)
            return self.stage.outcome(api, version, answer) if answer.wait.is_done else WAITS
        return self.stage.read(api, version, answer)

    def hang_up(self, connection: str) -> None:
        _, _, answer = self._answers.pop(connection)
        if isinstance(answer, Pending):
            answer.wait.cancel()
        session = self._sessions.pop(connection)
        self.stage.cluster.disconnected(session.node_id, session)

    def pause(self, milliseconds: int) -> None:
        self.stage.clock.advance(milliseconds)

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        self.stage.compact(topic)
        roll()


class RealBroker:
    """A broker on a plaintext port of this machine."""

    def __init__(self, release: str, port: int) -> None:
        self.release = release
        self._port = port
        self._sockets: dict[str, socket.socket] = {}
        self._expected: dict[str, tuple[ApiKey, int]] = {}
        self._warm()

    def versions(self, api: ApiKey) -> range:
        return _versions(self.release, api)

    def create(self, topics: list[str], partitions: int) -> dict[str, bytes]:
        wanted = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
            for name in topics
        ]
        self._ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=wanted, timeout_ms=10_000))
        for _ in range(200):
            found = self._metadata(topics)
            if all(_is_up(topic, partitions) for topic in found):
                time.sleep(0.8)  # coordinators may know a little later than Metadata
                return {topic.name: topic.topic_id for topic in found}
            time.sleep(0.05)
        raise AssertionError(f"{topics} do not come up")

    def delete(self, topic: str) -> None:
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=10_000)
        if self.versions(ApiKey.DELETE_TOPICS)[-1] >= 6:
            request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=10_000)
        self._ask(ApiKey.DELETE_TOPICS, request)
        time.sleep(2)

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None:
        if api in READS_COMMITTED:
            time.sleep(0.2)
        if connection not in self._sockets:
            address = ("127.0.0.1", self._port)
            self._sockets[connection] = socket.create_connection(address, timeout=5)
        head = write_request_header(RequestHeader(api, version, 7, connection))
        payload = head + codecs.write_request(request, version)
        self._sockets[connection].sendall(len(payload).to_bytes(4, "big") + payload)
        self._expected[connection] = api, version

    def receive(self, connection: str, patience_ms: int) -> Any:
        connected = self._sockets[connection]
        api, version = self._expected[connection]
        if not select.select([connected], [], [], patience_ms / 1000)[0]:
            return WAITS
        try:
            size = int.from_bytes(_exactly(connected, 4), "big")
            frame = _exactly(connected, size)
        except ConnectionError:
            self._sockets.pop(connection).close()
            return CLOSED
        _, at = read_response_header(api, version, frame)
        return codecs.read_response(api, version, frame, at)

    def hang_up(self, connection: str) -> None:
        self._sockets.pop(connection).close()

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        """Have partition 0 of a topic cleaned, once `roll` has begun a new segment."""
        roll()
        time.sleep(CLEANING_SECONDS)

    def _ask(self, api: ApiKey, request: Any, at_most: int = 99) -> Any:
        version = min(at_most, self.versions(api)[-1])
        self.send("set-up", api, version, request)
        return self.receive("set-up", 10_000)

    def _metadata(self, topics: list[str]) -> list[Any]:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics])
        found: list[Any] = self._ask(ApiKey.METADATA, request).topics
        return found

    def _warm(self) -> None:
        """Wait until the coordinators answer."""
        producer = InitProducerIdRequest(transactional_id="warm", transaction_timeout_ms=60_000)
        for _ in range(300):
            codes = [
                self._ask(
                    ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key="warm", key_type=kind), 3
                ).error_code
                for kind in (0, 1)
            ]
            codes.append(self._ask(ApiKey.INIT_PRODUCER_ID, producer, 4).error_code)
            if codes == [0, 0, 0] and self._shares():
                time.sleep(3)  # until every partition of the offsets topic has been loaded
                return
            time.sleep(0.1)
        raise AssertionError("the coordinators do not come up")

    def _shares(self) -> bool:
        """Whether share partitions have a coordinator, where the broker knows them."""
        if not self.versions(ApiKey.SHARE_GROUP_DESCRIBE):
            return True
        key = "warm:AAAAAAAAAAAAAAAAAAAAAQ:0"
        request = FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
        found = self._ask(ApiKey.FIND_COORDINATOR, request)
        return found.coordinators[0].error_code != 15


def _is_up(topic: Any, partitions: int) -> bool:
    leaders = [partition.leader_id >= 0 for partition in topic.partitions]
    return topic.error_code == 0 and len(leaders) == partitions and all(leaders)


def _exactly(connected: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connected.recv(size)
        if not part:
            raise ConnectionError("hung up")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _versions(release: str, api: ApiKey) -> range:
    """As the release's table has it, but for 4.0.0, which refused the oldest of JoinGroup."""
    ranges = served(parse_release(release))
    if release == "4.0.0" and api is ApiKey.JOIN_GROUP:
        return range(2, ranges[api][1] + 1)
    if api not in ranges:
        return range(0)
    low, high = ranges[api]
    return range(low, high + 1)
