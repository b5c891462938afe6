"""Handlers whose responses are cached ask neither the clock nor the random generator, unless the
request creates topics: then its response is not cached.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.arrays.messages import Case
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.dispatching.interceptors import QUOTAS
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers import describe_cluster
from kafka_shim.shim.request.context import RequestContext
from tests.fuzz.frames import USERS, Frames, stage_of
from tests.fuzz.judging import session_of
from tests.shim.dispatching.repeated_requests import CACHED_APIS, CACHED_KEYS
from tests.shim.play import Stage
from tests.shim.request.busy_cluster import NONE, BusyCluster
from tests.shim.request.extremes import frame_of

SOURCES = (
    (ManualClock, ("now_ms", "now_us", "call_later")),
    (random.Random, ("random", "getrandbits", "randbytes", "choice", "shuffle", "sample")),
)
"""All that a handler can ask for the time or a random number."""


@contextmanager
def asked() -> Iterator[list[str]]:
    """Yield a list of what is asked for meanwhile."""
    names: list[str] = []

    def noting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            names.append(name)
            return call(*arguments)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for source, functions in SOURCES:
            for name in functions:
                patch.setattr(source, name, noting(name, getattr(source, name)))
        yield names


def check(stage: Stage, frame: bytes, user: str) -> bool:
    """Return whether the response to a frame could be cached; raise AssertionError if the handler
    asked for what changes by itself.
    """
    api = stage.dispatcher.apis.find_api(*(int.from_bytes(frame[at : at + 2]) for at in (0, 2)))
    if api is None or not api.is_cacheable:
        return False
    topics_epoch = stage.cluster.topics.epoch
    stage.dispatcher.interceptors.set_interceptor(QUOTAS, None)  # they ask the clock, uncached
    with asked() as names:
        try:
            stage.dispatcher.dispatch(frame, session_of(user))
        except CloseConnection:
            return False
    if topics_epoch == stage.cluster.topics.epoch:
        assert not names, f"{api.key.name} {api.version} asked {names}"
    return True


@pytest.mark.parametrize("release", [RELEASES[0], "2.4", "2.8", "3.6", RELEASES[-1]])
def test_cached_responses_depend_on_neither_time_nor_chance(release: str) -> None:
    stage = stage_of(release)
    made = Frames(f"cacheable {release}", stage.dispatcher.apis.advertised)
    cacheable = 0
    for number in range(2_000):
        ids = [topic.topic_id for topic in stage.cluster.topics][:50] or [bytes(16)]
        frame = made.frame(number, ids)
        if frame[:2] in CACHED_KEYS:
            cacheable += check(stage, frame, USERS[number % len(USERS)])
    assert cacheable > 100


@pytest.mark.parametrize("api", CACHED_APIS)
def test_valid_requests_to_a_cluster_in_use_do_neither(api: ApiKey) -> None:
    stage = BusyCluster("")
    low, high = stage.dispatcher.apis.advertised[api]
    for version in range(low, high + 1):
        case = Case(api, version, (), is_equal=False)
        check(stage, frame_of(case, stage.valid(case, NONE)), "User:admin")


def test_a_handler_that_asks_the_clock_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = describe_cluster.handle

    def asking(request: Any, context: RequestContext) -> Any:
        context.cluster.clock.now_ms()
        return handle(request, context)

    monkeypatch.setattr(describe_cluster, "handle", asking)
    with pytest.raises(AssertionError, match=r"DESCRIBE_CLUSTER . asked .*now_ms"):
        test_valid_requests_to_a_cluster_in_use_do_neither(ApiKey.DESCRIBE_CLUSTER)
