"""Limits of groups that change their protocol; other responses are compared with recordings."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from tests.recordings.groups.migration_play import begun, speaks
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.peers.in_process import InProcess

RELEASE = "4.3.1"


def a_play(**limits: str) -> tuple[ModernPlay, str]:
    """Return a play on a shim with these limits, e.g. `group_max_size`, and a topic."""
    properties = {name.replace("_", "."): value for name, value in limits.items()}
    play = ModernPlay("migration", InProcess(RELEASE, settings=properties))
    return play, play.topic("t")[0]


def type_of(play: ModernPlay) -> str:
    """Return the type of the only group."""
    play.list("")
    ((_, response),) = play.steps[-1:]
    return str(response["groups"][0]["group_type"])


@pytest.mark.parametrize(
    ("members", "error"),
    [(2, ErrorCode.GROUP_ID_NOT_FOUND), (1, ErrorCode.GROUP_MAX_SIZE_REACHED)],
)
def test_a_rejected_member_does_not_convert_the_group(members: int, error: ErrorCode) -> None:
    play, topic = a_play(group_consumer_max_size="1")
    member = begun(play, "migration", topic)
    if members == 2:
        play.begin_join("migration", "b", protocols=speaks([topic]), session_timeout_ms=60_000)
    assert play.enter("one too many", "migration", "m", topic).error_code == error
    assert type_of(play) == "classic"
    if members == 1:
        play.heartbeat("goes on", "migration", 1, member)
        assert play.steps[-1] == ("goes on", {"error_code": ErrorCode.NONE})
        return
    play.waits("still", "b")
    play.begin_join("migration", "a", member, protocols=speaks([topic]))
    assert play.outcome("all have joined", "b").generation_id == 2


def test_a_group_in_its_initial_rebalance_cannot_be_converted() -> None:
    """Seen on 4.3.1: the new member gets UNKNOWN_SERVER_ERROR, and waiting members must rejoin."""
    play, topic = a_play(group_initial_rebalance_delay_ms="3000")
    play.begin_join("migration", "b", protocols=speaks([topic]))
    play.waits("b", "b")
    response = play.enter("new", "migration", "m", topic)
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert play.outcome("b", "b").error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert type_of(play) == "classic"


def test_a_group_above_the_classic_maximum_size_is_not_converted_back() -> None:
    play, topic = a_play(group_max_size="1")
    play.enter("new", "migration", "m", topic)
    for name in ("a", "b"):
        play.join(name, "migration", name, protocols=speaks([topic]))
    assert play.beat("leaves", "migration", "m", -1).error_code == ErrorCode.NONE
    assert type_of(play) == "consumer"


def test_a_classic_member_keeps_its_own_session_timeout() -> None:
    play, topic = a_play()
    member = begun(play, "migration", topic, session_timeout_ms=6000)
    play.enter("new", "migration", "m", topic)
    for expected in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_MEMBER_ID):
        play.peer.pause(5000 if expected is ErrorCode.REBALANCE_IN_PROGRESS else 7000)
        play.heartbeat("classic", "migration", 1, member)
        assert play.steps[-1] == ("classic", {"error_code": expected})


def test_a_group_that_turns_classic_with_a_stale_assignment_rebalances() -> None:
    """Kafka's ConsumerProtocolMigrationTest sees this on 4.3.1 with its assignment interval."""
    play, topic = a_play(group_consumer_assignment_interval_ms="1000")
    play.enter("new", "migration", "m", topic, instance_id="i1")
    play.beat("wants more", "migration", "m", instance_id="i1", subscribed_topic_names=[topic, "u"])
    instance = {"group_instance_id": "i1", "session_timeout_ms": 60_000}
    request = play.join_request("migration", "", speaks([topic]), **instance)
    play.call("back", ApiKey.JOIN_GROUP, 9, request)
    assert type_of(play) == "classic"
    ((_, response),) = play.steps[-1:]
    assert response["groups"][0]["group_state"] == "PreparingRebalance"
