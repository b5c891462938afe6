"""Each trigger and match of a fault, seen in the frames that a client sends and receives."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.faults.fault import Fault, parse_fault_spec
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.faults.spec import FaultError
from tests.shim.faults.sample_requests import BROKEN, HEARTBEAT, UNKNOWN_MEMBER, metadata
from tests.shim.play import Stage
from tests.support.record_requests import fetch_request


@pytest.fixture
def stage() -> Stage:
    return Stage()


def breaks(stage: Stage, **trigger: Any) -> Fault:
    return stage.dispatcher.faults.add(
        {
            "action": {"error": "REBALANCE_IN_PROGRESS"},
            "match": {"api": "Heartbeat"},
            "trigger": trigger,
        }
    )


def beats(stage: Stage, count: int) -> list[bool]:
    """Send this number of heartbeats; return which ones the fault affected."""
    responses = [stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT).error_code for _ in range(count)]
    assert set(responses) <= {BROKEN, UNKNOWN_MEMBER}
    return [response == BROKEN for response in responses]


# triggers


def test_once_affects_the_first_request(stage: Stage) -> None:
    fault = breaks(stage)
    assert beats(stage, 3) == [True, False, False]
    assert (fault.calls, fault.fired) == (3, 1)


def test_on_call_affects_only_the_nth_request(stage: Stage) -> None:
    fault = breaks(stage, on_call=3)
    assert beats(stage, 5) == [False, False, True, False, False]
    assert (fault.calls, fault.fired) == (5, 1)


def test_times_affects_the_first_n_requests(stage: Stage) -> None:
    assert breaks(stage, times=2).fired == 0
    assert beats(stage, 4) == [True, True, False, False]


def test_every_time_affects_all_requests(stage: Stage) -> None:
    fault = breaks(stage, every_time=True)
    assert beats(stage, 4) == [True] * 4
    assert fault.fired == 4


def test_with_probability_a_seed_always_selects_the_same_requests(stage: Stage) -> None:
    breaks(stage, with_probability=0.5, seed=7)
    first = beats(stage, 40)
    stage.dispatcher.faults.remove_all()
    breaks(stage, with_probability=0.5, seed=7)
    assert beats(stage, 40) == first
    assert 5 < sum(first) < 35
    stage.dispatcher.faults.remove_all()
    breaks(stage, with_probability=0.5, seed=8)
    assert beats(stage, 40) != first


# matches


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
def test_a_fault_affects_only_matching_requests(
    stage: Stage, match: dict[str, Any], strikes: bool
) -> None:
    fault = stage.dispatcher.faults.add({"action": {"error": BROKEN}, "match": match})
    assert beats(stage, 1) == [strikes]
    assert fault.calls == strikes


def test_topics_match_by_name_and_by_id(stage: Stage) -> None:
    topic = stage.topic("orders")
    fault = stage.dispatcher.faults.add(
        {"action": {"error": "UNKNOWN_SERVER_ERROR"}, "match": {"topic": "orders"},
         "trigger": {"every_time": True}}
    )  # fmt: skip
    stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    stage.ask(ApiKey.METADATA, 12, metadata("other"))
    assert fault.fired == 1
    response = stage.ask(ApiKey.FETCH, 13, fetch_request(topic.topic_id))
    assert fault.fired == 2
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


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
def test_a_partition_matches_in_one_topic_or_in_any(
    stage: Stage, version: int, match: dict[str, Any], strikes: bool
) -> None:
    fault = stage.dispatcher.faults.add(
        {"action": {"error": "UNKNOWN_SERVER_ERROR"}, "match": match}
    )
    topics = [
        FetchTopic(topic=name, topic_id=stage.topic(name, partitions=3).topic_id, partitions=[
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)
        ])
        for name, index in (("orders", 1), ("payments", 2))
    ]  # fmt: skip
    stage.ask(ApiKey.FETCH, version, FetchRequest(topics=topics))
    assert fault.fired == strikes


def test_a_request_without_partitions_matches_none(stage: Stage) -> None:
    fault = stage.dispatcher.faults.add({"action": {"error": BROKEN}, "match": {"partition": 0}})
    assert beats(stage, 1) == [False]
    assert fault.calls == 0


def test_transactional_ids_match(stage: Stage) -> None:
    fault = stage.dispatcher.faults.add(
        {"action": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}, "match": {"transactional_id": "tx"}}
    )
    errors = []
    for name in ("other", "tx"):
        request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=1000)
        errors.append(stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request).error_code)
    assert errors == [ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    assert fault.fired == 1


def test_several_faults_apply_together(stage: Stage) -> None:
    breaks(stage)
    slow = stage.dispatcher.faults.add({"action": {"delay_ms": 50}})
    pending = stage.ask(ApiKey.HEARTBEAT, 4, HEARTBEAT)
    assert isinstance(pending, PendingExchange)
    stage.clock.advance(50)
    assert stage.outcome(ApiKey.HEARTBEAT, 4, pending).error_code == BROKEN
    assert slow.fired == 1


# invalid faults


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({}, "action"),
        ({"action": {}}, "the fault has no action"),
        ({"action": {"eror": 1}}, "eror"),
        ({"action": {"error": "NO_SUCH_ERROR"}}, "NO_SUCH_ERROR"),
        ({"action": {"error": 47110}}, "47110"),
        ({"action": {"disconnect": "sometimes"}}, "disconnect"),
        ({"action": {"delay_ms": "1"}}, "delay_ms"),
        ({"action": {"delay_ms": -1}}, "delay_ms must be a number from 0"),
        (
            {"action": {"throttle_time_ms": 2**31}},
            "from 0 to 2147483647, not 2147483648",
        ),
        ({"action": {"delay_ms": 1}, "match": {"api": "Prodce"}}, "Prodce"),
        (
            {"action": {"delay_ms": 1}, "match": {"principal": ":alice"}},
            "`:alice`: expected one such as alice or User:alice",
        ),
        ({"action": {"delay_ms": 1}, "trigger": {"on_call": 0}}, "on_call"),
        ({"action": {"delay_ms": 1}, "trigger": {"on_call": 1, "times": 1}}, "one of"),
        ({"action": {"delay_ms": 1}, "trigger": {"with_probability": 2}}, "between"),
        ({"action": {"deny": {"operation": "Wrte"}}}, "Wrte"),
        ({"action": {"revoke": [{"principal": "x"}]}}, "acl 1"),
    ],
)
def test_invalid_faults_are_rejected(written: dict[str, Any], text: str) -> None:
    faults = Faults()
    with pytest.raises(FaultError, match=text):
        faults.add(written)
    assert not faults.by_id


def test_a_principal_without_a_type_is_a_user() -> None:
    written = {"action": {"delay_ms": 1}, "match": {"principal": "alice"}}
    assert parse_fault_spec(written).match.principal == "User:alice"
