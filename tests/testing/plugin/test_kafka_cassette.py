"""The fixture `kafka_cassette`: recorded once, played from then on, mismatches fail the test."""

from pathlib import Path

from kafka_shim.testing import start
from tests.testing.plugin.nested import run_pytest

TEST = """
import pytest
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.client.client import connect

@pytest.mark.kafka_cassette("topics")
def test_topics(kafka_cassette):
    assert kafka_cassette.config()["bootstrap.servers"] == kafka_cassette.bootstrap_servers
    topics = [CreatableTopic("orders", num_partitions=1, replication_factor=1)]
    with connect(kafka_cassette.bootstrap_servers) as client:
        response = client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics))
    error = response.topics[0].error_code
    assert error == 0
"""


def test_a_test_is_recorded_once_and_then_played(tmp_path: Path) -> None:
    test = tmp_path / "test_topics.py"
    test.write_text(TEST)
    missing = run_pytest(tmp_path).stdout
    assert "1 error" in missing
    assert "topics.ktrace does not exist: record it with --kafka-cassette-upstream" in missing
    with start(in_process=True) as broker:
        recorded = run_pytest(tmp_path, "--kafka-cassette-upstream", broker.bootstrap_servers)
        assert "1 passed" in recorded.stdout, recorded.stdout
    assert [path.name for path in (tmp_path / "cassettes").iterdir()] == ["topics.ktrace"]
    assert "1 passed" in run_pytest(tmp_path).stdout

    test.write_text(TEST.replace('"orders"', '"order"'))
    failed = run_pytest(tmp_path, "--junitxml", "junit.xml").stdout
    assert "1 failed" in failed
    assert "Not in the cassette topics.ktrace" in failed
    difference = "topics[].name: recorded 'orders', sent 'order'"
    assert difference in failed
    assert difference in (tmp_path / "junit.xml").read_text()

    test.write_text(TEST.replace('"orders"', '"order"').replace("assert error == 0", ""))
    unnoticed = run_pytest(tmp_path).stdout
    assert "1 passed, 1 error" in unnoticed
    assert difference in unnoticed
