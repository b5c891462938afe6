"""Type checkers accept correct tests of users, and report each mistake."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

USE = """\
from kafka_shim import __version__
from kafka_shim.testing import BrokerFactory, KafkaBroker, KafkaPolicy, Options, start


def right(broker: KafkaBroker, factory: BrokerFactory, options: Options) -> None:
    with start(kafka_version="3.9", topics=["orders"], tls=True, brokers=3) as other:
        other.stop()
    start(**options)
    factory(acls=[{"principal": "alice", "allow": "Write", "topic": "orders"}]).stop()
    assert broker.denials()[0].principal + broker.decisions(api="Produce", allowed=False)[0].rule
    assert broker.requests()[0].request["acks"] == -1
    assert broker.topics.list()[0].partitions > len(broker.topics.list()[0]["name"])
    assert broker.acls.list("alice")[0].operation == "WRITE"
    assert broker.state().groups[0].group_id.upper()
    broker.acls.add({"principal": "alice", "allow": "Write", "topic": "orders"})
    broker.acls.add(principal="alice", allow=["Write"], topic="orders")
    broker.faults.error("REQUEST_TIMED_OUT", api="Produce", times=3)
    assert broker.faults.list()[0].fired == broker.nodes.list()[0].node_id
    assert __version__.split(".")
    start(topics={"orders": {"partitions": 3, "configs": {"retention.ms": "1"}}, "other": 2})
    broker.faults.disconnect("after", api="Fetch")
    assert broker.topics.records("orders")[0].offset == broker.groups.get("g").lag
    assert broker.who_can("Write", "orders").allowed[0].principal
    assert broker.config("alice", **{"group.id": "g"})


def wrong(broker: KafkaBroker, factory: BrokerFactory, policy: KafkaPolicy) -> None:
    start(kafka_versoin="3.9")  # wrong
    start(brokers="three")  # wrong
    start(ready_file="ready")  # wrong
    factory(kafka_versoin="3.9")  # wrong
    broker.denials()[0].principle  # wrong
    broker.decisions()[0].resource  # wrong
    broker.decisions(alowed=False)  # wrong
    broker.requests()[0].acks  # wrong
    broker.topics.list()[0].partition  # wrong
    broker.topics.list()[0].name + 1  # wrong
    broker.acls.list()[0].topic  # wrong
    broker.acls.add(principle="alice")  # wrong
    broker.state().groups[0].id  # wrong
    broker.nodes.list()[0].id  # wrong
    broker.faults.list()[0].fires  # wrong
    broker.faults.error("REQUEST_TIMED_OUT", tims=3)  # wrong
    broker.bootstrap_server  # wrong
    broker.acls.add(principal="alice", allow="Wirte", topic="orders")  # wrong
    broker.acls.add(principal="alice", allow=["Write"], topic="o", pattern="prefxed")  # wrong
    broker.faults.error("REQUEST_TIMEDOUT", api="Produce")  # wrong
    broker.faults.delay(10, api="Prodcue")  # wrong
    broker.faults.disconnect("never")  # wrong
    broker.decisions(api="Fetsh")  # wrong
    broker.who_can("Wirte", "orders")  # wrong
    start(topics={"orders": {"partitons": 3}})  # wrong
    broker.groups.reset_offsets("g", "newest")  # wrong
    broker.topics.records("orders")[0].offst  # wrong
    policy.allows("User:alice", "Wirte", "topic:orders")  # wrong
"""
WRONG = {number for number, line in enumerate(USE.splitlines(), 1) if line.endswith("# wrong")}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True)]


def said(folder: Path, *command: str) -> str:
    """Return the output of a type checker for the file, in a folder without other settings."""
    (folder / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, "-m", *command, "use.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_mypy_strict_reports_exactly_the_mistakes(tmp_path: Path) -> None:
    printed = said(tmp_path, "mypy", "--strict", "--cache-dir", "cache")
    errors = re.findall(r"^(\S+?):(\d+): error", printed, re.MULTILINE)
    assert {path for path, _ in errors} == {"use.py"}, printed
    assert {int(number) for _, number in errors} == WRONG, printed


def test_pyright_reports_exactly_the_mistakes(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    options = ("--outputjson", "--level", "error", "--pythonpath", sys.executable)
    printed = said(tmp_path, "basedpyright", *options)
    found = json.loads(printed)["generalDiagnostics"]
    lines = {diagnostic["range"]["start"]["line"] + 1 for diagnostic in found}
    assert lines == WRONG, printed
