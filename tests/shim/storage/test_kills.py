"""A broker that is killed at any moment keeps all data that it acknowledged."""

import contextlib
import itertools
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
from kafka_shim.protocol.messages.produce import (
    ProduceRequest,
)
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
LIFE_S = 0.25
ALL_BYTES = 1 << 30


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
    """Everything that was acknowledged: records, topics, ACLs and the last committed offset."""

    def __init__(self) -> None:
        self.records: set[int] = set()
        self.topics: set[str] = set()
        self.acls: set[str] = set()
        self.committed = -1

    def step(self, peer: Peer, numbers: Iterator[int], rng: random.Random) -> None:
        """Send some random requests at once, and note each acknowledged one."""
        sent = [(rng.choice(WORK), next(numbers)) for _ in range(rng.randint(1, 12))]
        for (api, make, _), number in sent:
            peer.send(api, make(number))
        for (api, _, name), number in sent:
            response = peer.receive(api)
            getattr(self, f"note_{name}")(number, response)

    def note_record(self, number: int, response: Any) -> None:
        assert response.responses[0].partition_responses[0].error_code == 0
        self.records.add(number)

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
    value = b"%d" % number
    batch = encode_batch([Record(offset=0, timestamp=0, key=None, value=value)], BatchOptions())
    return produce_request("orders", batch)


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


def _start(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    words = ["--listener", "PLAINTEXT://127.0.0.1:0", "--super-user", "User:ANONYMOUS"]
    words += ["--topic", "orders", "--data-dir", str(folder / "data"), "-l", "error"]
    words += ["-c", "offsets.topic.num.partitions=1", "--ready-file", str(ready)]
    child = subprocess.Popen([*SHIM, "serve", *words], stdout=subprocess.DEVNULL)
    ends = time.monotonic() + START_S
    while not ready.exists():
        assert child.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.005)
    return child, ready.read_text().strip().partition("=")[2]


def _check(peer: Peer, before: Life) -> None:
    """Check that the broker has everything that was acknowledged before."""
    request = fetch_request("orders", isolation_level=IsolationLevel.READ_UNCOMMITTED)
    request.topics[0].partitions[0].partition_max_bytes = request.max_bytes = ALL_BYTES
    (found,) = peer.ask(ApiKey.FETCH, request).responses[0].partitions
    records = [
        record for batch in iterate_batches(found.records or b"") for record in batch.records()
    ]
    assert [record.offset for record in records] == list(range(len(records)))
    assert before.records <= {int(record.value or b"") for record in records}
    metadata = peer.ask(ApiKey.METADATA, MetadataRequest(topics=None))
    assert before.topics <= {topic.name for topic in metadata.topics}
    described = peer.ask(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest(2, None, 1, None, None, 1, 1))
    assert before.acls <= {resource.resource_name for resource in described.resources}
    if before.committed >= 0:
        asked = OffsetFetchRequest(
            group_id="g",
            topics=[OffsetFetchRequestTopic(name="orders", partition_indexes=[0])],
        )
        response = peer.ask(ApiKey.OFFSET_FETCH, asked)
        assert response.topics[0].partitions[0].committed_offset >= before.committed


def _kill_often(folder: Path, kills: int, seed: int) -> int:
    """Kill a broker `kills` times at random moments; return the number of acknowledged records."""
    rng, numbers = random.Random(seed), itertools.count()
    life = Life()
    for _ in range(kills):
        child, address = _start(folder)
        try:
            peer = Peer(address)
            _check(peer, life)
            ends = time.monotonic() + rng.random() * LIFE_S
            while time.monotonic() < ends - 0.02:
                life.step(peer, numbers, rng)
            moment_s = rng.random() / 50
            killer = subprocess.Popen(["sh", "-c", f"sleep {moment_s:.4f}; kill -9 {child.pid}"])
            with contextlib.suppress(ConnectionError):
                while True:
                    life.step(peer, numbers, rng)
            killer.wait(10)
            peer.close()
        finally:
            child.kill()
            child.wait(10)
    child, address = _start(folder)
    peer = Peer(address)
    _check(peer, life)
    peer.close()
    child.terminate()
    assert child.wait(10) == 0
    return len(life.records)


def test_a_kill_loses_no_acknowledged_data(tmp_path: Path) -> None:
    assert _kill_often(tmp_path, 1, seed=1) > 0


@pytest.mark.heavy
@pytest.mark.timeout(1800)
def test_two_hundred_kills_lose_no_acknowledged_data(tmp_path: Path) -> None:
    assert _kill_often(tmp_path, 200, seed=2) > 200
