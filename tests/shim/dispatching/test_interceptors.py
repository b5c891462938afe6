"""An interceptor is called for every request, in the order of its hooks; without any, none is."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.shim.dispatching.interceptors import Exchange, Handle, Interceptor
from kafka_shim.shim.dispatching.response_cache import ResponseCache
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.request.session import Session
from tests.shim.faults.sample_requests import metadata
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL


class HookLog(Interceptor):
    """Notes the names of the hooks that were called."""

    def __init__(self) -> None:
        self.hooks: list[str] = []

    def on_arrival(self, session: Session) -> None:
        self.hooks.append(f"arrival {session.principal}")

    def on_header(self, exchange: Exchange) -> None:
        self.hooks.append(f"header {exchange.header.api_key}")

    def on_request(self, exchange: Exchange) -> None:
        self.hooks.append(f"request {exchange.api.key.name}")

    def handle(self, exchange: Exchange, handle: Handle) -> Any:
        self.hooks.append("handle")
        return handle(exchange)

    def on_handled(self, exchange: Exchange) -> None:
        self.hooks.append(f"handled {len(exchange.context.access.records)}")

    def on_response(self, exchange: Exchange) -> None:
        self.hooks.append(f"response {exchange.errors}")

    def on_response_frame(self, exchange: Exchange) -> None:
        self.hooks.append(f"frame {exchange.response_frame is not None}")

    def on_end(self, exchange: Exchange) -> None:
        self.hooks.append(f"end {len(exchange.decisions)}")

    def on_disconnect(self, session: Session, reason: str) -> None:
        self.hooks.append(f"disconnect {session.number} {reason}")


def watched_stage() -> tuple[Stage, HookLog]:
    stage, interceptor = Stage("4.3"), HookLog()
    stage.topic("orders")
    stage.dispatcher.interceptors.set_interceptor("log", interceptor)
    return stage, interceptor


def test_hooks_are_called_in_order() -> None:
    stage, interceptor = watched_stage()
    stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    assert interceptor.hooks == [
        "arrival User:admin", "header 3", "request METADATA", "handle", "handled 1",
        "response None", "frame True", "end 1",
    ]  # fmt: skip


def test_cached_responses_are_observed_without_a_handler() -> None:
    stage, interceptor = watched_stage()
    stage.dispatcher.response_cache = ResponseCache(stage.cluster)
    for _ in range(3):
        interceptor.hooks.clear()
        stage.ask(ApiKey.METADATA, 12, metadata("orders"))
    assert stage.dispatcher.response_cache.hits == 1
    assert "handle" not in interceptor.hooks
    assert interceptor.hooks == [
        "arrival User:admin", "header 3", "request METADATA", "handled 1", "response ()",
        "frame True", "end 1",
    ]  # fmt: skip


@pytest.mark.parametrize("when", ["before", "after"])
def test_interceptors_of_handlers_are_nested(when: str) -> None:
    stage, interceptor = watched_stage()
    stage.dispatcher.faults.add({"action": {"disconnect": when}})
    with pytest.raises(CloseConnection):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
    called = int(when == "after")
    assert interceptor.hooks == [
        "arrival User:admin", "header 29", "request DESCRIBE_ACLS", *["handle"] * called,
        f"handled {called}", "end 0",
    ]  # fmt: skip


def test_the_request_that_sets_the_first_quota_is_not_throttled_by_it() -> None:
    stage = Stage("4.3")
    stage.dispatcher.set_history(History())
    quota = RequestEntryData(
        [RequestEntityData("user", "admin")], [OpData("request_percentage", 1.0)]
    )
    response = stage.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, AlterClientQuotasRequest([quota]))
    assert stage.cluster.throttles is not None
    assert response.throttle_time_ms == 0
