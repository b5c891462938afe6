"""A broker of three that ends in the middle of a replay, and starts again."""

from collections.abc import Iterable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_shim.traces.replay.asking_again import LOST
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from tests.traces.replay.recorded_clients import (
    PARTITIONS,
    RECORDS,
    replay,
    run_clients,
    shims,
)

pytestmark = [
    pytest.mark.client,
    pytest.mark.folders("src/kafka_shim/traces/replay", "tests/traces/replay"),
]
FOR_GOOD_S = 1_000.0


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    with shims(3, seed=1) as recorded:
        recorded.record(folder)
        run_clients(recorded.plaintext, recorded.sasl)
    return folder


def replayed(
    trace: Path, node_ids: Iterable[int], absent_s: float, timeout_s: float = 15.0
) -> tuple[ReplayReport, str]:
    with shims(3, seed=2) as target:

        def end_brokers() -> None:
            for node_id in node_ids:
                target.stop_node(node_id)
                start = Timer(absent_s, target.start_node, [node_id])
                start.daemon = True
                start.start()

        report = replay(
            trace, target.plaintext, target.sasl, operate=end_brokers, timeout_s=timeout_s
        )
    text = "\n".join(report_lines(report))
    assert report.unreached_requests == 0, text
    return report, text


@pytest.mark.parametrize("node_id", [1, 3])
def test_a_broker_that_ends_and_starts_makes_no_difference(trace: Path, node_id: int) -> None:
    report, text = replayed(trace, [node_id], 1.0)
    assert report.matches_recording, text
    assert report.asked_again[LOST] > 0, text


def test_others_lead_in_place_of_a_broker_that_stays_away(tmp_path: Path) -> None:
    """The replay learns the new leaders from the brokers that are left."""
    with shims(3, seed=1) as recorded:
        recorded.record(tmp_path)
        servers: dict[str, Any] = {"bootstrap.servers": recorded.plaintext}
        admin = AdminClient(servers)
        admin.create_topics([NewTopic("copied", PARTITIONS, 3)])["copied"].result(10)
        producer = Producer(servers | {"linger.ms": 0})
        for number in range(2 * RECORDS):
            producer.produce("copied", f"value {number}", partition=number % PARTITIONS)
            producer.flush(10)
    report, text = replayed(tmp_path, [2], FOR_GOOD_S, timeout_s=5.0)
    assert report.matches_recording, text
    assert report.asked_again[LOST] > 0, text
    assert report.seconds < 4, text


def test_each_request_that_no_broker_answers_is_named(trace: Path) -> None:
    """All brokers end, so that nothing answers; the replay waits for them once."""
    report, text = replayed(trace, (1, 2, 3), FOR_GOOD_S, timeout_s=0.5)
    assert report.unreplayable_count > 10, text
    reasons = {reason for _, reason in report.unreplayable_requests}
    assert all("cannot connect" in reason or "closed" in reason for reason in reasons), reasons
    assert report.seconds < 15, text
    assert report.responses > 10
