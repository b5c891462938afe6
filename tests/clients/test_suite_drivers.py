"""Each driver of the conformance suite plays a few cases; its client fails only known ones."""

import asyncio

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.traffic.suite.case import Outcome, Result
from kafka_shim.shim.traffic.suite.cases import all_cases
from kafka_shim.shim.traffic.suite.play import chosen, play
from tests.clients.suite_drivers import COMMANDS

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

CASES = (
    "denials.create-topic.half",
    "denials.delete-group.*",
    "denials.create-acls.*",
    "denials.delete-acls.tells",
    "denials.alter-topic-configs.half",
    "denials.group-offsets.tells",
    "denials.list-offsets.half",
    "denials.produce.goes-on",
    "denials.transactional-id.tells",
    "denials.delete-group-offsets-by-group.tells",
    "denials.tokens-disabled-create.tells",
    "denials.consume-by-topic.tells",
    "trouble.create-topics-unknown-server-error.told",
)
"""One or two cases for each kind of command; together they take a second or two."""

QUICK = {"confluent-kafka", "kafka-python"}
"""Other drivers must be built with their own toolchains: `make drivers`."""

FAILED = {
    "kafka-python": {"denials.delete-group.half", "denials.list-offsets.half"},
    "aiokafka": {"denials.list-offsets.half"},
    "franz-go": {"denials.list-offsets.half"},
    "platformatic": {"denials.delete-group.half", "denials.list-offsets.half"},
    "rust-rdkafka": {"denials.group-offsets.tells", "denials.list-offsets.half"},
    "kafkajs": {
        *(f"denials.delete-group.{aspect}" for aspect in ("tells", "half", "goes-on")),
        *("denials.group-offsets.tells", "denials.transactional-id.tells"),
    },
}
"""Failing cases by driver; the page of the reports explains them."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.heavy) for name in COMMANDS],
)
def test_a_driver_passes_its_cases(name: str) -> None:
    results: list[Result] = []
    cases = chosen(all_cases(), CASES)
    asyncio.run(play(COMMANDS[name](), cases, RELEASES[-1], results.append))
    assert len(results) >= len(CASES)
    done = {result.case.id: (result.outcome, result.done) for result in results}
    failed = {name for name, (outcome, _) in done.items() if outcome is Outcome.FAILED}
    assert failed == FAILED.get(name, set()), done
