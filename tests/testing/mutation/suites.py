"""Small test suites whose score is known, and the command that tests them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.commands import SHIM, environment
from tests.testing.plugin.nested import PLUGIN

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", PLUGIN)
"""pytest with the plugin alone, which starts faster."""

CLIENT = """
import os
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

def config(user):
    return {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"],
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
            "sasl.username": user, "sasl.password": f"{user}-secret"}

def can_write(config, topic):
    errors = []
    producer = Producer({"linger.ms": 0, **config})
    producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
    producer.flush(10)
    return errors[0] is None

def can_delete(config, topic):
    admin = AdminClient(config)
    try:
        admin.delete_topics([topic])[topic].result(10)
    except KafkaException:
        return False
    return True
"""


def mutate(
    folder: Path, *words: str, options: tuple[str, ...] = (), command: tuple[str, ...] = PYTEST
) -> subprocess.CompletedProcess[str]:
    """Run `kafka-shim run --mutate-acls` in a folder."""
    variables = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    variables.pop("PYTEST_XDIST_WORKER", None)  # that of the tests of kafka-shim
    return subprocess.run(
        [*SHIM, "run", "--mutate-acls", *options, "--", *command, *words],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip


def mutate_as_json(
    folder: Path, *words: str, options: tuple[str, ...] = (), command: tuple[str, ...] = PYTEST
) -> dict[str, Any]:
    done = mutate(folder, *words, options=("--json", *options), command=command)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def outcomes(result: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """Return what noticed each mutant, by ACL and kind; if nothing did, the outcome."""
    return {
        (each["acl"], each["mutant"]): each["noticed_by"] or [each["outcome"]]
        for each in result["results"]
    }


def write_suite(folder: Path, tests: str) -> None:
    (folder / "client.py").write_text(CLIENT)
    (folder / "test_it.py").write_text(f"from client import *\n{tests}")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
