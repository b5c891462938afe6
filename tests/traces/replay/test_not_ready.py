"""Requests for which the recorded broker was not ready are sent, and their error is put aside."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_shim.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafka_shim.shim.config import parse_address
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.events import Event, Recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from kafka_shim.traces.replay.target import Target
from tests.support.frames import request_frame, response_frame
from tests.traces.replay.recorded_clients import shims

NOT_AVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE


def recording(api: ApiKey, version: int, request: Any, response: Any) -> Recording:
    entries = (
        Request(0, 0, 0, request_frame(api, version, request)),
        Response(0, 0, 1, api, version, response_frame(api, version, response)),
    )
    return Recording([Event(("w", 1), "User:a", 1, "PLAINTEXT", entry) for entry in entries], [])


def test_the_coordinators_topic_is_created_as_in_the_recording() -> None:
    asked = FindCoordinatorRequest("g", 0)
    with shims(1, seed=1) as broker:
        target = Target(parse_address(broker.plaintext, ""))
        response = FindCoordinatorResponse(error_code=NOT_AVAILABLE)
        report = Replayer(recording(ApiKey.FIND_COORDINATOR, 3, asked, response), target).replay()
        assert "__consumer_offsets" in broker.cluster.topics
    assert (report.requests, report.put_aside.total(), report.responses) == (1, 1, 0)
    assert report.matches_recording
    assert "1 put aside (with a temporary error in the recording)" in [*report_lines(report)][1]


@pytest.mark.parametrize(
    ("api", "version", "request_", "response", "sent"),
    [
        (ApiKey.JOIN_GROUP, 5, JoinGroupRequest("g"), JoinGroupResponse(error_code=16), 0),
        (ApiKey.HEARTBEAT, 4, HeartbeatRequest("g", 1, "m"), HeartbeatResponse(0, 16), 1),
    ],
)
def test_requests_that_change_members_are_not_sent_twice(
    api: ApiKey, version: int, request_: Any, response: Any, sent: int
) -> None:
    with shims(1, seed=1) as broker:
        target = Target(parse_address(broker.plaintext, ""))
        report: ReplayReport = Replayer(
            recording(api, version, request_, response), target
        ).replay()
    assert (report.requests, report.skipped_requests) == (sent, 1 - sent)
    assert report.matches_recording
