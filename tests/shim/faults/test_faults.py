"""Each trigger, match and effect, by the frames that a client would send and get."""

from typing import Any

import pytest

from authorizer.model import AclFilter
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_acls_request import DescribeAclsRequest
from protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.heartbeat_request import HeartbeatRequest
from protocol.messages.init_producer_id_request import InitProducerIdRequest
from protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from protocol.messages.produce_request import ProduceRequest
from shim.dispatch import Pending
from shim.errors import CloseConnection
from shim.faults.fault import Fault
from shim.faults.faults import Faults
from shim.faults.spec import FaultError
from shim.history import History
from shim.state.topics import NO_ID
from tests.shim.play import Stage

HEARTBEAT = HeartbeatRequest(
    group_id="billing", generation_id=1, member_id="m", group_instance_id=None
)
UNKNOWN_MEMBER = int(ErrorCode.UNKNOWN_MEMBER_ID)
BROKEN = int(ErrorCode.REBALANCE_IN_PROGRESS)


def metadata(name: str) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(topic_id=NO_ID, name=name)],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


@pytest.fixture
def stage() -> Stage:
    return Stage()


def breaks(stage: Stage, **trigger: Any) -> Fault:
    return stage.cluster.faults.add(
        {
            "action": {"error": "REBALANCE_IN_PROGRESS"},
            "match": {"api": "Heartbeat"},
            "trigger": trigger,
        }
    )


def beats(stage: Stage, count: int) -> list[bool]:
    """Which of so many heartbeats were struck."""
    answers = [stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT).error_code for _ in range(count)]
    assert set(answers) <= {BROKEN, UNKNOWN_MEMBER}
    return [answer == BROKEN for answer in answers]


# triggers


def test_once_is_the_first(stage: Stage) -> None:
    fault = breaks(stage)
    assert beats(stage, 3) == [True, False, False]
    assert (fault.calls, fault.fired) == (3, 1)


def test_on_call_is_the_nth_alone(stage: Stage) -> None:
    fault = breaks(stage, on_call=3)
    assert beats(stage, 5) == [False, False, True, False, False]
    assert (fault.calls, fault.fired) == (5, 1)


def test_times_are_the_first_n(stage: Stage) -> None:
    assert breaks(stage, times=2).fired == 0
    assert beats(stage, 4) == [True, True, False, False]


def test_every_time(stage: Stage) -> None:
    fault = breaks(stage, every_time=True)
    assert beats(stage, 4) == [True] * 4
    assert fault.fired == 4


def test_with_probability_the_same_ones_are_struck_for_a_seed(stage: Stage) -> None:
    breaks(stage, with_probability=0.5, seed=7)
    first = beats(stage, 40)
    stage.cluster.faults.clear()
    breaks(stage, with_probability=0.5, seed=7)
    assert beats(stage, 40) == first
    assert 5 < sum(first) < 35
    stage.cluster.faults.clear()
    breaks(stage, with_probability=0.5, seed=8)
    assert beats(stage, 40) != first


# which requests


@pytest.mark.parametrize(
    ("match", "strikes"),
    [
        ({"api": "Heartbeat"}, True),
        ({"api": "heartbeat"}, True),
        ({"api": "Produce"}, False),
        ({"version": 4}, True),
        ({"version": 3}, False),
        ({"client_id": "play"}, True),
        ({"client_id": "other"}, False),
        ({"principal": "User:admin"}, True),
        ({"principal": "User:alice"}, False),
        ({"group": "billing"}, True),
        ({"group": "shipping"}, False),
        ({"topic": "orders"}, False),
        ({"node_id": 1}, True),
        ({"node_id": 2}, False),
        ({"api": "Heartbeat", "group": "billing", "version": 4}, True),
        ({"api": "Heartbeat", "group": "billing", "version": 3}, False),
        ({}, True),
    ],
)
def test_match(stage: Stage, match: dict[str, Any], strikes: bool) -> None:
    fault = stage.cluster.faults.add({"action": {"error": BROKEN}, "match": match})
    assert beats(stage, 1) == [strikes]
    assert fault.calls == strikes


