"""`kafka-shim least-acls` with a real client, and with failing programs."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.shim.settings.input_files import read_acl_file_with_lines
from tests.cli.tested_command import finished
from tests.support.commands import SHIM, environment

pytestmark = pytest.mark.client

PROGRAM = """
import os, sys
from confluent_kafka import Consumer, Producer

suffix = str(os.getpid()) if "--odd" in sys.argv else ""
group = {"group.id": "billing" + suffix, "auto.offset.reset": "earliest"}
servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]}
errors = []
producer = Producer(servers | {"enable.idempotence": True, "message.timeout.ms": 5000})
producer.produce("orders", b"x", on_delivery=lambda error, _: errors.append(error is None))
producer.flush(6)
consumer = Consumer(servers | group)
consumer.subscribe(["orders"])
for _ in range(20):
    message = consumer.poll(0.5)
    if message is not None:
        if message.error() is None:
            consumer.commit(message, asynchronous=False)
        consumer.close()
        sys.exit(0 if errors == [True] and message.error() is None else 1)
sys.exit(1)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def least_acls(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SHIM, "least-acls", *words],
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
        env=environment(),
    )


def least_acls_here(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in this process: it starts neither a broker nor a program."""
    return finished(main, ["least-acls", *words])


def test_the_program_gets_the_address_of_every_listener() -> None:
    names = "KAFKA_BOOTSTRAP_SERVERS_PLAINTEXT", "KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"
    listeners = "--listener PLAINTEXT://127.0.0.1:0 --listener SASL_PLAINTEXT://127.0.0.1:0"
    code = f"import os; assert len({{os.environ[name] for name in {names}}}) == 2"
    done = least_acls(*listeners.split(), "--", sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr


def test_a_producer_and_consumer_need_four_acls(program: str, tmp_path: Path) -> None:
    done = least_acls("--principal", "User:etl", "--format", "yaml", "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    assert "proven" in done.stderr
    path = tmp_path / "acls.yaml"
    path.write_text(done.stdout)
    found = {
        (a.principal, a.resource_name, a.operation.name)
        for a, _ in read_acl_file_with_lines(str(path))
    }
    assert found == {
        ("User:etl", "orders", "READ"),
        ("User:etl", "orders", "WRITE"),
        ("User:etl", "orders", "CREATE"),
        ("User:etl", "billing", "READ"),
    }


def test_names_that_differ_between_runs_need_a_prefix(program: str) -> None:
    command = ("--topic", "orders", "--json", "--", sys.executable, program, "--odd")
    done = least_acls(*command)
    assert done.returncode == 3
    assert json.loads(done.stdout)["proven"] is False
    assert "was denied DESCRIBE on GROUP billing" in done.stderr
    assert "--prefix" in done.stderr
    done = least_acls("--prefix", "billing", *command)
    assert done.returncode == 0, done.stderr
    patterns = {acl["resource_pattern_type"] for acl in json.loads(done.stdout)["acls"]}
    assert patterns == {"LITERAL", "PREFIXED"}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--", "no-such-program-anywhere"], 2, "cannot start"),
        (
            ["--", sys.executable, "-c", "raise SystemExit(5)"],
            1,
            "ended with 5 although everything was allowed",
        ),
        (["--no-proof", "--", sys.executable, "-c", "print(1)"], 0, "1\n"),
    ],
)
def test_errors_are_reported(words: list[str], code: int, says: str) -> None:
    done = least_acls(*words)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--"], "no command given"),
        (["--principal", "etl", "--", "true"], "--principal `etl`: expected Type:name"),
        (["--for", "soon", "--", "true"], "invalid time `soon`; expected one such as 20s"),
    ],
)
def test_wrong_options_are_reported(words: list[str], says: str) -> None:
    done = least_acls_here(*words)
    assert done.returncode == 2
    assert says in done.stderr


SERVICE = """\
import os, signal, sys, time
from confluent_kafka import Consumer
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
consumer = Consumer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "group.id": "g"})
consumer.subscribe(["orders"])
print("ready", file=sys.stderr, flush=True)
while True:
    consumer.poll(0.1)
