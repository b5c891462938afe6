"""`kafka-shim run --playback` records a cassette once, and exits with 3 after a mismatch."""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH, EXIT_USAGE, main
from kafka_shim.protocol.enums import ApiKey
from tests.cli.conftest import Running
from tests.docs.shown import blocks
from tests.shim.wire import Wire
from tests.support.commands import SHIM, environment
from tests.traces.cassettes.kit import metadata, record

SCRIPT = """
import os, sys
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.client.client import connect

topics = [CreatableTopic(sys.argv[1], num_partitions=1, replication_factor=1)]
with connect(os.environ["KAFKA_BOOTSTRAP_SERVERS"]) as client:
    response = client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics))
print(response.topics[0].error_message)
"""


def run(folder: Path, topic: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*SHIM, "run", "--playback", str(folder / "topics.ktrace"), *options]
    return subprocess.run(
        [*command, "--", sys.executable, "-c", SCRIPT, topic],
        capture_output=True, text=True, timeout=60, check=False, env=environment(),
    )  # fmt: skip


def test_a_mismatch_is_told_to_the_client_in_the_log_in_the_report_and_by_the_exit_code(
    tmp_path: Path, broker: Running
) -> None:
    recorded = run(tmp_path, "cassette", "--playback-mode", "once", "--upstream", broker.plaintext)
    assert recorded.returncode == 0, recorded.stderr
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    options = ("--control", "127.0.0.1:0")
    played = run(tmp_path, "tape", *options, "--playback-report", str(report))
    difference = "topics[].name: recorded 'cassette', sent 'tape'"
    assert played.returncode == EXIT_MISMATCH
    assert difference in played.stdout
    assert "no recorded response" in played.stderr
    assert "mismatch (content): CreateTopics v7 of User:ANONYMOUS" in played.stderr
    assert "the inspector is at http://127.0.0.1:" in played.stderr
    (mismatch,) = json.loads(report.read_text())["mismatches"]
    assert (mismatch["field"], mismatch["sent"]) == ("topics[].name", "'tape'")
    closed = run(tmp_path, "tape", "--on-mismatch", "close", "--playback-report", str(page))
    assert closed.returncode == EXIT_MISMATCH
    assert "did not answer" in closed.stderr or "closed the connection" in closed.stderr
    assert "<td><code>topics[].name</code></td>" in page.read_text()


def test_a_cluster_that_cannot_be_reached_is_a_failure(tmp_path: Path, broker: Running) -> None:
    unreachable = ("--upstream", "127.0.0.1:1")
    nothing = run(tmp_path, "cassette", "--playback-mode", "once", *unreachable)
    assert nothing.returncode == EXIT_FAILURE
    assert "no request reached the cluster" in nothing.stderr
    run(tmp_path, "cassette", "--playback-mode", "once", "--upstream", broker.plaintext)
    played = run(tmp_path, "tape", "--playback-mode", "new-episodes", *unreachable)
    assert played.returncode == EXIT_MISMATCH
    assert "mismatch (cluster): CreateTopics v7 of User:ANONYMOUS" in played.stderr


def test_a_damaged_cassette_is_reported_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = asyncio.run(record(tmp_path / "orders", _list_topics))
    [segment] = trace.iterdir()
    segment.write_bytes(segment.read_bytes()[:-8])
    words = ["run", "--playback", str(segment), "--playback-report", str(tmp_path / "report.json")]
    assert main([*words, "--", "true"]) == EXIT_MISMATCH
    assert f"damaged: {segment}: " in capsys.readouterr().err
    [damage] = json.loads((tmp_path / "report.json").read_text())["damage"]
    assert damage.startswith(f"{segment}: ")
    assert main([*words, "--accept-damage", "--", "true"]) == 0
    assert "accepted damage:" in capsys.readouterr().err


def test_the_service_on_the_page_plays_to_other_containers(tmp_path: Path) -> None:
    places = {(block.page, block.language): block.text for block in blocks()}
    page = yaml.safe_load(places["docs/guides/cassettes.md", "yaml"])
    words = page["services"]["kafka"]["command"]
    trace = asyncio.run(record(tmp_path / "orders", _list_topics))
    shown = {"/cassettes/orders.ktrace": str(trace), "0.0.0.0:9092": "127.0.0.1:0"}
    for text, real in shown.items():
        words = [word.replace(text, real) for word in words]
    with subprocess.Popen([*SHIM, *words], stdout=subprocess.PIPE, env=environment()) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"listening on PLAINTEXT://kafka:9092\n"
        child.terminate()


async def _list_topics(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))


def test_the_inspector_of_a_playback_is_on_this_machine_only_and_on_a_free_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = asyncio.run(record(tmp_path / "orders", _list_topics))
    words = ["run", "--playback", str(trace), "--control"]
    assert main([*words, "0.0.0.0:0", "--", "true"]) == EXIT_USAGE
    assert "with --playback only 127.0.0.1:PORT" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main([*words, address, "--", "true"]) == EXIT_FAILURE
    assert f"cannot listen on {address}: Address already in use" in capsys.readouterr().err


def test_a_cassette_that_cannot_be_read_is_reported_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "writer-00000000.ktrace").mkdir()
    assert main(["run", "--playback", str(tmp_path), "--", "true"]) == EXIT_FAILURE
    assert f"cannot read `{tmp_path}`: Is a directory" in capsys.readouterr().err
