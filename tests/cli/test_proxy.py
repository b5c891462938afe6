"""`kafka-shim proxy` with TLS listeners, and errors."""

import random
import subprocess
from pathlib import Path

import pytest

from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE, main
from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Trust
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.record_masks import record_masks_named_in_trace
from tests.cli.conftest import Running
from tests.shim.observing.test_recorder import ask_until_killed, entries
from tests.support.commands import SHIM, environment
from tests.support.record_requests import produce_request


def test_clients_connect_over_tls(tmp_path: Path, broker: Running) -> None:
    command = [*SHIM, "proxy", "--upstream", broker.plaintext]
    command += ["--record", str(tmp_path / "trace"), "--tls-dir", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    ) as child:
        try:
            assert child.stdout is not None
            said = child.stdout.readline().decode()
            port = int(said.partition(" on ")[2].partition(",")[0].rpartition(":")[2])
            trust = Trust(location=str(tmp_path / "ca.pem"))
            with Client(
                "127.0.0.1", port, ClientConfig(SecurityProtocol.SSL, trust=trust)
            ) as client:
                assert client.versions
        finally:
            child.terminate()


def test_masked_records_are_not_in_the_trace(tmp_path: Path, broker: Running) -> None:
    trace = tmp_path / "trace"
    command = [*SHIM, "proxy", "--upstream", broker.plaintext, "--record", str(trace)]
    with subprocess.Popen(
        [*command, "--mask", "value"], stdout=subprocess.PIPE, env=environment()
    ) as child:
        assert child.stdout is not None
        address = child.stdout.readline().decode().partition(" on ")[2].partition(",")[0]
        host, _, port = address.rpartition(":")
        with Client(host, int(port)) as client:
            batch = encode_batch([Record(0, 0, b"key", b"value-secret")])
            client.send_request(ApiKey.PRODUCE, produce_request("orders", batch), 9)
        child.terminate()
    written = b"".join(path.read_bytes() for path in trace.iterdir())
    assert b"[masked]" in written
    assert b"value-secret" not in written
    assert record_masks_named_in_trace(trace) == ["value"]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (
            ["--upstream", "{nobody}"],
            (EXIT_FAILURE, " proxy: cannot connect to {nobody}: Connection refused"),
        ),
        (
            ["--upstream", "127.0.0.1:70000"],
            (
                EXIT_USAGE,
                " proxy: --upstream `127.0.0.1:70000`: port 70000 is out of range (0 to 65535)",
            ),
        ),
        (
            ["--upstream", "{broker},{broker}"],
            (EXIT_USAGE, " proxy: --upstream `{broker},{broker}`: expected"),
        ),
        (
            ["--upstream", "{sasl}", "--upstream-config", "{login}"],
            (EXIT_FAILURE, " proxy: {sasl} rejected the authentication"),
        ),
        (
            ["--upstream", "{broker}", "--upstream-config", "{tls}"],
            (EXIT_FAILURE, " proxy: cannot connect to"),
        ),
        (
            ["--upstream", "{broker}", "--listen", "here"],
            (EXIT_USAGE, " proxy: --listen `here`: expected HOST:PORT"),
        ),
        (
            ["--upstream", "{broker}", "--listen", "{broker}"],
            (EXIT_FAILURE, " proxy: cannot listen on {broker}: "),
        ),
        (
            ["--upstream", "{broker}", "--listener", "a/b"],
            (EXIT_USAGE, " proxy: --listener `a/b`: expected a name"),
        ),
        (
            ["--upstream", "{broker}", "--record", "{file}"],
            (EXIT_USAGE, " proxy: cannot record to `{file}`: "),
        ),
    ],
)
def test_errors_are_reported_in_one_line(
    words: list[str],
    outcome: tuple[int, str],
    tmp_path: Path,
    broker: Running,
    nobody: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    login, tls = tmp_path / "login", tmp_path / "tls"
    login.write_text("security.protocol=SASL_PLAINTEXT\nusername=alice\npassword=wrong\n")
    tls.write_text("security.protocol=SSL\n")
    places = {"nobody": nobody, "broker": broker.plaintext, "sasl": broker.sasl}
    places |= {"file": str(Path(__file__)), "login": str(login), "tls": str(tls)}
    given = [word.format(**places) for word in words]
    code, says = outcome
    assert main(["proxy", "--record", str(tmp_path / "t"), *given]) == code
    lines = capsys.readouterr().err.splitlines()
    (line,) = [line for line in lines if "[shim." not in line]  # skip the log of the test's broker
    assert line.startswith(f"kafka-shim{says.format(**places)}")
    assert list(tmp_path.glob("t/*")) == []


def test_certificates_are_self_made_or_given_but_not_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["proxy", "--upstream", "127.0.0.1:1", "--record", str(tmp_path)]
    words += ["--tls-dir", "x", "--tls-config", "y"]
    assert main(words) == EXIT_USAGE
    assert "--tls-dir and --tls-config cannot be combined" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_proxy_leaves_a_trace_that_can_be_read(
    seed: int, tmp_path: Path, broker: Running
) -> None:
    command = [*SHIM, "proxy", "--upstream", broker.plaintext]
    command += ["--record", str(tmp_path), "--record-compression", "zlib", "--listener", "IN"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    ) as child:
        assert child.stdout is not None
        said = child.stdout.readline().decode()
        port = int(said.partition(" on ")[2].partition(",")[0].rpartition(":")[2])
        ask_until_killed(port, random.Random(seed).uniform(0.3, 0.8), child)
    found, damage = entries(tmp_path)
    assert all(part.is_tail for part in damage)
    requests = [entry.sequence for _, entry in found if isinstance(entry, Request)]
    responses = [entry.sequence for _, entry in found if isinstance(entry, Response)]
    assert len(responses) > 0
    assert requests == list(range(len(requests)))
    assert responses == requests[: len(responses)]
    assert {who.listener for who, _ in found} == {"IN"}
