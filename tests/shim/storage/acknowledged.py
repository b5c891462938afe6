"""What a client saw acknowledged, by a broker in its own process, and whether it is still there."""

import random
import socket
import subprocess
import time
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, IsolationLevel
from kafka_shim.protocol.headers import read_response_header
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch, iterate_batches
from tests.support.commands import SHIM
from tests.support.frames import request_frame, sized
from tests.support.record_requests import fetch_request, produce_request

VERSIONS = {
    ApiKey.PRODUCE: 9,
    ApiKey.FETCH: 11,
    ApiKey.METADATA: 9,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 7,
    ApiKey.CREATE_TOPICS: 5,
    ApiKey.CREATE_ACLS: 3,
    ApiKey.DESCRIBE_ACLS: 3,
}
START_S = 20
ALL_BYTES = 1 << 30
STATES = "states"
STATE_KEYS = 5


class Peer:
    """A client's connection to the broker."""

    def __init__(self, address: str) -> None:
        host, _, port = address.partition(":")
        self._socket = socket.create_connection((host, int(port)), 10)
        self._reader = self._socket.makefile("rb")

    def send(self, api: ApiKey, message: Any) -> None:
        version = VERSIONS[api]
        frame = request_frame(api, version, message, 1, "kills")
        self._socket.sendall(sized(frame))

    def receive(self, api: ApiKey) -> Any:
        """Return the next response; raise ConnectionError if the broker is gone."""
        size = self._reader.read(4)
        frame = self._reader.read(int.from_bytes(size, "big"))
        if len(size) < 4 or len(frame) < int.from_bytes(size, "big"):
            raise ConnectionError
        _, at = read_response_header(api, VERSIONS[api], frame)
        return codecs.read_response(api, VERSIONS[api], frame, at)

    def ask(self, api: ApiKey, message: Any) -> Any:
        self.send(api, message)
        return self.receive(api)

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


class Life:
    """Everything that was acknowledged: records, topics, ACLs, the last value of each key of the
    compacted topic `states`, and the last committed offset.
    """

    def __init__(self) -> None:
        self.records: set[int] = set()
        self.topics: set[str] = set()
        self.acls: set[str] = set()
        self.states: dict[int, int] = {}
        self.committed = -1

    def step(self, peer: Peer, numbers: Iterator[int], rng: random.Random) -> None:
        """Send some random requests at once, and note each acknowledged one."""
        self.send_all(peer, [(rng.choice(WORK), next(numbers)) for _ in range(rng.randint(1, 12))])

    def send_all(self, peer: Peer, sent: list[tuple[Any, int]]) -> None:
        """Send a request for each number, and note each acknowledged one."""
        for (api, make, _), number in sent:
            peer.send(api, make(number))
        for (api, _, name), number in sent:
            response = peer.receive(api)
            getattr(self, f"note_{name}")(number, response)

    def note_record(self, number: int, response: Any) -> None:
        assert response.responses[0].partition_responses[0].error_code == 0
        self.records.add(number)

    def note_state(self, number: int, response: Any) -> None:
        assert response.responses[0].partition_responses[0].error_code == 0
        self.states[number % STATE_KEYS] = number

    def note_offset(self, number: int, response: Any) -> None:
        assert response.topics[0].partitions[0].error_code == 0
        self.committed = number

    def note_topic(self, number: int, response: Any) -> None:
        assert response.topics[0].error_code == 0
        self.topics.add(f"t{number}")

    def note_acl(self, number: int, response: Any) -> None:
        assert response.results[0].error_code == 0
        self.acls.add(f"r{number}")


def _record(number: int) -> ProduceRequest:
    return produce_request("orders", _batch(None, number))


def _state(number: int) -> ProduceRequest:
    return produce_request(STATES, _batch(b"%d" % (number % STATE_KEYS), number))