def test_topics_match_by_name_and_by_id(stage: Stage) -> None:
    topic = stage.topic("orders")
    fault = stage.cluster.faults.add(
        {"action": {"error": "UNKNOWN_SERVER_ERROR"}, "match": {"topic": "orders"},
         "trigger": {"every_time": True}}
    )  # fmt: skip
    stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    stage.ask(ApiKey.METADATA, 12, metadata("other"))
    assert fault.fired == 1
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    fetch = FetchRequest(topics=[FetchTopic(topic_id=topic.topic_id, partitions=[partition])])
    answer = stage.ask(ApiKey.FETCH, 13, fetch)
    assert fault.fired == 2
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(
    ("match", "strikes"),
    [
        ({"partition": 1}, True),
        ({"partition": 0}, False),
        ({"topic": "orders", "partition": 1}, True),
        ({"topic": "orders", "partition": 2}, False),
        ({"topic": "payments", "partition": 2}, True),
        ({"topic": "none", "partition": 1}, False),
    ],
)
@pytest.mark.parametrize("version", [12, 13])
def test_partitions_match_of_a_topic_or_of_any(
    stage: Stage, version: int, match: dict[str, Any], strikes: bool
) -> None:
    fault = stage.cluster.faults.add({"action": {"error": "UNKNOWN_SERVER_ERROR"}, "match": match})
    topics = [
        FetchTopic(topic=name, topic_id=stage.topic(name, partitions=3).topic_id, partitions=[
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)
        ])
        for name, index in (("orders", 1), ("payments", 2))
    ]  # fmt: skip
    stage.ask(ApiKey.FETCH, version, FetchRequest(topics=topics))
    assert fault.fired == strikes


def test_a_request_without_partitions_matches_none(stage: Stage) -> None:
    fault = stage.cluster.faults.add({"action": {"error": BROKEN}, "match": {"partition": 0}})
    assert beats(stage, 1) == [False]
    assert fault.calls == 0


def test_transactional_ids_match(stage: Stage) -> None:
    fault = stage.cluster.faults.add(
        {"action": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}, "match": {"transactional_id": "tx"}}
    )
    for name in ("other", "tx"):
        request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=1000)
        answer = stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
    assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert fault.fired == 1


def test_several_faults_strike_together(stage: Stage) -> None:
    breaks(stage)
    slow = stage.cluster.faults.add({"action": {"delay_ms": 50}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert isinstance(pending, Pending)
    stage.clock.advance(50)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == BROKEN
    assert slow.fired == 1


# effects


def test_delay_holds_the_answer_back(stage: Stage) -> None:
    stage.cluster.faults.add({"action": {"delay_ms": 100}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.clock.advance(99)
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.HEARTBEAT, 4, pending)
    stage.clock.advance(1)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER


def test_delay_of_an_answer_that_waits_anyhow(stage: Stage) -> None:
    stage.topic("orders")
    stage.cluster.faults.add({"action": {"delay_ms": 100}, "match": {"api": "Fetch"}})
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topic = FetchTopic(topic="orders", partitions=[partition])
    pending = stage.ask(
        ApiKey.FETCH, 12, FetchRequest(max_wait_ms=200, min_bytes=1, topics=[topic])
    )
    stage.clock.advance(200)
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.FETCH, 12, pending)
    stage.clock.advance(100)
    assert stage.outcome(ApiKey.FETCH, 12, pending).error_code == 0


@pytest.mark.parametrize("when", ["before", "after"])
def test_disconnect_before_or_after_it_is_handled(stage: Stage, when: str) -> None:
    stage.cluster.history = History()
    stage.cluster.faults.add({"action": {"disconnect": when}})
    with pytest.raises(CloseConnection, match="fault"):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, describe_acls())
    [seen] = stage.cluster.history
    assert bool(seen.records) == (when == "after")
    assert seen.errors is None


def describe_acls() -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1,
        principal_filter=None, host_filter=None, operation=1, permission_type=1,
    )  # fmt: skip


