"""Each effect of a fault, seen in the frames that a client sends and receives."""

import pytest

from kafka_shim.authorizer.model import AclFilter
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.observing.request_history import History
from tests.shim.faults.sample_requests import HEARTBEAT, UNKNOWN_MEMBER, metadata
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL
from tests.support.record_requests import fetch_request


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_delay_delays_the_response(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"delay_ms": 100}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.clock.advance(99)
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.HEARTBEAT, 4, pending)
    stage.clock.advance(1)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER


def test_delay_is_added_to_the_wait_of_a_long_poll(stage: Stage) -> None:
    stage.topic("orders")
    stage.dispatcher.faults.add({"action": {"delay_ms": 100}, "match": {"api": "Fetch"}})
    pending = stage.ask(ApiKey.FETCH, 12, fetch_request("orders", max_wait_ms=200, min_bytes=1))
    stage.clock.advance(200)
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.FETCH, 12, pending)
    stage.clock.advance(100)
    assert stage.outcome(ApiKey.FETCH, 12, pending).error_code == 0


@pytest.mark.parametrize("when", ["before", "after"])
def test_disconnect_before_or_after_the_request_is_handled(stage: Stage, when: str) -> None:
    history = History()
    stage.dispatcher.set_history(history)
    stage.dispatcher.faults.add({"action": {"disconnect": when}})
    with pytest.raises(CloseConnection, match="fault"):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
    [seen] = history
    assert bool(seen.records) == (when == "after")
    assert seen.errors is None


def test_a_black_hole_never_answers(stage: Stage) -> None:
    fault = stage.dispatcher.faults.add({"action": {"black_hole": True}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.clock.advance(10_000_000)
    assert fault.send_held_responses() == 0
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.HEARTBEAT, 4, pending)


def test_a_released_pause_sends_the_response(stage: Stage) -> None:
    fault = stage.dispatcher.faults.add({"action": {"pause": True}, "trigger": {"times": 2}})
    held = [stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT) for _ in range(2)]
    assert not any(pending.wait.is_finished for pending in held)
    assert fault.send_held_responses() == 2
    for pending in held:
        assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER
    assert fault.send_held_responses() == 0


def test_a_removed_pause_sends_the_response(stage: Stage) -> None:
    fault = stage.dispatcher.faults.add({"action": {"pause": True}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.dispatcher.faults.remove(fault.fault_id)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER
    assert not stage.dispatcher.faults.by_id


def test_throttle_time_is_returned(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"throttle_time_ms": 1234}})
    response = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert (response.throttle_time_ms, response.error_code) == (1234, UNKNOWN_MEMBER)
    assert stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT).throttle_time_ms == 0


def test_truncate_cuts_the_response_and_disconnects(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"truncate": 9}})
    with pytest.raises(CloseConnection) as caught:
        stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert len(caught.value.last_bytes) == 9


def test_corrupt_keeps_size_and_correlation_id(stage: Stage) -> None:
    whole = stage.send(ApiKey.HEARTBEAT, 4, HEARTBEAT, stage.session("User:admin"))
    stage.dispatcher.faults.add({"action": {"corrupt": True}})
    spoilt = stage.send(ApiKey.HEARTBEAT, 4, HEARTBEAT, stage.session("User:admin"))
    assert isinstance(whole, bytes)
    assert isinstance(spoilt, bytes)
    assert spoilt[:4] == whole[:4]
    assert spoilt[4:8] == (int.from_bytes(whole[4:8], "big") + 1).to_bytes(4, "big")
    assert spoilt[8:] == bytes(byte ^ 0xFF for byte in whole[8:])


def test_deny_looks_like_a_denial_by_an_acl_even_for_super_users(stage: Stage) -> None:
    stage.topic("orders")
    history = History()
    stage.dispatcher.set_history(history)
    stage.dispatcher.faults.add({"action": {"deny": {}}, "match": {"api": "Metadata"}})
    denied, allowed = [
        stage.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code for _ in range(2)
    ]
    assert (denied, allowed) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.NONE)
    first = next(iter(history))
    row = next(first.decision_rows())
    assert (row["allowed"], row["rule"]) == (
        False, "{principal: User:admin, deny: Describe, topic: orders}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("deny", "match", "is_denied"),
    [
        ({"operation": "Describe"}, {}, True),
        ({"operation": "Write"}, {}, False),
        ({"resource_type": "topic"}, {}, True),
        ({"resource_type": "group"}, {}, False),
        ({"resource_name": "orders"}, {}, True),
        ({"resource_name": "payments"}, {}, False),
        ({}, {"topic": "orders"}, True),
    ],
)
def test_deny_applies_to_some_checks(
    stage: Stage, deny: dict[str, str], match: dict[str, str], is_denied: bool
) -> None:
    stage.topic("orders")
    stage.dispatcher.faults.add({"action": {"deny": deny}, "match": match})
    response = stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    wanted = ErrorCode.TOPIC_AUTHORIZATION_FAILED if is_denied else ErrorCode.NONE
    assert response.topics[0].error_code == wanted


def test_a_permission_is_revoked_after_n_requests(stage: Stage) -> None:
    stage.topic("orders")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders")
    rule = {"principal": "User:alice", "allow": "Describe", "topic": "orders"}
    stage.dispatcher.faults.add(
        {"action": {"revoke": [rule]}, "match": {"api": "Metadata"}, "trigger": {"on_call": 3}}
    )
    assert errors(stage, 5) == [0, 0, 29, 29, 29]
    authorizer = stage.cluster.policy.authorizer
    assert authorizer is not None
    assert list(authorizer.acls(AclFilter())) == []


def test_a_permission_is_granted_after_n_requests(stage: Stage) -> None:
    stage.topic("orders")
    rule = {"principal": "User:alice", "allow": "Describe", "topic": "orders"}
    stage.dispatcher.faults.add({"action": {"grant": [rule]}, "trigger": {"on_call": 2}})
    assert errors(stage, 3) == [29, 0, 0]


def errors(stage: Stage, count: int) -> list[int]:
    return [
        stage.ask(ApiKey.METADATA, 12, metadata("orders"), "User:alice").topics[0].error_code
        for _ in range(count)
    ]


def test_an_error_for_a_produce_with_acks_0_closes_the_connection(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"error": "NOT_LEADER_OR_FOLLOWER"}})
    with pytest.raises(CloseConnection, match="NOT_LEADER_OR_FOLLOWER"):
        stage.ask(ApiKey.PRODUCE, 9, ProduceRequest(acks=0, timeout_ms=1, transactional_id=None))
