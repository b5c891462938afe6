"""Exchanges over several connections: a fetch that waits for a record, and a group that forms."""

import select
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import msgspec

from benchmarks.against.brokers import Broker
from benchmarks.against.client import Peer, Taken
from benchmarks.against.goals import AS_SOON
from benchmarks.against.setting import ask, decoded, until_well
from benchmarks.broker import framed
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.sync_group import SyncGroupRequest
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record

MEMBERS = 10
_TOPIC = "topic-000"
_JOIN, _SYNC, _HEARTBEAT, _LEAVE, _PRODUCE, _FETCH = (7, 4, 4, 4, 9, 12)
"""The versions of the APIs, by their names."""
_BATCH = encode_batch([Record(offset=0, timestamp=0, key=None, value=b"x" * 100)])
_WAIT_S = 30
_HEARTBEAT_S = 0.005
_ARRIVES_S = 0.003
"""By then a request that was sent waits at its broker."""
_names = count()


class Exchange(NamedTuple):
    """An exchange; `run` does it once and returns its seconds."""

    name: str
    connections: int
    run: Callable[[Sequence[Peer]], float]
    times: int
    """How often it is done in a round."""


def play(exchange: Exchange, broker: Broker, peers: Sequence[Peer]) -> Taken:
    """Repeat the exchange and return means (medians would hide occasional pauses of a broker).

    The processor time is all that the broker used, also before and after the exchange.
    """
    before, own = broker.processor_s(), time.process_time()
    clock = sum(exchange.run(peers[: exchange.connections]) for _ in range(exchange.times))
    used, client = broker.processor_s() - before, time.process_time() - own
    return Taken(*(part / exchange.times for part in (clock, used, client)))


def _woken(peers: Sequence[Peer]) -> float:
    """Let a consumer wait at the end of a partition until a producer writes a record."""
    waiting, writing = peers
    written = until_well(writing, ApiKey.PRODUCE, _PRODUCE, _record())
    base_offset = written.responses[0].partition_responses[0].base_offset
    partition = FetchPartition(fetch_offset=base_offset + 1, partition_max_bytes=1024 * 1024)
    topics = [FetchTopic(_TOPIC, partitions=[partition])]
    asked = FetchRequest(max_wait_ms=10_000, min_bytes=1, max_bytes=1024 * 1024, topics=topics)
    waiting.socket.sendall(framed(ApiKey.FETCH, _FETCH, asked))
    time.sleep(_ARRIVES_S)
    frame = framed(ApiKey.PRODUCE, _PRODUCE, _record())
    began = time.perf_counter()
    writing.socket.sendall(frame)
    response = waiting.response()
    took = time.perf_counter() - began
    writing.response()
    found = decoded(ApiKey.FETCH, _FETCH, response).responses[0].partitions[0]
    assert found.records, f"the fetch was answered without a record, error {found.error_code}"
    return took


def _record() -> ProduceRequest:
    data = TopicProduceData(_TOPIC, partition_data=[PartitionProduceData(0, _BATCH)])
    return ProduceRequest(None, -1, 1000, [data])


def _formed(peers: Sequence[Peer]) -> float:
    """Let ten members join a new group and get their assignments; then they leave."""
    group = f"group-of-ten-{next(_names)}"
    coordinator = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    until_well(peers[0], ApiKey.FIND_COORDINATOR, 4, coordinator)
    began = time.perf_counter()
    given = _all(peers, ApiKey.JOIN_GROUP, _JOIN, (_join(group, "") for _ in peers))
    joined = _joined(peers, [_join(group, response.member_id) for response in given])
    syncs = (SyncGroupRequest(group, each.generation_id, each.member_id) for each in joined)
    synced = _all(peers, ApiKey.SYNC_GROUP, _SYNC, syncs)
    took = time.perf_counter() - began
    codes = {each.error_code for each in (*joined, *synced)}
    assert codes == {0}, f"the group was joined with errors {codes}"
    leaving = [MemberIdentity(each.member_id) for each in joined]
    ask(peers[0], ApiKey.LEAVE_GROUP, _LEAVE, LeaveGroupRequest(group, members=leaving))
    return took


def _joined(peers: Sequence[Peer], requests: Sequence[JoinGroupRequest]) -> list[JoinGroupResponse]:
    """Return the responses of the first generation with all members.

    Members of earlier generations join again, as clients do, since a broker may begin with one
    member.
    """
    by_socket = {peer.socket: number for number, peer in enumerate(peers)}
    responses: dict[int, JoinGroupResponse] = {}
    _send(peers, requests, by_socket.values())
    deadline = time.monotonic() + _WAIT_S
    while True:
        waiting = [peer.socket for number, peer in enumerate(peers) if number not in responses]
        came = select.select(waiting, [], [], _HEARTBEAT_S)[0]
        for number in (by_socket[ready] for ready in came):
            responses[number] = decoded(ApiKey.JOIN_GROUP, _JOIN, peers[number].response())
        sizes = {
            each.generation_id: len(each.members) for each in responses.values() if each.members
        }
        newest = max(sizes, default=0)
        if sizes.get(newest) == len(responses) == len(peers):
            return [responses[number] for number in range(len(peers))]
        assert time.monotonic() < deadline, f"{len(waiting)} members wait for their group"
        is_over = sizes.get(newest, len(peers)) < len(peers)
        again = [
            number
            for number, response in responses.items()
            if (is_over and response.generation_id <= newest)
            or (not came and _is_asked_again(peers[number], requests[number].group_id, response))
        ]
        for number in again:
            del responses[number]
        _send(peers, requests, again)


def _is_asked_again(peer: Peer, group: str, joined: JoinGroupResponse) -> bool:
    """Return whether the response to a member's heartbeat requires it to join again."""
    asked = HeartbeatRequest(group, joined.generation_id, joined.member_id)
    error: int = ask(peer, ApiKey.HEARTBEAT, _HEARTBEAT, asked).error_code
    return error != 0


def _send(
    peers: Sequence[Peer], requests: Sequence[JoinGroupRequest], numbers: Iterable[int]
) -> None:
    for number in numbers:
        peers[number].socket.sendall(framed(ApiKey.JOIN_GROUP, _JOIN, requests[number]))


def _join(group: str, member_id: str) -> JoinGroupRequest:
    request = JoinGroupRequest(group, 30_000, 30_000, member_id, protocol_type="consumer")
    request.protocols = [JoinGroupRequestProtocol("range", b"")]
    return request


def _all(
    peers: Sequence[Peer], api: ApiKey, version: int, requests: Iterator[msgspec.Struct]
) -> list[Any]:
    """Send one request on each connection at once, and return the responses."""
    for peer, request in zip(peers, requests, strict=True):
        peer.socket.sendall(framed(api, version, request))
    return [decoded(api, version, peer.response()) for peer in peers]


EXCHANGES = (
    Exchange(AS_SOON, 2, _woken, 20),
    Exchange("a group of ten members forms", MEMBERS, _formed, 5),
)
