"""A proof compares what two runs of a program did."""

from collections import Counter

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.state.groups.streams.streams_member import StreamsStatus
from kafka_shim.traces.least_acls.program_runs import RunActivity, shortfalls

FIRST = RunActivity(
    frozenset({ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.HEARTBEAT}),
    frozenset({StreamsStatus.ASSIGNMENT_DELAYED}),
    Counter({"orders": 3, "run-1": 2}),
)


def found(
    second: RunActivity, *, prefixes: tuple[str, ...] = (), stopped: bool = False
) -> list[str]:
    return list(shortfalls(FIRST, second, prefixes, was_stopped=stopped))


def activity(
    requests: set[ApiKey] | None = None,
    statuses: set[StreamsStatus] | None = None,
    counts: dict[str, int] | None = None,
) -> RunActivity:
    return RunActivity(
        FIRST.requests if requests is None else frozenset(requests),
        FIRST.statuses if statuses is None else frozenset(statuses),
        FIRST.record_counts if counts is None else Counter(counts),
    )


@pytest.mark.parametrize(
    ("second", "problems"),
    [
        (activity(), []),
        (activity({*FIRST.requests, ApiKey.OFFSET_COMMIT}), []),
        (activity({ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH}), []),  # it ended sooner
        (activity({ApiKey.METADATA, ApiKey.HEARTBEAT}), ["it sent no Fetch, Produce"]),
        (
            activity(statuses={StreamsStatus.MISSING_INTERNAL_TOPICS}),
            ["its streams group had the status MISSING_INTERNAL_TOPICS"],
        ),
        (
            activity(counts={"orders": 2, "run-1": 2}),
            ["it wrote 2 records to `orders`, the first run 3"],
        ),
        (activity(counts={"orders": 9, "run-1": 2}), []),
    ],
)
def test_a_second_run_that_does_less_is_no_proof(second: RunActivity, problems: list[str]) -> None:
    assert found(second) == problems


def test_names_with_a_prefix_are_counted_together() -> None:
    second = activity(counts={"orders": 3, "run-2": 2})
    assert found(second) == ["it wrote 0 records to `run-1`, the first run 2"]
    assert found(second, prefixes=("run-",)) == []


def test_a_stopped_run_can_write_fewer_records_but_not_none() -> None:
    assert found(activity(counts={"orders": 1, "run-1": 1}), stopped=True) == []
    problem = "it wrote 0 records to `run-1`, the first run 2"
    assert found(activity(counts={"orders": 3}), stopped=True) == [problem]
