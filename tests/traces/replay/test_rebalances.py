"""A replay repeats a member's request that overtook another member's JoinGroup."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_shim.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafka_shim.protocol.messages.leave_group import LeaveGroupResponse
from kafka_shim.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.error_codes import (
    REBALANCE_IN_PROGRESS,
    target_responded_before_rebalance,
)
from kafka_shim.traces.replay.events import Event, Recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target
from tests.support.frames import sized

JOIN, BEAT = (ApiKey.JOIN_GROUP, 9), (ApiKey.HEARTBEAT, 4)
SYNC, LEAVE = (ApiKey.SYNC_GROUP, 5), (ApiKey.LEAVE_GROUP, 5)
UNKNOWN_MEMBER_ID = 25


def asked(api: tuple[ApiKey, int], message: Any) -> bytes:
    head = write_request_header(RequestHeader(*api, 1, "c"))
    return head + codecs.write_request(message, api[1])


def responded(api: tuple[ApiKey, int], message: Any) -> bytes:
    return write_response_frame(RequestHeader(*api, 1, "c"), message)


JOINS = asked(JOIN, JoinGroupRequest(group_id="g", member_id="a"))
BEATS = asked(BEAT, HeartbeatRequest("g", 1, "b"))
SYNCS = asked(SYNC, SyncGroupRequest("g", 1, "b"))
REBALANCING = HeartbeatResponse(error_code=REBALANCE_IN_PROGRESS)


@pytest.mark.parametrize(
    ("api", "request_frame", "recorded", "actual", "on_the_way", "is_so"),
    [
        (BEAT, BEATS, REBALANCING, HeartbeatResponse(), [SYNCS, JOINS], True),
        (
            SYNC,
            SYNCS,
            SyncGroupResponse(error_code=REBALANCE_IN_PROGRESS),
            SyncGroupResponse(assignment=b"all"),
            [JOINS],
            True,
        ),
        (BEAT, BEATS, REBALANCING, HeartbeatResponse(), [SYNCS], False),
        (
            BEAT,
            BEATS,
            REBALANCING,
            HeartbeatResponse(),
            [asked(JOIN, JoinGroupRequest(group_id="another"))],
            False,
        ),
        (BEAT, BEATS, REBALANCING, HeartbeatResponse(0, UNKNOWN_MEMBER_ID), [JOINS], False),
        (BEAT, BEATS, HeartbeatResponse(), HeartbeatResponse(), [JOINS], False),
        (
            LEAVE,
            BEATS,
            LeaveGroupResponse(error_code=REBALANCE_IN_PROGRESS),
            LeaveGroupResponse(),
            [JOINS],
            False,
        ),
    ],
)
def test_requests_that_overtook_a_join_are_recognized(
    api: tuple[ApiKey, int],
    request_frame: bytes,
    recorded: Any,
    actual: Any,
    on_the_way: list[bytes],
    is_so: bool,
) -> None:
    entry = Response(0, 0, 0, *api, responded(api, recorded))
    frame = responded(api, actual)
    assert target_responded_before_rebalance(request_frame, entry, frame, on_the_way) is is_so


def recording() -> Recording:
    """A member joins, another gets REBALANCE_IN_PROGRESS, then the first one's JoinGroup ends."""
    joined = responded(JOIN, JoinGroupResponse(generation_id=2, leader="a", member_id="a"))
    entries = (
        (1, Request(0, 0, 0, JOINS)),
        (2, Request(0, 0, 0, BEATS)),
        (2, Response(0, 0, 0, *BEAT, responded(BEAT, REBALANCING))),
        (1, Response(0, 0, 0, *JOIN, joined)),
    )
    return Recording(
        [
            Event(("w", connection_id), "User:ANONYMOUS", 1, "PLAINTEXT", entry)
            for connection_id, entry in entries
        ],
        [],
    )


@contextlib.contextmanager
def slow_broker() -> Iterator[tuple[str, int]]:
    """Run a broker that answers a heartbeat before it reads a JoinGroup on another connection."""

    def serve() -> None:
        listener.accept()[0].close()  # it asks for versions
        joining, beating = (listener.accept()[0] for _ in range(2))
        with joining, beating:
            for response in (HeartbeatResponse(), REBALANCING):
                take(beating)
                give(beating, responded(BEAT, response))
            take(joining)
            joined = JoinGroupResponse(generation_id=2, leader="a", member_id="a")
            give(joining, responded(JOIN, joined))
            joining.recv(1)  # wait for the end of the replay

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()
        thread.join()


def take(peer: socket.socket) -> bytes:
    size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
    return peer.recv(size, socket.MSG_WAITALL)


def give(peer: socket.socket, frame: bytes) -> None:
    peer.sendall(sized(frame))


def test_a_heartbeat_that_overtook_a_join_is_repeated() -> None:
    with slow_broker() as address:
        report = Replayer(recording(), Target(address)).replay()
    assert report.matches_recording, "\n".join(report_lines(report))
    assert report.responses == 2
