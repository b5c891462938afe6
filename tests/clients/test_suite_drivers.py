"""Each driver of the conformance suite plays a few cases; its client fails only known ones."""

import asyncio

import pytest

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES
from tests.clients.suite_drivers import COMMANDS

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

CASES = (
    "denials.create-topic.partial-success",
    "denials.delete-group.*",
    "denials.create-acls.*",
    "denials.delete-acls.reports-error",
    "denials.alter-topic-configs.partial-success",
    "denials.group-offsets.reports-error",
    "denials.list-offsets.partial-success",
    "denials.produce.recovers",
    "denials.transactional-id.reports-error",
    "denials.delete-group-offsets-by-group.reports-error",
    "denials.tokens-disabled-create.reports-error",
    "denials.consume-by-topic.reports-error",
    "trouble.create-topics-unknown-server-error.reports-final-error",
)
"""One or two cases for each kind of command; together they take a second or two."""

QUICK = {"confluent-kafka", "kafka-python"}
"""Other drivers must be built with their own toolchains: `pytest -m heavy`."""

FAILED = {
    "kafka-python": {
        "denials.delete-group.partial-success",
        "denials.list-offsets.partial-success",
    },
    "aiokafka": {"denials.list-offsets.partial-success"},
    "franz-go": {"denials.list-offsets.partial-success"},
    "platformatic": {
        "denials.delete-group.partial-success",
        "denials.list-offsets.partial-success",
    },
    "rust-rdkafka": {"denials.group-offsets.reports-error", "denials.list-offsets.partial-success"},
    "kafkajs": {
        *(
            f"denials.delete-group.{aspect}"
            for aspect in ("reports-error", "partial-success", "recovers")
        ),
        *("denials.group-offsets.reports-error", "denials.transactional-id.reports-error"),
    },
}
"""Failing cases by driver; the page of the reports explains them."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.heavy) for name in COMMANDS],
)
def test_a_driver_passes_its_cases(name: str) -> None:
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), CASES)
    asyncio.run(run_cases(COMMANDS[name](), cases, RELEASES[-1], results.append))
    assert len(results) >= len(CASES)
    done = {result.case.id: (result.outcome, result.observed) for result in results}
    failed = {name for name, (outcome, _) in done.items() if outcome is CaseOutcome.FAILED}
    assert failed == FAILED.get(name, set()), done
