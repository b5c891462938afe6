"""`serve` and `run` in real processes: addresses, signals, exit codes and recordings."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.support.commands import SHIM, environment
from tests.support.frames import request_frame, sized
from tests.support.small_disk import files_up_to, needs_a_limit


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    ready = tmp_path / "ready"
    command = [*SHIM, "serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--ready-file", str(ready)]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.02)
    yield child, ready
    child.kill()
    child.communicate(timeout=10)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_its_address_and_stops_gracefully(
    serving: tuple[subprocess.Popen[str], Path], number: signal.Signals
) -> None:
    child, ready = serving
    name, _, address = ready.read_text().strip().partition("=")
    assert name == "PLAINTEXT"
    host, _, port = address.partition(":")
    socket.create_connection((host, int(port)), 5).close()
    child.send_signal(number)
    out, err = child.communicate(timeout=10)
    assert child.returncode == 0, err
    assert out.splitlines()[0] == f"listening on PLAINTEXT://{address}"
    assert "[KafkaServer id=1] started" in out
    assert "Traceback" not in err


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*SHIM, "serve", "--listener", f"PLAINTEXT://127.0.0.1:{port}"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False, env=environment()
        )
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--kafka-version", "2.99"], "2.99"),
        (["--listener", "nonsense"], "NAME://HOST:PORT"),
        (["--listener", "QUIC://127.0.0.1:1"], "QUIC"),
        (["--super-user", "admin"], "Type:name"),
        (["--user", "alice"], "--user"),
        (["--topic", "orders:many"], "expected NAME:PARTITIONS"),
        (["--authorizer", "no.such:Thing"], "no.such"),
        (["--listener-principal", "OTHER=User:x"], "OTHER"),
        (["-c", "sasl.enabled.mechanisms=MAGIC"], "MAGIC"),
        (["--conformance", "json:/no/such/x.json"], "the folder does not exist"),
        (["--record-keep", "3"], "require --record"),
        (["--record-compression", "zlib"], "require --record"),
        (["--manual-clock"], "--manual-clock requires --control"),
        (["--control", "0.0.0.0:0", "--control-token", ""], "--control-token is empty"),
    ],
)
def test_invalid_options_are_reported_clearly(arguments: list[str], says: str) -> None:
    done = subprocess.run(
        [*SHIM, "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env=environment(),
    )
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def run(code: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [*SHIM, "run", *options, "--", sys.executable, "-c", code]
    env = environment(**variables)
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, env=env)


def test_run_starts_a_broker_for_the_command_and_returns_its_exit_code() -> None:
    code = """
import os, socket, sys
host, _, port = os.environ["KAFKA_BOOTSTRAP_SERVERS"].rpartition(":")
socket.create_connection((host, int(port)), 5).close()
assert os.environ["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"] != f"{host}:{port}"
sys.exit(7)
"""
    options = [
        "--listener",
        "PLAINTEXT://127.0.0.1:0",
        "--listener",
        "SASL_PLAINTEXT://127.0.0.1:0",
    ]
    done = run(code, *options)
    assert done.returncode == 7, done.stderr


def test_run_says_which_variables_it_does_not_read() -> None:
    variables = {"KAFKA_SHIM_TOPICS": "orders", "KAFKA_SHIM_CONTROL_TOKEN": "of an outer run"}
    notes = [line for line in run("", **variables).stderr.splitlines() if "KAFKA_SHIM_" in line]
    assert len(notes) == 1
    assert notes[0].endswith("give options instead: --topic for KAFKA_SHIM_TOPICS")
    assert "KAFKA_SHIM_" not in run("", KAFKA_SHIM_CONTROL_URL="http://127.0.0.1:1").stderr


def test_run_sets_the_address_of_the_control_api() -> None:
    code = (
        "import os, urllib.request\n"
        "url = os.environ['KAFKA_SHIM_CONTROL_URL']\n"
        "with urllib.request.urlopen(url + '/health') as answer:\n"
        "    print(url, answer.read().decode())"
    )
    done = run(code, "--control", "127.0.0.1:0")
    assert done.returncode == 0, done.stderr
    url, health = done.stdout.split(maxsplit=1)
    assert '"status":"ok"' in health
    assert f"the inspector is at {url}/inspector" in done.stderr


def test_run_sets_the_token_of_the_control_api() -> None:
    code = (
        "import os, urllib.request\n"
        "url, token = (os.environ[f'KAFKA_SHIM_CONTROL_{name}'] for name in ('URL', 'TOKEN'))\n"
        "headers = {'Authorization': f'Bearer {token}'}\n"
        "asked = urllib.request.Request(url + '/clock', headers=headers)\n"
        "with urllib.request.urlopen(asked) as answer:\n"
        "    print(answer.read().decode())"
    )
    done = run(code, "--control", "127.0.0.1:0", "--control-token", "t", "--manual-clock")
    assert done.returncode == 0, done.stderr
    assert '"is_manual":true' in done.stdout


def test_run_records_the_requests_of_the_command(tmp_path: Path) -> None:
    code = """
