"""The plugin as projects use it: pytest runs on small test files."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.plugin.nested import run_pytest

pytestmark = pytest.mark.timeout(300, func_only=True)


def run(
    folder: Path, text: str, *options: str, ini: str = "", finds_plugins: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run pytest on a file in its own folder, like a project that uses the plugin."""
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text(f"[pytest]\nasyncio_mode = strict\n{ini}\n")
    return run_pytest(folder, *options, finds_plugins=finds_plugins)


FRESH = """
import pytest

@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_is_fresh(kafka_broker, attempt):
    assert [topic.name for topic in kafka_broker.topics.list()] == []
    assert kafka_broker.acls.list() == []
    assert kafka_broker.users.list() == ["admin"]
    assert kafka_broker.requests() == []
    assert kafka_broker.faults.list() == []
    kafka_broker.topics.create("orders", partitions=2)
    kafka_broker.acls.add(principal="alice", allow="Write", topic="orders")
    kafka_broker.config("alice")
    kafka_broker.faults.delay(10)

PROCESSES = set()

@pytest.mark.parametrize("attempt", [1, 2])
def test_the_process_is_shared(kafka_broker, attempt):
    PROCESSES.add(kafka_broker.control_url)
    assert len(PROCESSES) == 1
"""


def test_each_test_has_a_fresh_state_of_one_process(tmp_path: Path) -> None:
    done = run(tmp_path, FRESH, finds_plugins=True)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_the_state_is_as_fresh_in_process(tmp_path: Path) -> None:
    text = FRESH.split("PROCESSES", maxsplit=1)[0]
    done = run(tmp_path, text, ini="kafka_broker_in_process = true")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


RELEASES = """
import pytest

@pytest.mark.parametrize("kafka_broker", ["2.7", "3.9", {"kafka_version": "4.0"}], indirect=True)
def test_release(kafka_broker, request):
    param = request.node.callspec.params["kafka_broker"]
    wanted = param if isinstance(param, str) else param["kafka_version"]
    assert kafka_broker.state().release == wanted

def test_default(kafka_broker):
    assert kafka_broker.state().release == "3.3"

def test_settings(kafka_broker_factory):
    broker = kafka_broker_factory(
        kafka_version="2.8", topics={"orders": 3}, users={"bob": "pass"}, brokers=2,
        acls=[{"principal": "bob", "allow": "Read", "topic": "orders"}],
        properties={"auto.create.topics.enable": "false"},
    )
    state = broker.state()
    assert state.release == "2.8"
    assert state.topics[0]["partitions"] == 3
    assert state.users == ["admin", "bob"]
    assert state.acls[0]["principal"] == "User:bob"
    assert broker.bootstrap_servers.count(",") == 1
    assert broker.config("bob")["sasl.password"] == "pass"
    broker.topics.delete("orders")
    broker.reset()
    assert [topic.name for topic in broker.topics.list()] == ["orders"]
"""


def test_a_release_is_chosen_by_parameter_ini_or_factory(tmp_path: Path) -> None:
    done = run(tmp_path, RELEASES, ini="kafka_broker_version = 3.3")
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


MARKED = """
import pytest

@pytest.mark.kafka_acls(principal="alice", allow=["Read", "Describe"], topic="orders")
@pytest.mark.kafka_acls({"principal": "User:bob", "deny": "All", "topic": "orders"})
def test_acls(kafka_broker):
    found = {(acl.principal, acl.operation, acl.permission) for acl in kafka_broker.acls.list()}
    assert found == {
        ("User:alice", "READ", "ALLOW"), ("User:alice", "DESCRIBE", "ALLOW"),
        ("User:bob", "ALL", "DENY"),
    }

def test_none(kafka_broker):
    assert kafka_broker.acls.list() == []
"""


def test_a_marker_brings_acls(tmp_path: Path) -> None:
    done = run(tmp_path, MARKED, "--strict-markers")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


SESSION = """
def test_first(kafka_broker_session):
    kafka_broker_session.topics.create("orders")

def test_second(kafka_broker_session):
    assert [topic.name for topic in kafka_broker_session.topics.list()] == ["orders"]
"""


def test_the_session_broker_keeps_its_state(tmp_path: Path) -> None:
    done = run(tmp_path, SESSION)
    assert "2 passed" in done.stdout, done.stdout


