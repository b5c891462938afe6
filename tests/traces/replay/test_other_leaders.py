"""A replay to a cluster with other leaders, other coordinators, or another number of brokers."""

from pathlib import Path

import pytest

from kafka_shim.traces.replay.report import report_lines
from tests.cli.conftest import Running
from tests.traces.replay.recorded_clients import RECORDS, replay, run_clients, shims

pytestmark = [
    pytest.mark.client,
    pytest.mark.folders("src/kafka_shim/traces/replay", "tests/traces/replay"),
]

recorded_leaders: dict[int, list[int]] = {}
"""Of the recorded clusters, by their number of brokers."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return recordings of one broker and of three, by their number."""
    folders = {}
    for count in (1, 3):
        folders[count] = tmp_path_factory.mktemp(f"trace-{count}")
        with shims(count, seed=1) as recorded:
            recorded.record(folders[count])
            run_clients(recorded.plaintext, recorded.sasl)
            recorded_leaders[count] = leaders_of(recorded)
    return folders


@pytest.mark.parametrize(
    ("recorded", "brokers", "seed"), [(3, 3, 2), (3, 1, 2), (1, 3, 2), (3, 5, 3)]
)
def test_other_leaders_make_no_difference(
    traces: dict[int, Path], recorded: int, brokers: int, seed: int
) -> None:
    with shims(brokers, seed=seed) as target:
        report = replay(traces[recorded], target.plaintext, target.sasl)
        leaders = leaders_of(target)
    text = "\n".join(report_lines(report))
    assert "not compared" not in text.splitlines()[2].replace("ends of logs with transactions", "")
    assert report.matches_recording, text
    assert report.unreached_requests == 0
    assert report.compared_records == 2 * RECORDS
    assert brokers == 1 or leaders != recorded_leaders[recorded]


def leaders_of(broker: Running) -> list[int]:
    topic = broker.cluster.topics.get("orders")
    assert topic is not None
    return [partition.leader_id for partition in topic.partitions]
