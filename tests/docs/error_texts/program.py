"""The errors, notes and log lines of kafka-shim in each situation."""

import contextlib
import io
import subprocess
import sys
import warnings
from pathlib import Path

from kafka_shim.cli import main
from kafka_shim.testing import start
from kafka_shim.text.extras import requires
from tests.docs.error_texts.brokers import UNREACHABLE
from tests.support.commands import SHIM, environment

ACCESS = "explain --principal User:a --operation Write --resource topic:t --bootstrap-server"
DENIED_CLIENTS = """\
import os
from confluent_kafka import Producer

def produce(**settings):
    servers = os.environ["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"]
    producer = Producer({"bootstrap.servers": servers, "message.timeout.ms": 700} | settings)
    producer.produce("orders", b"a")
    producer.flush(5)

alice = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice"}
produce(**alice, **{"sasl.password": "secret", "enable.idempotence": False})
produce(**alice, **{"sasl.password": "wrong"})
produce()
"""
"""A client that is denied, one with a wrong password, and one that does not authenticate."""


def printed_by_kafka_shim(folder: Path) -> list[str]:
    """Return all lines."""
    with start(in_process=True, data_dir=str(folder / "data")) as broker:
        port = broker.bootstrap_servers.rpartition(":")[2]
        commands = (
            f"serve --port {port}",
            f"serve --port 0 --data-dir {folder / 'data'}",
            "serve --verson",
            "serve --kafka-version 2.99",
            "serve -c num.partitionz=3",
            f"{ACCESS} {UNREACHABLE}",
            "run --listener SASL_PLAINTEXT://127.0.0.1:0 -- true",
            "run -- true",
        )
        texts = [_standard_error(command) for command in commands]
    texts += [_log_of_denied_clients(folder), requires("--control", "control")]
    with warnings.catch_warnings(record=True) as caught, start(in_process=True) as broker:
        warnings.simplefilter("always")
        broker.acls.add(principal="alice", allow="Write", group="billing")
    texts += [str(warning.message) for warning in caught]
    return [line for text in texts for line in text.splitlines()]


def _standard_error(command: str) -> str:
    """Run a command in this process; return what it prints on standard error."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stderr(printed),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main(command.split())
    return printed.getvalue()


def _log_of_denied_clients(folder: Path) -> str:
    (folder / "clients.py").write_text(DENIED_CLIENTS)
    acl = '[{principal: "User:alice", allow: Describe, topic: orders}]'
    (folder / "acls.yaml").write_text(acl)
    options = ["--topic", "orders", "--user", "alice:secret", "--acls", str(folder / "acls.yaml")]
    done = subprocess.run(
        [*SHIM, "run", *options, "--", sys.executable, str(folder / "clients.py")],
        capture_output=True, check=False, env=environment(), text=True, timeout=60,
    )  # fmt: skip
    return done.stdout + done.stderr
