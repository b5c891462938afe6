"""The cache of responses: who gets them, its limits, and the changes that end it."""

import asyncio
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.control.broker_control import BrokerControl
from kafka_shim.shim.control.routes import Call, call_route, find_route
from kafka_shim.shim.dispatching.response_cache import MISSES_MAX, ResponseCache
from tests.shim.play import LISTENER, Stage

ASKED = MetadataRequest([MetadataRequestTopic(name="orders")], allow_auto_topic_creation=False)
UNKNOWN = 3


class KeepingStage(Stage):
    """A stage that caches responses; `error` returns the topic's error code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept = self.dispatcher.response_cache = ResponseCache(self.cluster)

    def error(self, principal: str = "User:admin") -> int:
        return int(self.ask(ApiKey.METADATA, 12, ASKED, principal).topics[0].error_code)

    def thrice(self, principal: str = "User:admin") -> set[int]:
        return {self.error(principal) for _ in range(3)}


def test_the_third_response_is_the_cached_second_one() -> None:
    stage = KeepingStage()
    assert stage.thrice() == {UNKNOWN}
    assert stage.kept.hits == 1


def test_responses_are_cached_for_each_principal() -> None:
    stage = KeepingStage()
    stage.topic("orders")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders")
    assert stage.thrice("User:alice") == {0}
    assert stage.thrice("User:bob") == {29}
    stage.session("User:alice").principal = "User:bob"
    assert stage.error("User:alice") == 29
    assert stage.kept.hits == 3


def test_a_fault_ends_caching() -> None:
    stage = KeepingStage()
    stage.thrice()
    fault = {"match": {"api": "Metadata"}, "action": {"error": 7}, "trigger": {"every_time": True}}
    stage.dispatcher.faults.add(fault)
    assert stage.thrice() == {7}
    stage.dispatcher.faults.remove_all()
    assert stage.thrice() == {UNKNOWN}


def test_a_request_that_creates_a_topic_is_not_answered_from_the_cache() -> None:
    stage = KeepingStage()
    asked = MetadataRequest([MetadataRequestTopic(name="orders")])
    responses = [stage.ask(ApiKey.METADATA, 12, asked) for _ in range(4)]
    codes = [response.topics[0].error_code for response in responses]
    assert codes[0] != 0
    assert codes[1:] == [0, 0, 0]


def test_the_cache_is_limited_and_drops_the_oldest() -> None:
    stage = KeepingStage()
    stage.kept = stage.dispatcher.response_cache = ResponseCache(stage.cluster, bytes_max=20_000)
    for number in range(200):
        name = MetadataRequestTopic(name=f"orders-{number}")
        asked = MetadataRequest([name], allow_auto_topic_creation=False)
        for _ in range(2):
            stage.ask(ApiKey.METADATA, 12, asked)
        assert 0 < stage.kept.memory_bytes <= 20_000
    assert stage.kept.hits == 0
    for _ in range(12):
        stage.thrice()
    assert stage.kept.hits > 0


def test_a_repeated_request_is_cached_soon_after_many_different_ones() -> None:
    stage = KeepingStage()
    for number in range(MISSES_MAX):
        name = MetadataRequestTopic(name=f"orders-{number}")
        stage.ask(ApiKey.METADATA, 12, MetadataRequest([name], allow_auto_topic_creation=False))
    assert [stage.error() for _ in range(24)] == [UNKNOWN] * 24
    assert stage.kept.hits == 1
    stage.thrice()
    assert stage.kept.hits == 4


class OwnAuthorizer(StandardAuthorizer):
    """An authorizer whose decisions could depend on anything, such as the time of day."""


def test_responses_are_not_cached_with_an_own_authorizer() -> None:
    assert Broker(Config(listeners=(LISTENER,))).dispatcher.response_cache is not None
    own = f"{__name__}:OwnAuthorizer"
    assert Broker(Config(listeners=(LISTENER,), authorizer=own)).dispatcher.response_cache is None


VERBS = [
    ("POST", "/topics", {"name": "orders"}),
    ("DELETE", "/topics/first", None),
    ("POST", "/acls", {"acls": [{"principal": "User:a", "allow": "Read", "topic": "t"}]}),
    ("POST", "/reset", None),
    ("POST", "/nodes/1/stop", None),
    ("POST", "/clock/advance", {"by_ms": 5}),
    ("POST", "/faults", {"action": {"error": 7}}),
]


@pytest.mark.parametrize(("method", "path", "body"), VERBS)
def test_a_change_by_the_control_api_ends_caching(method: str, path: str, body: Any) -> None:
    broker = Broker(Config(listeners=(LISTENER,)), ManualClock())
    broker.cluster.topics.create_topic("first", [[1]], {})
    control, changes = BrokerControl(broker), broker.cluster.state_version
    before = changes.number
    route, named = find_route(method, path)
    asyncio.run(call_route(control, route, Call(named, {}, body)))
    assert changes.number > before
    assert changes.under_way == 0


def test_reading_through_the_control_api_does_not_end_caching() -> None:
    broker = Broker(Config(listeners=(LISTENER,)), ManualClock())
    control, before = BrokerControl(broker), broker.cluster.state_version.number
    for path in ("/topics", "/state", "/requests", "/faults", "/health"):
        route, named = find_route("GET", path)
        asyncio.run(call_route(control, route, Call(named)))
    assert broker.cluster.state_version.number == before


def test_during_a_change_responses_are_neither_cached_nor_taken_from_the_cache() -> None:
    stage = KeepingStage()
    with stage.cluster.state_version.changing():
        stage.thrice()
    assert stage.kept.hits == 0
    stage.thrice()
    assert stage.kept.hits == 1
