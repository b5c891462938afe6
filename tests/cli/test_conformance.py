"""`kafka-shim conformance` with clients of the kit: scorecards, formats, and errors."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kafka_shim.cli import main
from tests.cli.tested_command import finished
from tests.support.commands import SHIM, environment
from tests.support.frames import sized

pytestmark = pytest.mark.client

BROKER = [
    *("--listener", "PLAINTEXT://127.0.0.1:0", "--listener", "SASL_PLAINTEXT://127.0.0.1:0"),
    *("--super-user", "User:ANONYMOUS", "--user", "alice:alice-secret"),
]


def conformance(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SHIM, "conformance", *words],
        capture_output=True,
        text=True,
        timeout=140,
        check=False,
        env=environment(),
    )


def conformance_here(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in this process: it starts neither a broker nor a client."""
    return finished(main, ["conformance", *words])


def check(*words: str) -> subprocess.CompletedProcess[str]:
    return conformance_here("check", *words)


@pytest.mark.parametrize("driver", ["librdkafka", "kafka-python"])
def test_run_and_check_print_the_scorecard_of_a_client(driver: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m tests.clients.kit permissions {driver}"
    trace = tmp_path / "trace"
    record = ("--record", str(trace), "--json", "--name", driver)
    done = conformance("run", "--client-command", command, *record, *BROKER)
    card = json.loads(done.stdout)
    found = {behaviour["id"]: behaviour["status"] for behaviour in card["behaviours"]}
    should = {row["id"] for row in card["behaviours"] if row["level"] == "should"}
    assert should == {"producer.idempotent", "producer.acks-all"}  # defaults of Kafka's Java client
    failed = {name for name, status in found.items() if status == "failed"} - should
    assert done.returncode == (3 if failed else 0), done.stderr
    # both clients are known to be correct in these
    for right in (
        "versions.negotiated",
        "versions.within-offer",
        "encoding.readable",
        "encoding.canonical",
        "encoding.known-codes",
        "acls.create-concrete",
        "acls.create-prefixed",
        "acls.any-name-null",
        "acls.match-filter",
        "errors.31-final",
        "producer.checksums",
        "producer.sequences",
        "sasl.wrapped",
    ):
        assert found[right] == "passed", (right, card)
    checked = check(str(trace), "--format", "junit", "--name", driver)
    suite = ET.fromstring(checked.stdout)
    assert int(suite.attrib["failures"]) == len(failed) == len(suite.findall(".//failure"))
    assert len(suite) == len(found)
    text = check(str(trace)).stdout
    assert text.startswith(f"client: {list(found.values()).count('passed')} passed")
    markdown = check(str(trace), "--format", "markdown").stdout
    assert "✅ `versions.negotiated` | 35 |" in markdown


ORDINARY_LIBRDKAFKA = """
import os
from confluent_kafka import Consumer, Producer

servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]}
producer = Producer(servers)
producer.produce("orders", b"x")
assert producer.flush(10) == 0
consumer = Consumer({**servers, "group.id": "billing", "auto.offset.reset": "earliest"})
consumer.subscribe(["orders"])
assert consumer.poll(10).value() == b"x"
consumer.close()
"""


def test_an_ordinary_client_that_is_not_idempotent_by_default_is_not_wrong(tmp_path: Path) -> None:
    program = tmp_path / "client.py"
    program.write_text(ORDINARY_LIBRDKAFKA)
    command = ("--client-command", f"{sys.executable} {program}", "--topic", "orders")
    done = conformance("run", *command, "--format", "junit")
    assert done.returncode == 0, done.stderr
    suite = ET.fromstring(done.stdout)
    assert suite.attrib["failures"] == "0"
    [output] = suite.findall("testcase[@name='idempotent']/system-out")
    assert output.text is not None
    assert output.text.startswith("should: batches carry a producer id")


PRODUCE_AND_JOIN = """
import os, sys
from kafka import KafkaConsumer, KafkaProducer

servers = os.environ["KAFKA_BOOTSTRAP_SERVERS_" + sys.argv[1]].split(",")
login = {"bootstrap_servers": servers}
if sys.argv[1] == "SASL_PLAINTEXT":
    login |= {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    login |= {"sasl_plain_username": "alice", "sasl_plain_password": "secret"}
producer = KafkaProducer(**login, max_block_ms=3000)
try:
    producer.send("orders", b"x").get(5)
except Exception as error:
    print("produce:", type(error).__name__)
try:
    consumer = KafkaConsumer("orders", group_id="billing", **login)
    consumer.poll(2000)
except Exception as error:
    print("consume:", type(error).__name__)
"""


@pytest.mark.parametrize(
    ("listener", "options", "principal"),
    [
        (
            "PLAINTEXT",
            ["--listener", "PLAINTEXT://127.0.0.1:0", "--authorizer", "standard"],
            "User:ANONYMOUS",
        ),
        ("SASL_PLAINTEXT", ["--user", "alice:secret"], "User:alice"),
    ],
)
def test_a_client_that_is_denied_everything_does_not_pass(
    listener: str, options: list[str], principal: str, tmp_path: Path
) -> None:
    program, trace = tmp_path / "client.py", tmp_path / "trace"
    program.write_text(PRODUCE_AND_JOIN)
    command = f"{sys.executable} {program} {listener}"
    run = ("run", "--client-command", command, "--topic", "orders")
    done = conformance(*run, "--record", str(trace), "--json", *options)
    assert done.returncode == 3, done.stderr
    assert f"the client was denied everything ({principal}: " in done.stderr
    assert "so this was not exercised: " in done.stderr
    assert f"start the broker with --super-user {principal}, or --acls FILE" in done.stderr
    card = json.loads(done.stdout)
    assert card["denied_everything"] is True
    assert {denial["principal"] for denial in card["denials"]} == {principal}
    found = {row["id"]: row for row in card["behaviours"]}
    assert found["producer.checksums"]["status"] == "not exercised"
    assert found["producer.checksums"]["denied"] == "DESCRIBE on TOPIC orders"
    assert not any(row["status"] == "failed" for row in card["behaviours"])

    checked = check(str(trace), "--format", "junit")
    assert checked.returncode == 3
    suite = ET.fromstring(checked.stdout)
    assert suite.attrib["failures"] == "1"
    assert len(suite) == int(suite.attrib["tests"])
    [failure] = suite.findall(".//failure")
    assert failure.attrib["message"] == "the client was denied everything"
    assert "(denied DESCRIBE on TOPIC orders)" in check(str(trace)).stdout

    helped = conformance(*run, "--json", *options, "--super-user", principal)
    card = json.loads(helped.stdout)
    assert "denied" not in helped.stderr.replace("kafka-shim: note:", "")
    assert (card["denials"], card["denied_everything"]) == ([], False)
    status = {row["id"]: row["status"] for row in card["behaviours"]}
    assert status["producer.checksums"] == "passed"


def test_a_client_with_wrong_frames_fails(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import os, socket\n"
        "host, port = os.environ['KAFKA_BOOTSTRAP_SERVERS'].split(':')\n"
        "peer = socket.create_connection((host, int(port)))\n"
        "frame = bytes.fromhex('0003 000c 00000001 ffff 00 01 01 00 00 00')\n"
        "peer.sendall(len(frame).to_bytes(4, 'big') + frame)\n"
        "peer.recv(1)\n"
    )
    done = conformance("run", "--client-command", f"{sys.executable} {wrong}")
    assert done.returncode == 3, done.stderr
    assert "failed         versions.negotiated" in done.stdout
    assert "failed         encoding.no-trailing-bytes" in done.stdout
    assert "connection 1 request 0: Metadata v12" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["run", "--client-command", "true"], 1, "sent no request"),
        (["run", "--client-command", "no-such-client"], 2, "cannot start"),
        (["run", "--client-command", ""], 2, "--client-command is empty"),
        (["run", "--client-command", "'x"], 2, "--client-command `'x`: no closing quotation"),
        (["check", "no-such-folder"], 2, "does not exist"),
        (["check", __file__], 2, "is not a kafka-shim trace"),
        (["list"], 0, ""),
    ],
)
def test_errors_are_reported(words: list[str], code: int, says: str) -> None:
    done = conformance(*words)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_catalogue_is_printed_as_text_and_json() -> None:
    rows = json.loads(conformance_here("list", "--json").stdout)
    assert [set(row) for row in rows] == [{"id", "kip", "level", "text", "seen"}] * len(rows)
    printed = conformance_here("list").stdout
    assert all(row["id"] in printed and row["seen"] in printed for row in rows)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_broker_writes_the_scorecard_of_its_clients_when_it_stops(
    form: str, tmp_path: Path
) -> None:
    ready, card = tmp_path / "ready", tmp_path / "card"
    command = [*SHIM, "serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--ready-file", str(ready)]
    command += ["--conformance", f"{form}:{card}"] if form == "json" else ["--conformance"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
    try:
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        host, _, port = ready.read_text().strip().partition("=")[2].rpartition(":")
        frame = bytes.fromhex(
            "0003 000c 00000001 ffff 00 01 01 00 00"
        )  # Metadata before ApiVersions
        with socket.create_connection((host, int(port)), 5) as peer:
            peer.sendall(sized(frame))
            assert peer.recv(1)
    finally:
        child.terminate()
    out, _ = child.communicate(timeout=20)
    assert child.returncode == 3
    if form == "json":
        rows = json.loads(card.read_text())["behaviours"]
        assert {row["id"] for row in rows if row["status"] == "failed"} == {"versions.negotiated"}
    else:
        assert "failed         versions.negotiated" in out


def test_an_unknown_format_is_rejected() -> None:
    command = [*SHIM, "serve", "--conformance", "yaml"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20, check=False, env=environment()
    )
    assert done.returncode == 2
    assert "--conformance `yaml`" in done.stderr


def test_suite_lists_its_cases_and_prints_its_contract() -> None:
    listed = conformance_here("suite", "--list", "--case", "denials.delete-topic.*").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [
        f"denials.delete-topic.{aspect}"
        for aspect in ("reports-error", "partial-success", "recovers")
    ]
    contract = json.loads(conformance_here("suite", "--contract").stdout)
    request = contract["commands"]["produce"]["request"]
    assert request["properties"]["topic"] == {"type": "string"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--list", "--case", "nothing"], "no case matches `nothing`; --list prints all cases"),
        ([], "missing `--driver`: the command that starts the client's driver"),
        (["--driver", " "], "--driver is empty"),
        (["--driver", "x", "--kafka-version", "9"], "9"),
    ],
)
def test_suite_rejects_invalid_options(words: list[str], said: str) -> None:
    done = conformance_here("suite", *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