def _batch(key: bytes | None, number: int) -> bytes:
    value = b"%d" % number
    return encode_batch([Record(offset=0, timestamp=0, key=key, value=value)], BatchOptions())


def _offset(number: int) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=number)
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    return OffsetCommitRequest(group_id="g", topics=[topic])


def _topic(number: int) -> CreateTopicsRequest:
    topic = CreatableTopic(f"t{number}", num_partitions=1, replication_factor=1)
    return CreateTopicsRequest([topic], timeout_ms=1000)


def _acl(number: int) -> CreateAclsRequest:
    return CreateAclsRequest([AclCreation(2, f"r{number}", 3, "User:a", "*", 3, 3)])


WORK = (
    (ApiKey.PRODUCE, _record, "record"),
    (ApiKey.PRODUCE, _record, "record"),
    (ApiKey.OFFSET_COMMIT, _offset, "offset"),
    (ApiKey.CREATE_TOPICS, _topic, "topic"),
    (ApiKey.CREATE_ACLS, _acl, "acl"),
)
WORK_WITH_STATES = (*WORK, (ApiKey.PRODUCE, _state, "state"))


def start_broker(
    folder: Path, *words: str, stderr: IO[str] | None = None
) -> tuple[subprocess.Popen[bytes], dict[str, str]]:
    """Start a broker with the data directory `folder/data`; return its addresses by name."""
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    options = ["--listener", "PLAINTEXT://127.0.0.1:0", "--super-user", "User:ANONYMOUS"]
    options += ["--topic", "orders", "--data-dir", str(folder / "data"), "-l", "error"]
    options += ["-c", "offsets.topic.num.partitions=1", "--ready-file", str(ready)]
    child = subprocess.Popen(
        [*SHIM, "serve", *options, *words], stdout=subprocess.DEVNULL, stderr=stderr
    )
    ends = time.monotonic() + START_S
    while not ready.exists():
        assert child.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.005)
    lines = ready.read_text().split()
    return child, dict(line.split("=", 1) for line in lines)


def what_is_missing(ask: Callable[[ApiKey, Any], Any], before: Life) -> list[str]:
    """Return what was acknowledged, and is not what a broker responds now."""
    records = _fetch_records(ask, "orders")
    missing = [] if [each.offset for each in records] == [*range(len(records))] else ["offsets"]
    missing += _lacking("record", before.records, {int(each.value or b"") for each in records})
    metadata = ask(ApiKey.METADATA, MetadataRequest(topics=None))
    missing += _lacking("topic", before.topics, {topic.name for topic in metadata.topics})
    described = ask(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest(2, None, 1, None, None, 1, 1))
    missing += _lacking("acl", before.acls, {each.resource_name for each in described.resources})
    if before.states:
        states = {
            int(each.key or b""): int(each.value or b"") for each in _fetch_records(ask, STATES)
        }
        missing += _lacking("state", before.states.items(), states.items())
    if before.committed >= 0:
        topic = OffsetFetchRequestTopic(name="orders", partition_indexes=[0])
        response = ask(ApiKey.OFFSET_FETCH, OffsetFetchRequest(group_id="g", topics=[topic]))
        if response.topics[0].partitions[0].committed_offset < before.committed:
            missing.append(f"committed offset {before.committed}")
    return missing


def _lacking(kind: str, expected: Iterable[Any], found: Container[Any]) -> list[str]:
    return [f"{kind} {each}" for each in expected if each not in found]


def _fetch_records(ask: Callable[[ApiKey, Any], Any], topic: str) -> list[Record]:
    request = fetch_request(topic, isolation_level=IsolationLevel.READ_UNCOMMITTED)
    request.topics[0].partitions[0].partition_max_bytes = request.max_bytes = ALL_BYTES
    responses = ask(ApiKey.FETCH, request).responses
    if not responses or responses[0].partitions[0].error_code:
        return []
    content = responses[0].partitions[0].records or b""
    return [record for batch in iterate_batches(content) for record in batch.records()]
