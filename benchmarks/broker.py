"""A broker in its own process, requests for it, and its processor time."""

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record

REQUESTS = 3_000
WINDOW = 50


def _produce(records: int) -> ProduceRequest:
    """Produce a batch of this number of records of 100 bytes."""
    batch = encode_batch(
        [Record(offset=n, timestamp=0, key=None, value=b"x" * 100) for n in range(records)]
    )
    data = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="orders", partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])


def requests() -> dict[str, bytes]:
    """Return the frame of each kind of request."""
    topic = MetadataRequestTopic(name="orders")
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
    kinds = {
        "Metadata": (ApiKey.METADATA, 12, MetadataRequest(topics=[topic])),
        "ListOffsets": (
            ApiKey.LIST_OFFSETS,
            7,
            ListOffsetsRequest(topics=[ListOffsetsTopic("orders", [partition])]),
        ),
        "Produce": (ApiKey.PRODUCE, 9, _produce(1)),
        "Produce of 10": (ApiKey.PRODUCE, 9, _produce(10)),
    }
    return {name: framed(*kind) for name, kind in kinds.items()}


def framed(api: ApiKey, version: int, request: msgspec.Struct) -> bytes:
    """Return a request's frame with its size."""
    payload = write_request_header(RequestHeader(api, version, 1, "bench"))
    payload += codecs.write_request(request, version)
    return len(payload).to_bytes(4, "big") + payload


class Taken(NamedTuple):
    """Seconds per request: elapsed, and processor time of the broker."""

    clock: float
    processor: float


class Server:
    """A process that serves clients, and one connection to it."""

    def __init__(self, child: "subprocess.Popen[str]", address: str) -> None:
        self.child = child
        host, _, port = address.strip().partition(":")
        self.address = (host, int(port))
        self._socket = socket.create_connection(self.address, 10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb", 1 << 20)

    def play(self, frame: bytes, requests: int = REQUESTS, window: int = WINDOW) -> Taken:
        """Send this number of equal requests, with `window` in flight."""
        began, before = time.monotonic(), self.processor_s()
        for _ in range(requests // window):
            self._socket.sendall(frame * window)
            for _ in range(window):
                self._reader.read(int.from_bytes(self._reader.read(4), "big"))
        clock = time.monotonic() - began
        time.sleep(0.12)  # a recorder writes its last block
        return Taken(clock / requests, (self.processor_s() - before) / requests)

    def processor_s(self) -> float:
        """Return the processor time so far of the process's main thread, in seconds."""
        return int(Path(f"/proc/{self.child.pid}/schedstat").read_text().split()[0]) / 1e9

    def stop(self) -> None:
        self._reader.close()
        self._socket.close()
        self.child.terminate()
        self.child.wait(10)


COMMAND = (sys.executable, "-P", "-m", "kafka_shim")


class Broker(Server):
    """A broker process and one connection to it."""

    def __init__(self, folder: Path, *options: str) -> None:
        ready = folder / "ready"
        command = [*COMMAND, "serve", "-l", "error"]
        command += ["--listener", "PLAINTEXT://127.0.0.1:0", "--ready-file", str(ready)]
        if "--playback" not in options:
            command += ["--topic", "orders", "--super-user", "User:ANONYMOUS"]
            command += ["-c", "log.retention.bytes=1000000", "-c", "log.segment.bytes=1048576"]
        command += options
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True)
        while not ready.exists():
            time.sleep(0.02)
        super().__init__(child, ready.read_text().split("=")[1])


def ask_versions(peer: socket.socket) -> None:
    """Send an ApiVersions request and read its whole response."""
    peer.sendall(_VERSIONS)
    size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
    assert len(peer.recv(size, socket.MSG_WAITALL)) == size


_VERSIONS = framed(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("bench", "1"))
