"""action.yml: its steps start a broker with the inputs. CI files are valid by their schemas."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import AdminClient

from tests.docs.shown import ROOT, Block, blocks

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}


def expanded(text: str, inputs: dict[str, str], runner_temp: Path) -> str:
    """Replace `${{ ... }}` as GitHub's runner does."""

    def value(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(".")
        if kind == "inputs":
            return inputs.get(name, ACTION["inputs"][name]["default"])
        assert match[1] == "runner.temp"
        return str(runner_temp)

    return re.sub(r"\$\{\{ (.+?) \}\}", value, text)


def run_step(
    step_id: str, inputs: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a step in bash; what it sets is in the files `output` and `env` of the folder."""
    step = STEPS[step_id]
    variables = {name: expanded(text, inputs, folder) for name, text in step["env"].items()}
    variables |= {
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_ENV": str(folder / "env"),
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"] + "\necho ${broker-} >$RUNNER_TEMP/pid"],
        env=os.environ | variables, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def check_schema(schema: str, path: Path) -> None:
    """Fail if a file is invalid by a schema that the tool check-jsonschema has."""
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ("github-actions", "action.yml"),
        ("github-workflows", ".github/workflows/ci.yml"),
        ("github-workflows", ".github/workflows/nightly.yml"),
        ("github-workflows", ".github/workflows/release.yml"),
        ("compose-spec", "docker-compose.yml"),
        ("github-workflows", "examples/policy/github.yml"),
        ("github-workflows", "examples/policy/platform/github.yml"),
        ("gitlab-ci", "examples/policy/gitlab.yml"),
        ("gitlab-ci", "examples/policy/platform/gitlab.yml"),
    ],
)
def test_files_are_valid_by_their_schemas(schema: str, name: str) -> None:
    check_schema(schema, ROOT / name)


@pytest.mark.parametrize(
    "block", [each for each in blocks() if each.name and re.match(r"git(hub|lab)-", each.name)],
    ids=lambda block: f"{block.page}-{block.name}",
)  # fmt: skip
def test_workflows_on_pages_are_valid_by_their_schemas(block: Block, tmp_path: Path) -> None:
    path = tmp_path / block.name
    path.write_text(block.text)
    check_schema("gitlab-ci" if block.name.startswith("gitlab") else "github-workflows", path)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with the environment of this test in place of the installed one."""
    (tmp_path / "kafka-shim").symlink_to(Path(sys.executable).parents[1])
    yield tmp_path
    if (tmp_path / "pid").exists():
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)


def test_a_broker_has_the_inputs_and_its_addresses_are_outputs(folder: Path) -> None:
    inputs = {
        "port": "0",
        "kafka-version": "3.9",
        "topics": "orders:3",
        "users": "alice:secret",
        "acls": "- {principal: User:alice, allow: [Describe], topic: orders}\n",
    }
    done = run_step("start", inputs, folder)
    assert done.returncode == 0, done.stderr + (folder / "kafka-shim.log").read_text()
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    assert set(outputs) == set(ACTION["outputs"])
    variables = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
    assert sorted(variables.values()) == sorted(outputs.values())
    settings: dict[str, Any] = {
        "bootstrap.servers": variables["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"],
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
        "sasl.username": "alice", "sasl.password": "secret",
    }  # fmt: skip
    topics = AdminClient(settings).list_topics(timeout=20).topics
    assert {name: len(topic.partitions) for name, topic in topics.items()} == {"orders": 3}


def test_a_broker_that_does_not_start_fails_the_step_with_its_error(folder: Path) -> None:
    done = run_step("start", {"port": "0", "topics": "orders:x"}, folder)
    (folder / "pid").unlink(missing_ok=True)
    assert done.returncode == 1
    assert "KAFKA_SHIM_TOPICS `orders:x`" in done.stdout


@pytest.mark.heavy
def test_the_package_is_installed_in_a_new_environment(tmp_path: Path) -> None:
    done = run_step("install", {"package": str(ROOT)}, tmp_path)
    assert done.returncode == 0, done.stderr
    command = tmp_path / "kafka-shim" / "bin" / "kafka-shim"
    subprocess.run([str(command), "--version"], check=True)
