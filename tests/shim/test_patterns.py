"""Regular expressions of clients run with RE2, in limited time, on visible names only."""

import subprocess
import sys
import time
from types import ModuleType
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.shim import re2_patterns
from kafka_shim.shim.handlers import list_transactions
from kafka_shim.shim.re2_patterns import (
    EXPRESSION_BYTES_MAX,
    InvalidPatternError,
    Pattern,
    compile_pattern,
)
from kafka_shim.shim.state.groups import topic_subscriptions
from tests.shim.handlers.records import ALICE
from tests.shim.play import Stage

EXPONENTIAL = "(.|.)*!"
UNKNOWN_TO_RE2 = ("(?=a)", r"(a)\1", "(", "a{1001}")
INVALID_REGULAR_EXPRESSION = 128
INVALID_CONFIG = 40
CLIENT_METRICS = 16


def with_transactions(*names: str) -> Stage:
    stage = Stage()
    for name in names:
        stage.cluster.transactions.init_producer_id(name, 60_000, -1, -1)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "mine", prefixed=True)
    return stage


def listed(stage: Stage, expression: str) -> Any:
    request = ListTransactionsRequest(transactional_id_pattern=expression)
    response = stage.ask(ApiKey.LIST_TRANSACTIONS, 2, request, ALICE)
    found = sorted(row.transactional_id for row in response.transaction_states)
    return response.error_code, found


def joined(stage: Stage, expression: str, principal: str = ALICE) -> Any:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", rebalance_timeout_ms=1000, topic_partitions=[],
        subscribed_topic_regex=expression,
    )  # fmt: skip
    return stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request, principal)


class Noted:
    """A pattern that records the strings it is matched with."""

    def __init__(self, pattern: Pattern, seen: list[str]) -> None:
        self._pattern = pattern
        self._seen = seen

    def fullmatch(self, text: str) -> object | None:
        self._seen.append(text)
        return self._pattern.fullmatch(text)


def names_seen(monkeypatch: pytest.MonkeyPatch, handler: ModuleType) -> list[str]:
    """Return the list to which a handler's patterns add each name that they are matched with."""
    seen: list[str] = []
    monkeypatch.setattr(
        handler,
        "compile_client_pattern",
        lambda text: Noted(compile_pattern(text), seen),
    )
    return seen


def test_an_expression_that_is_exponential_elsewhere_is_fast() -> None:
    began = time.process_time()
    assert listed(with_transactions("mine" + "a" * 200), EXPONENTIAL) == (0, [])
    assert time.process_time() - began < 0.5


def test_an_expression_must_match_the_whole_id() -> None:
    stage = with_transactions("mine-1", "mine-2", "others-1")
    assert listed(stage, ".*-1") == (0, ["mine-1"])
    assert listed(stage, "mine") == (0, [])


@pytest.mark.parametrize(
    ("handler", "expected"),
    [(topic_subscriptions, ["mine"]), (list_transactions, ["mine", "others"])],
    ids=["topics are authorized first", "transactional ids are filtered first, as in Kafka"],
)
def test_patterns_are_matched_in_the_order_of_the_broker(
    monkeypatch: pytest.MonkeyPatch, handler: ModuleType, expected: list[str]
) -> None:
    noted = names_seen(monkeypatch, handler)
    stage = with_transactions("mine", "others")
    for name in ("mine", "others"):
        stage.topic(name)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "mine")
    stage.allow(ALICE, Operation.READ, ResourceType.GROUP, "g")
    listed(stage, ".*")
    joined(stage, ".*")
    assert noted == expected


@pytest.mark.parametrize("expression", UNKNOWN_TO_RE2)
def test_expressions_unsupported_by_re2_are_rejected(expression: str) -> None:
    stage = with_transactions("mine")
    stage.allow(ALICE, Operation.READ, ResourceType.GROUP, "g")
    assert listed(stage, expression) == (INVALID_REGULAR_EXPRESSION, [])
    assert joined(stage, expression).error_code == INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("expression", ["x" * (EXPRESSION_BYTES_MAX + 1), "(?:x?y?.?){1000}"])
def test_large_expressions_are_refused(expression: str) -> None:
    with pytest.raises(InvalidPatternError):
        compile_pattern(expression)
    assert listed(with_transactions("mine"), expression) == (INVALID_REGULAR_EXPRESSION, [])


def test_common_expressions_are_accepted() -> None:
    names = "|".join(f"topic-{number:05}" for number in range(300))
    for expression in (names, r"orders\.(eu|us)-[0-9]{1,3}", r"\Qa.b\E.*", "(?i)payments", ".*"):
        compile_pattern(expression)


def metrics_matched(stage: Stage, expression: str) -> int:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                CLIENT_METRICS, "one", [AlterableConfig("match", 0, f"client_id={expression}")]
            )
        ]
    )
    response = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    return response.responses[0].error_code


def test_patterns_of_client_metrics_run_with_re2() -> None:
    stage = Stage()
    assert metrics_matched(stage, EXPONENTIAL) == 0
    assert metrics_matched(stage, r"(a)\1") == INVALID_CONFIG


def test_a_broker_starts_without_re2() -> None:
    code = "import sys, kafka_shim.shim.broker, kafka_shim.shim.handlers.list_transactions as l;"
    subprocess.run(
        [sys.executable, "-c", f"{code} sys.exit('re2' in sys.modules)"], check=True, timeout=60
    )


def test_without_re2_expressions_are_rejected_and_the_extra_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)  # an import then fails as if it were missing
    re2_patterns._warn_once.cache_clear()
    stage = with_transactions("mine")
    stage.allow(ALICE, Operation.READ, ResourceType.GROUP, "g")
    assert listed(stage, "mine") == (INVALID_REGULAR_EXPRESSION, [])
    response = joined(stage, "mine")
    assert response.error_code == INVALID_REGULAR_EXPRESSION
    assert "requires the extra `regex`" in response.error_message
    assert caplog.text.count("requires the extra `regex`") == 1
    assert metrics_matched(stage, "a") == INVALID_CONFIG


def test_compiled_expressions_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    import re2

    purged: list[None] = []
    monkeypatch.setattr(re2, "purge", lambda: purged.append(None))
    re2_patterns.compile_pattern("a")
    assert len(purged) == 1