import os, socket
host, _, port = os.environ["KAFKA_BOOTSTRAP_SERVERS"].rpartition(":")
with socket.create_connection((host, int(port)), 5) as client:
    client.sendall(bytes.fromhex("0000000d001200000000000100036f6e65"))
    assert client.recv(1)
"""
    assert run(code, "--record", str(tmp_path / "trace")).returncode == 0
    words = [*SHIM, "trace", "cat", str(tmp_path / "trace")]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment())
    assert "ApiVersions" in done.stdout


def test_run_of_a_killed_command_names_the_signal() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(code).returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_run_kills_a_command_that_ignores_signals(number: signal.Signals) -> None:
    ignoring = (
        "import signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    command = [*SHIM, "run", "--kill-after", "0.5", "--", sys.executable, "-c", ignoring]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        started = time.monotonic()
        child.send_signal(number)
        _, errors = child.communicate(timeout=20)
    assert time.monotonic() - started > 0.5
    assert child.returncode == 128 + signal.SIGKILL
    assert "still ran after --kill-after, and was killed" in errors


def test_run_lets_a_command_end_within_kill_after() -> None:
    ending = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.5), sys.exit(5)))\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    command = [*SHIM, "run", "--", sys.executable, "-c", ending]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.terminate()
        _, errors = child.communicate(timeout=20)
    assert child.returncode == 5
    assert "killed" not in errors


@pytest.mark.parametrize(("code", "expected"), [(0, EXIT_FAILURE), (5, 5)])
def test_run_fails_if_the_broker_stopped_before_the_command(
    tmp_path: Path, code: int, expected: int
) -> None:
    """The command deletes a file of the broker, creates a topic, and sees its connection end."""
    topic = CreateTopicsRequest([CreatableTopic("orders", 1, 1)], timeout_ms=1000)
    frame = sized(request_frame(ApiKey.CREATE_TOPICS, 5, topic))
    ask = (
        "import os, socket, sys\n"
        f"os.unlink({str(tmp_path / 'data' / 'lock')!r})\n"
        "host, port = os.environ['KAFKA_BOOTSTRAP_SERVERS'].split(':')\n"
        "peer = socket.create_connection((host, int(port)), 10)\n"
        f"peer.sendall(bytes.fromhex({frame.hex()!r}))\n"
        "print('received', len(peer.recv(100)))\n"
        f"sys.exit({code})"
    )
    done = run(ask, "--data-dir", str(tmp_path / "data"))
    assert done.stdout == "received 0\n"
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == expected


def test_run_without_a_command_is_a_usage_error() -> None:
    done = subprocess.run(
        [*SHIM, "run"], capture_output=True, text=True, timeout=20, check=False, env=environment()
    )
    assert done.returncode == 2
    assert "no command" in done.stderr


def test_run_of_a_missing_command_is_127() -> None:
    done = subprocess.run(
        [*SHIM, "run", "--", "no-such-command-anywhere"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env=environment(),
    )
    assert done.returncode == 127
    assert "no-such-command-anywhere" in done.stderr


def test_a_local_folder_named_protocol_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "protocol").mkdir()
    (tmp_path / "protocol" / "__init__.py").write_text("raise RuntimeError('not this one')")
    done = subprocess.run(
        [*SHIM, "requirements", "--api", "CreateAcls"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        cwd=tmp_path,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert "CreateAcls" in done.stdout


@pytest.mark.package_only
@needs_a_limit
def test_a_full_disk_ends_the_recording_but_not_the_command(tmp_path: Path) -> None:
    ask = "import os, socket; host, port = os.environ['KAFKA_BOOTSTRAP_SERVERS'].split(':');"
    ask += "peer = socket.create_connection((host, int(port)));"
    ask += "peer.sendall(bytes.fromhex('0000000a 0012 0000 00000001 ffff'));"
    ask += "peer.recv(1); print('answered')"
    with files_up_to(100):
        done = subprocess.run(
            [*SHIM, "run", "--record", str(tmp_path), "--", sys.executable, "-c", ask],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=environment(),
        )
    assert done.stdout == "answered\n"
    assert done.returncode == EXIT_FAILURE
    assert "recording has ended early" in done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
