"""The parts of the benchmark: each returns its figures by name."""

import resource
import socket
from collections.abc import Callable, Iterator

from benchmarks.broker import framed, requests
from benchmarks.size.asked import Asked, best_us, connect, named, processor_ms, started
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import (
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

FEW = 100
FEW_GROUPS = 10
ACTIVE_TIMES = 10
"""One in this number of connections is active."""
ASKED = 5_000
CREATED_AT_ONCE = 1_000
JOIN, SYNC, BEAT = 3, 2, 2  # versions that join without a member id
VERSIONS = framed(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("bench", "1"))
SPARE_FILES = 200

Figures = dict[str, float]


def acls(count: int) -> Figures:
    """Create ACLs; describe those of one resource, among few ACLs and among all."""
    with started() as asked:
        create_acls(asked, 0, FEW)
        few_us = describe_us(asked, FEW)
        created_us, _ = each(asked, count - FEW, lambda: create_acls(asked, FEW, count))
        many_us = describe_us(asked, count)
    return {
        "ACLs": count,
        "create an ACL, us": created_us,
        "DescribeAcls of a name, few, us": few_us,
        "DescribeAcls of a name, many, us": many_us,
        "DescribeAcls, many / few": many_us / few_us,
    }


def each(asked: Asked, number: int, create: Callable[[], None]) -> tuple[float, float]:
    """Return processor microseconds and bytes of memory for each of `number` created things."""
    held, before = asked.resident_bytes(), asked.processor_s()
    create()
    spent = asked.processor_s() - before
    return spent / number * 1e6, (asked.resident_bytes() - held) / number


def create_acls(asked: Asked, first: int, stop: int) -> None:
    for at in range(first, stop, CREATED_AT_ONCE):
        creations = [
            AclCreation(
                ResourceType.TOPIC,
                f"orders-{n}",
                PatternType.LITERAL,
                f"User:u{n % 1000}",
                "*",
                Operation.READ,
                Permission.ALLOW,
            )
            for n in range(at, min(stop, at + CREATED_AT_ONCE))
        ]
        asked.ask(framed(ApiKey.CREATE_ACLS, 3, CreateAclsRequest(creations)))


def describe_us(asked: Asked, count: int) -> float:
    return best_us(
        asked,
        [
            named(
                n,
                ApiKey.DESCRIBE_ACLS,
                3,
                DescribeAclsRequest(
                    resource_type_filter=ResourceType.TOPIC,
                    resource_name_filter=f"orders-{n * 37 % count}",
                    pattern_type_filter=PatternType.LITERAL,
                    principal_filter=None,
                    host_filter=None,
                    operation=Operation.ANY,
                    permission_type=Permission.ANY,
                ),
            )
            for n in range(ASKED)
        ],
    )


def topics(count: int) -> Figures:
    """Create topics; request Metadata of one topic, among few topics and among all, and of all.

    The same few topics are requested both times; then topics that were not requested before.
    """
    with started() as asked:
        create_topics(asked, 0, FEW)
        few_us = metadata_us(asked, range(FEW))
        created_us, memory = each(asked, count - FEW, lambda: create_topics(asked, FEW, count))
        many_us = metadata_us(asked, range(FEW))
        first_us = metadata_us(asked, range(FEW, count))
        everything = framed(ApiKey.METADATA, 12, MetadataRequest(topics=None))
        all_ms = processor_ms(asked, everything)
    return {
        "topics": count,
        "create a topic, us": created_us,
        "memory of a topic, bytes": memory,
        "Metadata of a topic, few, us": few_us,
        "Metadata of a topic, many, us": many_us,
        "Metadata of a topic, many / few": many_us / few_us,
        "Metadata of a topic for the first time, us": first_us,
        "Metadata of all topics, ms": all_ms,
    }


def create_topics(asked: Asked, first: int, stop: int) -> None:
    for at in range(first, stop, CREATED_AT_ONCE):
        numbers = range(at, min(stop, at + CREATED_AT_ONCE))
        wanted = [CreatableTopic(f"orders-{n}", 1, 1) for n in numbers]
        asked.ask(framed(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(wanted, timeout_ms=60_000)))


def metadata_us(asked: Asked, topics: range) -> float:
    frames = [
        named(
            n,
            ApiKey.METADATA,
            12,
            MetadataRequest(
                topics=[MetadataRequestTopic(name=f"orders-{topics[n * 37 % len(topics)]}")]
            ),
        )
        for n in range(ASKED)
    ]
    return best_us(asked, frames)


def groups(count: int) -> Figures:
    """Form groups of one member; send their heartbeats, and list them."""
    with started("-c", "group.initial.rebalance.delay.ms=0") as asked:
        members = dict(formed(asked, 0, FEW_GROUPS))
        few_us = heartbeat_us(asked, members)
        formed_us, memory = each(
            asked,
            count - FEW_GROUPS,
            lambda: members.update(formed(asked, FEW_GROUPS, count)),
        )
        many_us = heartbeat_us(asked, members)
        everything = framed(ApiKey.LIST_GROUPS, 4, ListGroupsRequest())
        list_ms = processor_ms(asked, everything)
    return {
        "groups": count,
        "form a group, us": formed_us,
        "memory of a group, bytes": memory,
        "Heartbeat, few, us": few_us,
        "Heartbeat, many, us": many_us,
        "Heartbeat, many / few": many_us / few_us,
        "ListGroups, ms": list_ms,
    }


def formed(asked: Asked, first: int, stop: int) -> Iterator[tuple[str, str]]:
    """Form groups of one member; yield group and member id."""
    protocols = [JoinGroupRequestProtocol("range", b"\0\1\0\0\0\0\0\0\0\0")]
    for n in range(first, stop):
        group = f"billing-{n}"
        join = JoinGroupRequest(group, 1_800_000, 60_000, "", None, "consumer", protocols)
        response = asked.ask(framed(ApiKey.JOIN_GROUP, JOIN, join))
        joined = codecs.read_response(ApiKey.JOIN_GROUP, JOIN, response[4:])
        assert not joined.error_code, joined
        plan = [SyncGroupRequestAssignment(joined.member_id, b"\0\1\0\0\0\0\0\0\0\0")]
        sync = SyncGroupRequest(group, 1, joined.member_id, assignments=plan)
        asked.ask(framed(ApiKey.SYNC_GROUP, SYNC, sync))
        yield group, joined.member_id


def heartbeat_us(asked: Asked, members: dict[str, str]) -> float:
    known = list(members.items())
    chosen = [known[n * 37 % len(known)] for n in range(ASKED)]
    beats = [HeartbeatRequest(group, 1, member) for group, member in chosen]
    return best_us(asked, [framed(ApiKey.HEARTBEAT, BEAT, beat) for beat in beats])


def connections(count: int) -> Figures:
    """Let a tenth of the connections produce records, without and with idle connections."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + SPARE_FILES), hard))
    frame = requests()["Produce"]
    with started() as asked:
        held = asked.resident_bytes()
        peers = [connect(asked.broker) for _ in range(count // ACTIVE_TIMES)]
        try:
            alone_us = active_us(asked, peers, frame)
            active = (asked.resident_bytes() - held) / len(peers)
            idle = [connect(asked.broker) for _ in range(count - len(peers))]
            peers += idle
            for peer in idle:
                ask(peer, VERSIONS)
            memory = (asked.resident_bytes() - held) / count
            beside_us = active_us(asked, peers[: count // ACTIVE_TIMES], frame)
        finally:
            for peer in peers:
                peer.close()
    return {
        "connections": count,
        "memory of a connection, bytes": memory,
        "memory of an active one, bytes": active,
        "a request, active ones alone, us": alone_us,
        "a request, beside the idle ones, us": beside_us,
        "a request, beside / alone": beside_us / alone_us,
    }


def active_us(asked: Asked, peers: list[socket.socket], frame: bytes, rounds: int = 6) -> float:
    """Return the best µs of rounds in which every peer has a request in flight."""
    taken = []
    for _ in range(rounds):
        before = asked.processor_s()
        for peer in peers:
            peer.sendall(frame)
        for peer in peers:
            response(peer)
        taken.append((asked.processor_s() - before) / len(peers) * 1e6)
    return min(taken)


def ask(peer: socket.socket, frame: bytes) -> None:
    peer.sendall(frame)
    response(peer)


def response(peer: socket.socket) -> None:
    size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
    assert len(peer.recv(size, socket.MSG_WAITALL)) == size