ASYNC = """
import asyncio
import pytest

@pytest.mark.asyncio
async def test_async(kafka_broker):
    _, writer = await asyncio.open_connection(*kafka_broker.bootstrap_servers.split(":"))
    writer.close()
    await asyncio.to_thread(kafka_broker.reset)
    assert kafka_broker.health().status == "ok"
"""


@pytest.mark.parametrize("in_process", ["true", "false"])
def test_async_tests_can_use_it(tmp_path: Path, in_process: str) -> None:
    done = run(tmp_path, ASYNC, ini=f"kafka_broker_in_process = {in_process}")
    assert "1 passed" in done.stdout, done.stdout


def test_xdist_workers_have_brokers_of_their_own(tmp_path: Path) -> None:
    done = run(tmp_path, FRESH.split("PROCESSES", maxsplit=1)[0], "-n", "2")
    assert "3 passed" in done.stdout, done.stdout


DENIED = """
from confluent_kafka import Producer

def produce(broker):
    broker.topics.create("orders")
    failures = []
    producer = Producer(broker.config("alice"))
    producer.produce("orders", b"1", on_delivery=lambda error, _: failures.append(error))
    producer.flush(20)
    [failure] = failures
    assert failure is None

def test_denied(kafka_broker):
    produce(kafka_broker)

def test_denied_by_deny(kafka_broker):
    kafka_broker.acls.add(principal="alice", deny="Describe", topic="orders")
    produce(kafka_broker)

def test_denied_in_session(kafka_broker_session):
    produce(kafka_broker_session)

def test_fails_without_denial(kafka_broker):
    assert kafka_broker.topics.list()

def test_passes_though_denied(kafka_broker):
    try:
        produce(kafka_broker)
    except AssertionError:
        pass
"""


REFUSED = """
from kafka_shim.client.client import ClientError, connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.shim.config import SecurityProtocol

def test_refused(kafka_broker):
    login = Login("PLAIN", "alice", "wrong")
    config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)
    connect(kafka_broker.listeners["SASL_PLAINTEXT"], config)
"""


def test_a_failed_test_reports_who_was_not_authenticated(tmp_path: Path) -> None:
    done = run(tmp_path, REFUSED)
    assert "Not authenticated by the Kafka broker" in done.stdout, done.stdout
    assert "alice was refused on SASL_PLAINTEXT by PLAIN: " in done.stdout


def test_a_failed_test_reports_what_was_denied(tmp_path: Path) -> None:
    done = run(tmp_path, DENIED)
    assert "4 failed, 1 passed" in done.stdout, done.stdout
    assert done.stdout.count("Denied by the Kafka broker") == 3
    denied = "User:alice was denied DESCRIBE on TOPIC orders (Metadata v"
    assert done.stdout.count(denied) == 3
    smallest = "{principal: User:alice, allow: Describe, topic: orders}"
    assert done.stdout.count(f"the smallest ACL that allows it: {smallest}") == 2
    assert "remove {principal: User:alice, deny: Describe, topic: orders}" in done.stdout


NEVER_STARTS = """
def test_it(kafka_broker_factory):
    kafka_broker_factory(kafka_version="2.99")
"""


def test_a_broker_that_does_not_start_reports_the_reason(tmp_path: Path) -> None:
    done = run(tmp_path, NEVER_STARTS)
    assert "1 failed" in done.stdout
    assert "the broker did not start" in done.stdout
    assert "2.99" in done.stdout


SAME_NAMES = """
def test_it(kafka_broker):
    assert kafka_broker.health().status == "ok"
"""


def test_folders_named_like_those_of_the_package_do_no_harm(tmp_path: Path) -> None:
    for name in ("protocol", "schemas", "authorizer"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not this one')")
    done = run(tmp_path, SAME_NAMES)
    assert "1 passed" in done.stdout, done.stdout


def test_loading_the_plugin_imports_no_other_module_of_the_package() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import kafka_shim.testing.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout.strip()
        == "['kafka_shim', 'kafka_shim.testing', 'kafka_shim.testing.pytest_plugin']"
    )


def test_no_broker_outlives_a_killed_session(tmp_path: Path) -> None:
    text = """
import os, signal
def test_it(kafka_broker):
    print("CONTROL", kafka_broker.control_url, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run(tmp_path, text, "-s")
    url = next(line.split()[-1] for line in done.stdout.splitlines() if "CONTROL" in line)
    assert is_gone(url)


def is_gone(url: str) -> bool:
    """Return whether the address stops responding within a while."""
    import time
    import urllib.error
    import urllib.request

    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=1).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return True
        time.sleep(0.05)
    return False
