"""Differences of responses that depended on which of two clients came first."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsResponse
from kafka_shim.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from kafka_shim.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka_shim.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.recorded_facts import COMMIT, REBALANCE, TAKEOVER, Races
from tests.support.frames import request_frame, response_frame

FENCED = Difference("error_code", 0, 47)
DENIED = Difference("error_code", 0, 53)
COMMITTED = Difference("committed_offset", "g t-0: -1", 7)


def request(connection: int, time_us: int, api: ApiKey, version: int, message: Any) -> Event:
    entry = Request(0, 0, time_us, request_frame(api, version, message))
    return Event(("w", connection), "User:a", 1, "PLAINTEXT", entry)


def response(connection: int, time_us: int, api: ApiKey, version: int, message: Any) -> Event:
    entry = Response(0, 0, time_us, api, version, response_frame(api, version, message))
    return Event(("w", connection), "User:a", 1, "PLAINTEXT", entry)


def ended(races: Races, start_us: int, end_us: int, *, epoch: int = 0, connection: int = 1) -> str:
    """Return the race of an EndTxn that differs, from its request to its response."""
    event = response(connection, end_us, ApiKey.END_TXN, 3, EndTxnResponse())
    message = EndTxnRequest("tx", 1, epoch, committed=True)
    return races.explain(event, start_us, message, EndTxnResponse(), [FENCED])[0]


@pytest.fixture
def races() -> Races:
    """Return a recording in which connection 2 takes over `tx` from 100 to 200."""
    found = Races()
    found.note(request(2, 100, ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("tx", 1)))
    found.note(response(2, 200, ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdResponse()))
    return found


def test_a_producer_that_is_fenced_at_the_same_time_is_in_a_race(races: Races) -> None:
    assert ended(races, 50, 99) == ""
    assert ended(races, 201, 300) == ""
    assert ended(races, 150, 160, connection=2) == ""
    assert ended(races, 50, 100) == TAKEOVER
    assert ended(races, 201, 300) == TAKEOVER  # the rest of this epoch
    assert ended(races, 201, 300, epoch=1) == ""


def test_other_differences_remain(races: Races) -> None:
    event = response(1, 150, ApiKey.END_TXN, 3, EndTxnResponse())
    message = EndTxnRequest("tx", 1, 0, committed=True)
    other = races.explain(event, 150, message, EndTxnResponse(), [DENIED])
    assert other == ("", [DENIED])
    both = races.explain(event, 150, message, EndTxnResponse(), [FENCED, DENIED])
    assert both == (TAKEOVER, [DENIED])


def test_offsets_are_fetched_while_they_are_committed(races: Races) -> None:
    commit = OffsetCommitRequest("g")
    frame = request_frame(ApiKey.OFFSET_COMMIT, 8, commit)

    def fetched(start_us: int, end_us: int, group: str = "g") -> str:
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group)])
        event = response(1, end_us, ApiKey.OFFSET_FETCH, 8, OffsetFetchResponse())
        return races.explain(event, start_us, asked, OffsetFetchResponse(), [COMMITTED])[0]

    races.begin_commit(request(2, 100, ApiKey.OFFSET_COMMIT, 8, commit), frame)
    assert (fetched(50, 99), fetched(90, 110), fetched(500, 600)) == ("", COMMIT, COMMIT)
    races.end_commit(response(2, 200, ApiKey.OFFSET_COMMIT, 8, OffsetCommitResponse()))
    assert (fetched(90, 110), fetched(200, 300), fetched(201, 300)) == (COMMIT, COMMIT, "")
    assert fetched(90, 110, "other") == ""


def test_members_of_a_group_in_a_rebalance_are_not_compared(races: Races) -> None:
    member = Difference("groups[].members[].member_assignment", "", "00")
    rights = Difference("groups[].authorized_operations", 328, 3400)
    for state, race, others in (
        ("Stable", "", [member, rights]),
        ("PreparingRebalance", REBALANCE, [rights]),
    ):
        recorded = DescribeGroupsResponse(groups=[DescribedGroup(group_state=state)])
        event = response(1, 1, ApiKey.DESCRIBE_GROUPS, 5, recorded)
        assert races.explain(event, 0, None, recorded, [member, rights]) == (race, others)