"""


def test_a_service_is_stopped_after_its_time_and_its_exit_code_does_not_matter() -> None:
    words = ("--topic", "orders", "--json", "--for", "4s")
    done = least_acls(*words, "--prove", "--", sys.executable, "-c", SERVICE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["proven"] is True
    assert {(acl["operation"], acl["resource_name"]) for acl in found["acls"]} == {
        ("READ", "orders"),
        ("READ", "g"),
    }
    assert "proven: the program was denied nothing with only 2 ACLs" in done.stderr


def test_after_an_interrupt_the_known_acls_are_printed_without_a_proof() -> None:
    words = ("--topic", "orders", "--json", "--", sys.executable, "-c", SERVICE)
    with subprocess.Popen(
        [*SHIM, "least-acls", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout
        assert process.stderr
        while process.stderr.readline() != "ready\n":
            assert process.poll() is None
        time.sleep(4)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    found = json.loads(output)
    assert found["proven"] is None
    assert {acl["resource_name"] for acl in found["acls"]} == {"orders", "g"}
    assert "not proven; --prove runs the program again" in errors


def test_the_placeholder_is_replaced_by_the_address() -> None:
    show = "import os, sys; sys.exit(sys.argv[1] != os.environ['KAFKA_BOOTSTRAP_SERVERS'])"
    done = least_acls("--", sys.executable, "-c", show, "{bootstrap}")
    assert done.returncode == 0
    assert done.stdout == "# no ACL is needed\n"


LAYOUTS = Path(__file__).parents[1] / "recordings/audit/recorded_layouts"


@pytest.mark.package_only
def test_a_log_of_a_real_broker_shows_the_acls_that_are_needed(tmp_path: Path) -> None:
    result = least_acls_here("--from-log", str(LAYOUTS / "strimzi.txt"), "--format", "list")
    assert result.returncode == 0, result.stderr
    path = written(tmp_path / "acls.txt", result.stdout)
    ((acl, _),) = read_acl_file_with_lines(str(path))
    assert (acl.principal, acl.resource_name) == ("User:alice", "a:b c")
    assert "the decisions on 4 accesses are the same" in result.stderr


@pytest.mark.package_only
def test_a_log_that_cannot_be_read_is_no_proof_of_anything(tmp_path: Path) -> None:
    lines = (LAYOUTS / "kafka.txt").read_text() + "2026-11-23 Principal = torn\n" * 5
    result = least_acls_here("--from-log", str(written(tmp_path / "torn.log", lines)))
    assert result.returncode == 3
    assert "more than the 1 % of --max-unread" in result.stderr
    no_log = written(tmp_path / "no.log", "no line of a broker\n")
    nothing = least_acls_here("--from-log", str(no_log))
    assert nothing.returncode == 1
    assert nothing.stdout == ""


def test_a_log_and_a_command_cannot_be_combined() -> None:
    result = least_acls_here("--from-log", "kafka.log", "--", "true")
    assert result.returncode == 2
    assert "--from-log runs no command" in result.stderr


@pytest.mark.parametrize(
    "option", ["--prove", "--no-proof", "--for=2s", "--prefix=a", "--optional"]
)
def test_options_for_programs_are_errors_with_a_log(option: str) -> None:
    result = least_acls_here("--from-log", "kafka.log", option)
    assert result.returncode == 2
    assert "--from-log takes none of" in result.stderr


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


HALF_HEARTED = """
import os
from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest

with connect(os.environ["KAFKA_BOOTSTRAP_SERVERS"]) as client:
    known = client.send_request(ApiKey.METADATA, MetadataRequest(topics=None)).topics
    if known:
        client.send_request(ApiKey.LIST_GROUPS, ListGroupsRequest())
"""


def test_a_program_that_does_less_and_succeeds_is_no_proof() -> None:
    words = ("--topic", "orders", "--json", "--", sys.executable, "-c", HALF_HEARTED)
    done = least_acls(*words)
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert (found["proven"], found["problems"]) == (False, ["it sent no ListGroups"])
    assert "in the second run, it sent no ListGroups\n" in done.stderr
    done = least_acls("--optional", *words)
    assert done.returncode == 0, done.stderr
    assert "proven: the program also succeeds with only 1 ACL, sent 3 kinds" in done.stderr
    assert "not compared with the first run: what the program printed" in done.stderr
