"""docs/guides/ci.md: its workflows are parsed, and their commands run literally."""

import argparse
import itertools
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer

from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.settings.shim_variables import (
    reject_unknown_shim_variables,
    state_of_shim_variables,
)
from tests.docs.shell import Shell
from tests.docs.shown import ROOT, blocks
from tests.support.commands import SHIM, environment

pytestmark = pytest.mark.folders("docs/guides/ci.md", "packages", ".github")

PAGE = "docs/guides/ci.md"
WORKFLOWS = {block.name: yaml.safe_load(block.text) for block in blocks() if block.page == PAGE}
PROJECT_TEST = """\
import os
from confluent_kafka.admin import AdminClient

def test_the_topic_is_there():
    admin = AdminClient({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
    assert len(admin.list_topics(timeout=20).topics["orders"].partitions) == 3
"""


def job_of(name: str) -> dict[str, Any]:
    content = WORKFLOWS[name]
    return dict(content["jobs"]["tests"] if name.startswith("github") else content["tests"])


def artefacts_of(name: str) -> list[str]:
    """Return the paths that a workflow uploads."""
    if name.startswith("gitlab"):
        return list(job_of(name).get("artifacts", {}).get("paths", []))
    steps = job_of(name).get("steps", [])
    return " ".join(step.get("with", {}).get("path", "") for step in steps).split()


def script_of(name: str) -> list[str]:
    job = job_of(name)
    return job.get("script") or [step["run"] for step in job["steps"] if "run" in step]


def test_all_workflows_are_on_the_page() -> None:
    assert set(WORKFLOWS) == {
        "github-action.yml",
        *(
            f"{host}-{form}.yml"
            for host in ("github", "gitlab")
            for form in ("package", "image", "artefacts")
        ),
    }


def test_gitlab_keeps_what_github_keeps() -> None:
    """Only the commands for GitHub are run."""
    ours, other = "gitlab-artefacts.yml", "github-artefacts.yml"
    assert script_of(ours) == script_of(other)
    assert artefacts_of(ours) == artefacts_of(other)


def test_the_page_has_the_inputs_and_outputs_of_the_action() -> None:
    [step] = [step for step in job_of("github-action.yml")["steps"] if "with" in step]
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert set(step["with"]) <= set(action["inputs"])
    page = (ROOT / PAGE).read_text()
    for kind in ("input", "output"):
        table = page.split(f"| {kind} | value |\n|---|---|\n", 1)[1].split("\n\n", 1)[0]
        named = [re.findall(r"`([\w-]+)`", row.split("|")[1]) for row in table.splitlines()]
        assert sorted(itertools.chain(*named)) == sorted(action[f"{kind}s"])


@pytest.mark.client
@pytest.mark.parametrize(
    "name", ["github-package.yml", "gitlab-package.yml", "github-artefacts.yml"]
)
def test_the_commands_work(name: str, shell: Shell) -> None:
    """Run all commands but the installation, which tests/packaging/test_package.py runs."""
    (shell.folder / "test_mine.py").write_text(PROJECT_TEST)
    (shell.folder / "pytest.ini").write_text("[pytest]\ntestpaths = test_mine.py\n")
    install, run = script_of(name)
    assert shlex.split(install)[:3] == ["pip", "install", "kafka-shim[pytest]"]
    done = shell(run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    for path in artefacts_of(name):
        assert (shell.folder / path).exists()


@pytest.mark.parametrize("name", ["github-image.yml", "gitlab-image.yml"])
def test_the_image_advertises_the_address_that_clients_use(name: str) -> None:
    job = job_of(name)
    [service] = job["services"].values() if "steps" in job else job["services"]
    assert (service.get("image") or service["name"]).startswith("ghcr.io/kafka-shim/kafka-shim:")
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    words = ["--config", str(ROOT / "examples" / "container.yaml")]
    variables = service.get("variables") or service.get("env") or {}
    reject_unknown_shim_variables(variables)
    state = state_of_shim_variables(variables)
    config = config_from_arguments(parser.parse_args(words), variables, state_of_environment=state)
    (host, port), *_ = [listener.advertised for listener in config.listeners if listener.advertised]
    used = job.get("env") or job["variables"]
    assert used["KAFKA_BOOTSTRAP_SERVERS"] == f"{host}:{port}"
    addresses = {each.name: each.advertised for each in config.listeners}
    assert addresses["SASL_PLAINTEXT"] is not None
    host, sasl_port = addresses["SASL_PLAINTEXT"]
    assert used["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"] == f"{host}:{sasl_port}"
    if "ports" in service:
        assert service["ports"][0] == f"{port}:{config.listeners[0].port}"
    assert script_of(name)[-1] == "pytest"


def test_the_composed_broker_has_an_address_for_each_kind_of_client() -> None:
    """The container's broker, whose ports are free ones here."""
    [page] = [block.text for block in blocks() if block.page == "docs/guides/container.md"]
    services = yaml.safe_load(page)["services"]
    variables = services["kafka"]["environment"]
    assert services["kafka"]["ports"] == ["29092:29092"]
    assert "HOST://0.0.0.0:29092" in variables["KAFKA_LISTENERS"]
    shown = ["kafka:9092", "kafka:9093", "localhost:29092"]
    assert services["test"]["environment"]["KAFKA_BOOTSTRAP_SERVERS"] == shown[0]
    local = re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", variables["KAFKA_LISTENERS"])
    words = [*SHIM, "serve", "--config", str(ROOT / "examples" / "container.yaml")]
    with subprocess.Popen(
        words, env=environment() | variables | {"KAFKA_LISTENERS": local}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in shown]
        child.terminate()
        assert child.stderr is not None
        assert "USERS: users authenticate, ACLs apply" in child.stderr.read()
    assert [line.strip().partition(", advertised as ")[2] for line in lines] == shown


@pytest.mark.client
@pytest.mark.parametrize("workflow", ["github-image.yml", "gitlab-image.yml"])
def test_a_client_of_the_service_is_denied(workflow: str, tmp_path: Path) -> None:
    """`serve` with the variables of the recipe: alice writes to one topic, not to the other."""
    job = job_of(workflow)
    [service] = job["services"].values() if "steps" in job else job["services"]
    variables = dict(service.get("env") or service["variables"])
    variables.pop("KAFKA_ADVERTISED_LISTENERS", None)  # the test's clients are on this machine
    ready = tmp_path / "ready"
    words = ["serve", "--port", "0", "--stop-with-stdin", "--ready-file", str(ready)]
    with subprocess.Popen(
        [*SHIM, *words], env=environment() | variables, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        while not child.stdout.readline().startswith("[KafkaServer"):
            assert child.poll() is None
        addresses = dict(line.split("=") for line in ready.read_text().split())
        producer = Producer(
            {
                "bootstrap.servers": addresses["SASL_PLAINTEXT"],
                "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
                "sasl.username": "alice", "sasl.password": "alice-secret",
            }
        )  # fmt: skip
        outcomes: dict[str, str | None] = {}
        for topic in ("orders", "payments"):
            producer.produce(
                topic, b"x",
                on_delivery=lambda error, message: outcomes.update(
                    {str(message.topic()): error.name() if error else None}
                ),
            )  # fmt: skip
        producer.flush(20)
        child.stdin.close()
    assert outcomes == {"orders": None, "payments": "TOPIC_AUTHORIZATION_FAILED"}
