"""How Kafka's Java clients react to faults: they retry, give up, log in again, or report."""

import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from kafka_shim.testing import KafkaBroker
from kafka_shim.testing.faults import InjectedFault
from tests.clients.toolchains import java_program

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

RULE = {"principal": "alice", "allow": ["Write", "Describe"], "topic": "orders"}
QUICK = {
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 50,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 50,
    "linger.ms": 0,
}


class Java:
    """A process of `java/Sender.java`, which answers each command with one line."""

    def __init__(self, command: list[str], settings: dict[str, Any]) -> None:
        words = [f"{key}={value}" for key, value in settings.items()]
        self._child = subprocess.Popen(
            [*command, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, line: str, **settings: object) -> str:
        self.ask(line, **settings)
        return self.response()

    def ask(self, line: str, **settings: object) -> None:
        assert self._child.stdin is not None
        options = [f"{key.replace('_', '.')}={value}" for key, value in settings.items()]
        self._child.stdin.write(" ".join([line, *options]) + "\n")
        self._child.stdin.flush()

    def response(self) -> str:
        assert self._child.stdout is not None
        return self._child.stdout.readline().strip()

    def has_responded(self, within_s: float) -> bool:
        """Return whether the answer arrives in time; call it only before `answer`."""
        assert self._child.stdout is not None
        return bool(select.select([self._child.stdout], [], [], within_s)[0])

    def end(self) -> None:
        self._child.terminate()
        self._child.communicate()


@pytest.fixture(scope="module")
def program() -> list[str]:
    return java_program(Path(__file__).parent / "java", "Sender")


@pytest.fixture(scope="module")
def process(shared: KafkaBroker, program: list[str]) -> Iterator[Java]:
    found = Java(program, shared.config("alice", style="java") | QUICK)
    yield found
    found.end()


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    shared.reset()
    shared.config("alice")  # creates the user, which the reset removed
    shared.topics.create("orders")
    shared.acls.add(RULE)
    return shared


@pytest.fixture
def java(process: Java, broker: KafkaBroker) -> Java:
    """Return a process with a non-idempotent producer, whose retries duplicate records."""
    assert process("producer", enable_idempotence="false") == "ok"
    return process


def stored(broker: KafkaBroker) -> int:
    [topic] = broker.topics.list()
    return int(topic.end_offsets[0])


# ------------------------------------------------------------------ actions


def test_a_retriable_error_is_retried(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", partition=0, times=2)
    assert java("send") == "ok"
    assert (fault.fired, fault.calls, stored(broker)) == (2, 3, 1)


def test_an_error_that_is_not_retriable_is_reported(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.error("INVALID_TOPIC_EXCEPTION", api="Produce")
    assert java("send") == "InvalidTopicException"
    assert (fault.fired, stored(broker)) == (1, 0)
    assert java("send") == "ok"


def test_a_fenced_producer_cannot_be_used_again(java: Java, broker: KafkaBroker) -> None:
    broker.acls.add({"principal": "alice", "allow": ["Write", "Describe"], "transactional-id": "t"})
    assert java("producer", transactional_id="t") == "ok"
    assert [java(word) for word in ("init", "begin", "send")] == ["ok"] * 3
    fault = broker.faults.error("PRODUCER_FENCED", api="EndTxn")
    assert java("commit") == "ProducerFencedException"
    assert (java("begin"), fault.fired) == ("ProducerFencedException", 1)


def test_a_slow_broker_is_waited_for(java: Java, broker: KafkaBroker) -> None:
    assert java("send") == "ok"
    broker.faults.delay(400, api="Produce")
    began = time.monotonic()
    assert java("send") == "ok"
    assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize(
    ("when", "idempotent", "records"),
    [("before", "false", 1), ("after", "false", 2), ("after", "true", 1)],
)
def test_a_lost_response_duplicates_a_record_unless_idempotent(
    java: Java, broker: KafkaBroker, when: Literal["before", "after"], idempotent: str, records: int
) -> None:
    java("producer", enable_idempotence=idempotent)
    fault = broker.faults.disconnect(when, api="Produce")
    assert java("send") == "ok"
    assert (fault.fired, stored(broker)) == (1, records)


def test_a_black_hole_ends_in_a_timeout(java: Java, broker: KafkaBroker) -> None:
    java("producer", request_timeout_ms=300, delivery_timeout_ms=800)
    fault = broker.faults.black_hole(api="Produce", every_time=True)
    assert java("send") == "TimeoutException"
    assert fault.fired >= 1


def test_a_pause_is_released_while_the_producer_waits(java: Java, broker: KafkaBroker) -> None:
    """The producer accepts the delayed response and does not retry."""
    fault = broker.faults.pause(api="Produce")
    java.ask("send")
    wait_until_it_fires(fault)
    assert not java.has_responded(within_s=0.3)
    assert stored(broker) == 1
    assert fault.release() == 1
    assert java.response() == "ok"
    assert (java("send"), fault.calls, stored(broker)) == ("ok", 2, 2)


def test_a_pause_is_released_while_the_consumer_waits(java: Java, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "alice", "allow": "Read", "topic": "orders"},
        {"principal": "alice", "allow": "Read", "group": "billing"},
    )
    assert java("send") == "ok"
    java("consumer", group_id="billing", auto_offset_reset="earliest", fetch_max_wait_ms=50)
    fault = broker.faults.pause(api="JoinGroup")
    java.ask("poll")
    wait_until_it_fires(fault)
    assert not java.has_responded(within_s=0.3)
    assert fault.release() == 1
    assert java.response() == "1"


def test_a_pause_that_is_not_released_ends_in_a_timeout(java: Java, broker: KafkaBroker) -> None:
    java("producer", request_timeout_ms=300, delivery_timeout_ms=600)
    fault = broker.faults.pause(api="Produce", every_time=True)
    assert java("send") == "TimeoutException"
    assert fault.release() >= 1
    fault.remove()
    assert java("send") == "ok"


def wait_until_it_fires(fault: InjectedFault) -> None:
    deadline = time.monotonic() + 20
    while fault.fired == 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_throttling_is_reported(java: Java, broker: KafkaBroker) -> None:
    broker.faults.throttle(300, api="Produce")
    assert java("send") == "ok"
    assert java("metric produce-throttle-time-max") == "300.0"


def test_a_truncated_response_is_requested_again(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.truncate(6, api="Produce")
    assert java("send") == "ok"
    assert (fault.fired, stored(broker)) == (1, 2)


def test_a_corrupted_response_is_discarded(java: Java, broker: KafkaBroker) -> None:
    """The client cannot parse the response and drops the request, so the batch expires."""
    java("producer", enable_idempotence="false", request_timeout_ms=300, delivery_timeout_ms=800)
    fault = broker.faults.corrupt(api="Produce")
    assert java("send") == "TimeoutException"
    assert java("send") == "ok"
    assert fault.fired == 1


def test_deny_is_an_authorization_error(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.deny("Write", topic="orders", api="Produce")
    assert java("send") == "TopicAuthorizationException"
    assert (java("send"), fault.fired) == ("ok", 1)
    [denied] = broker.denials()
    assert (denied.operation, denied.resource_name) == ("WRITE", "orders")


def test_a_permission_is_revoked_and_granted_while_writing(java: Java, broker: KafkaBroker) -> None:
    broker.faults.revoke(RULE, after=2, api="Produce")
    broker.faults.grant(RULE, after=3, api="Produce")
    assert [java("send") for _ in range(4)] == ["ok", "ok", "TopicAuthorizationException", "ok"]
    assert stored(broker) == 3


def test_a_consumer_loses_its_permission(java: Java, broker: KafkaBroker) -> None:
    read = {"principal": "alice", "allow": "Read", "topic": "orders"}
    broker.acls.add(read, {"principal": "alice", "allow": "Read", "group": "billing"})
    assert java("send") == "ok"
    java("consumer", group_id="billing", auto_offset_reset="earliest", fetch_max_wait_ms=50)
    assert java("poll") == "1"
    broker.acls.remove(read)
    assert java("poll") == "TopicAuthorizationException"


def test_a_failed_login_is_reported_and_retried(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.error(
        "SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", every_time=True
    )
    assert java("producer", enable_idempotence="false") == "ok"
    assert java("send") == "SaslAuthenticationException"
    assert fault.fired >= 1
    fault.remove()
    assert java("send") == "ok"


def test_a_lost_login_is_repeated(java: Java, broker: KafkaBroker) -> None:
    fault = broker.faults.disconnect("after", api="SaslAuthenticate")
    assert java("producer") == "ok"
    assert (java("send"), fault.fired) == ("ok", 1)


# ------------------------------------------------------------------ triggers


@pytest.mark.parametrize(
    ("trigger", "struck"),
    [
        ({}, [True, False, False, False]),
        ({"on_call": 3}, [False, False, True, False]),
        ({"times": 2}, [True, True, False, False]),
        ({"every_time": True}, [True] * 4),
        ({"with_probability": 0.5, "seed": 10}, [False, True, False, True]),
    ],
    ids=["once", "on_call", "times", "every_time", "with_probability"],
)
def test_triggers_select_requests(
    java: Java, broker: KafkaBroker, trigger: dict[str, Any], struck: list[bool]
) -> None:
    fault = broker.faults.error("INVALID_REQUIRED_ACKS", api="Produce", **trigger)
    responses = [java("send") for _ in struck]
    assert [response == "InvalidRequiredAcksException" for response in responses] == struck
    assert set(responses) <= {"ok", "InvalidRequiredAcksException"}
    assert (fault.calls, fault.fired) == (len(struck), sum(struck))