def test_a_black_hole_never_answers(stage: Stage) -> None:
    fault = stage.cluster.faults.add({"action": {"black_hole": True}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.clock.advance(10_000_000)
    assert fault.release() == 0
    with pytest.raises(AssertionError, match="still waiting"):
        stage.outcome(ApiKey.HEARTBEAT, 4, pending)


def test_a_pause_answers_when_it_is_released(stage: Stage) -> None:
    fault = stage.cluster.faults.add({"action": {"pause": True}, "trigger": {"times": 2}})
    held = [stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT) for _ in range(2)]
    assert not any(pending.wait.is_done for pending in held)
    assert fault.release() == 2
    for pending in held:
        assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER
    assert fault.release() == 0


def test_a_pause_that_is_lifted_answers(stage: Stage) -> None:
    fault = stage.cluster.faults.add({"action": {"pause": True}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    stage.cluster.faults.remove(fault.fault_id)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == UNKNOWN_MEMBER
    assert not stage.cluster.faults


def test_throttle_time_is_told(stage: Stage) -> None:
    stage.cluster.faults.add({"action": {"throttle_time_ms": 1234}})
    answer = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert (answer.throttle_time_ms, answer.error_code) == (1234, UNKNOWN_MEMBER)
    assert stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT).throttle_time_ms == 0


def test_truncate_cuts_the_answer_and_hangs_up(stage: Stage) -> None:
    stage.cluster.faults.add({"action": {"truncate": 9}})
    with pytest.raises(CloseConnection) as caught:
        stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert len(caught.value.last_bytes) == 9


def test_corrupt_keeps_size_and_correlation_id(stage: Stage) -> None:
    whole = stage.send(ApiKey.HEARTBEAT, 4, HEARTBEAT, stage.session("User:admin"))
    stage.cluster.faults.add({"action": {"corrupt": True}})
    spoilt = stage.send(ApiKey.HEARTBEAT, 4, HEARTBEAT, stage.session("User:admin"))
    assert isinstance(whole, bytes)
    assert isinstance(spoilt, bytes)
    assert spoilt[:4] == whole[:4]
    assert spoilt[4:8] == (int.from_bytes(whole[4:8], "big") + 1).to_bytes(4, "big")
    assert spoilt[8:] == bytes(byte ^ 0xFF for byte in whole[8:])


def test_deny_is_as_if_by_an_acl_even_for_super_users(stage: Stage) -> None:
    stage.topic("orders")
    stage.cluster.history = History()
    stage.cluster.faults.add({"action": {"deny": {}}, "match": {"api": "Metadata"}})
    denied, allowed = [
        stage.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code for _ in range(2)
    ]
    assert (denied, allowed) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.NONE)
    first = next(iter(stage.cluster.history))
    row = next(first.decisions())
    assert (row["allowed"], row["rule"]) == (
        False, "DENY User:admin DESCRIBE on TOPIC LITERAL orders from *",
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
def test_deny_of_some_questions(
    stage: Stage, deny: dict[str, str], match: dict[str, str], is_denied: bool
) -> None:
    stage.topic("orders")
    stage.cluster.faults.add({"action": {"deny": deny}, "match": match})
    answer = stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    wanted = ErrorCode.TOPIC_AUTHORIZATION_FAILED if is_denied else ErrorCode.NONE
    assert answer.topics[0].error_code == wanted


def test_a_grant_is_revoked_after_n_requests(stage: Stage) -> None:
    stage.topic("orders")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders")
    rule = {"principal": "User:alice", "allow": "Describe", "topic": "orders"}
    stage.cluster.faults.add(
        {"action": {"revoke": [rule]}, "match": {"api": "Metadata"}, "trigger": {"on_call": 3}}
    )
    assert errors(stage, 5) == [0, 0, 29, 29, 29]
    authorizer = stage.cluster.policy.authorizer
    assert authorizer is not None
    assert list(authorizer.acls(AclFilter())) == []


def test_a_grant_comes_after_n_requests(stage: Stage) -> None:
    stage.topic("orders")
    rule = {"principal": "User:alice", "allow": "Describe", "topic": "orders"}
    stage.cluster.faults.add({"action": {"grant": [rule]}, "trigger": {"on_call": 2}})
    assert errors(stage, 3) == [29, 0, 0]


def errors(stage: Stage, count: int) -> list[int]:
    return [
        stage.ask(ApiKey.METADATA, 12, metadata("orders"), "User:alice").topics[0].error_code
        for _ in range(count)
    ]


def test_an_error_of_a_request_without_an_answer_closes(stage: Stage) -> None:
    stage.cluster.faults.add({"action": {"error": "NOT_LEADER_OR_FOLLOWER"}})
    with pytest.raises(CloseConnection, match="NOT_LEADER_OR_FOLLOWER"):
        stage.ask(ApiKey.PRODUCE, 9, ProduceRequest(acks=0, timeout_ms=1, transactional_id=None))


# what is no fault


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({}, "action"),
        ({"action": {}}, "does nothing"),
        ({"action": {"eror": 1}}, "eror"),
        ({"action": {"error": "NO_SUCH_ERROR"}}, "NO_SUCH_ERROR"),
        ({"action": {"error": 4711}}, "4711"),
        ({"action": {"disconnect": "sometimes"}}, "disconnect"),
        ({"action": {"delay_ms": "1"}}, "delay_ms"),
        ({"action": {"delay_ms": -1}}, "delay_ms is a number from 0"),
        ({"action": {"delay_ms": 1}, "match": {"api": "Prodce"}}, "Prodce"),
        ({"action": {"delay_ms": 1}, "trigger": {"on_call": 0}}, "on_call"),
        ({"action": {"delay_ms": 1}, "trigger": {"on_call": 1, "times": 1}}, "one of"),
        ({"action": {"delay_ms": 1}, "trigger": {"with_probability": 2}}, "between"),
        ({"action": {"deny": {"operation": "Wrte"}}}, "Wrte"),
        ({"action": {"revoke": [{"principal": "x"}]}}, "acl 1"),
    ],
)
def test_what_is_no_fault_is_refused(written: dict[str, Any], text: str) -> None:
    faults = Faults()
    with pytest.raises(FaultError, match=text):
        faults.add(written)
    assert not faults
