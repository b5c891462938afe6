"""A recording in which the client gave up is not kept."""

import json
from collections.abc import Collection
from typing import Any

import pytest

from tests.clients.cassettes import WORKLOADS, failures
from tests.clients.kit import PLAYS
from tests.clients.suite_play import STEPS


def kit_answers(**changed: Any) -> list[str]:
    """Return answers to all calls, of which the first one of each name can be another one."""
    answers = []
    for name, _, arguments in PLAYS["permissions"]:
        answer = changed.pop(name, {"result": ["value"] * arguments.get("count", 0)})
        answers.append(json.dumps(answer))
    return answers


def error(code: int | None, name: str = "KafkaError", text: str = "") -> dict[str, Any]:
    return {"error": {"code": code, "name": name, "text": text}}


@pytest.mark.parametrize(
    ("call", "answer", "is_kept"),
    [
        ("consume", {"result": ["value", "value"]}, True),
        ("consume", {"result": ["value"]}, False),
        ("consume", error(None, "KafkaTimeoutError"), False),
        ("produce", error(7), False),
        ("produce", error(29), True),
        ("transact", error(None, "KeyError"), True),
        ("transact", error(None, "*errors.errorString", "no call is named transact"), True),
    ],
)
def test_a_recording_is_kept_unless_the_client_gave_up(
    call: str, answer: dict[str, Any], is_kept: bool
) -> None:
    failed = failures(WORKLOADS["kafka-python"], kit_answers(**{call: answer}))
    assert [line.partition(":")[0] for line in failed] == [call] * (not is_kept)


def test_a_recording_without_all_answers_is_not_kept() -> None:
    calls = len(PLAYS["permissions"])
    failed = failures(WORKLOADS["kafka-python"], kit_answers()[:-1])
    assert failed == [f"{calls - 1} answers to {calls} calls"]


def suite_answers(unopened: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return good answers to all steps of clients that can be opened."""
    return [
        {"id": number, "unsupported": True}
        if step.client in unopened
        else {"id": number, "ok": {"values": ["value"] * step.count(unopened)}}
        for number, step in enumerate(STEPS)
        if step.client not in unopened or step.command == "open"
    ]


def test_a_client_without_transactions_reads_the_records_that_it_wrote() -> None:
    workload = WORKLOADS["kafka-go"]
    answers = suite_answers({"idempotent", "transaction"})
    assert failures(workload, [*map(json.dumps, answers)]) == []
    consumed = next(answer for answer in answers if answer.get("ok", {}).get("values"))
    assert len(consumed["ok"]["values"]) == 2
    consumed["ok"]["values"].pop()
    assert failures(workload, [*map(json.dumps, answers)]) == [json.dumps(consumed)]


def test_a_client_of_the_suite_may_only_be_denied() -> None:
    answers = suite_answers()
    workload = WORKLOADS["sarama"]
    assert failures(workload, [*map(json.dumps, answers)]) == []
    denied, consumed = (
        next(n for n, step in enumerate(STEPS) if (step.client, step.command) == named)
        for named in (("alice", "produce"), ("member", "consume"))
    )
    answers[denied] = {"id": denied} | error(29)
    assert failures(workload, [*map(json.dumps, answers)]) == []
    answers[consumed] = {"id": consumed} | error(30)
    answers[denied] = {"id": denied} | error(-185)
    failed = failures(workload, [*map(json.dumps, answers)])
    assert [json.loads(line)["id"] for line in failed] == [consumed, denied]
