"""action.yml: its steps install and start a broker. CI files are valid by their schemas."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import AdminClient

from tests.docs.shown import ROOT, Block, blocks

pytestmark = pytest.mark.folders("action.yml", ".ci", ".github")

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}


def expanded(text: str, inputs: dict[str, str], runner_temp: Path) -> str:
    """Replace `${{ ... }}` as GitHub's runner does."""

    def value(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(".")
        if kind == "inputs":
            return inputs.get(name, ACTION["inputs"][name]["default"])
        if kind == "steps":
            return outputs_in(runner_temp)[name.removeprefix("install.outputs.")]
        assert match[1] == "runner.temp"
        return str(runner_temp)

    return re.sub(r"\$\{\{ (.+?) \}\}", value, text)


def outputs_in(folder: Path) -> dict[str, str]:
    path = folder / "output"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("=", 1) for line in lines)


def run_step(
    step_id: str, inputs: dict[str, str], folder: Path, **runner: str
) -> subprocess.CompletedProcess[str]:
    """Run a step in bash; what it sets is in the files `output` and `env` of the folder."""
    step = STEPS[step_id]
    variables = {name: expanded(text, inputs, folder) for name, text in step["env"].items()}
    variables |= {
        "RUNNER_OS": "Linux",
        "RUNNER_ARCH": "X64",
        "RUNNER_TEMP": str(folder),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_ENV": str(folder / "env"),
    }
    script = step["run"] + '\necho "${broker-}" >"$RUNNER_TEMP/pid"'
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        env=os.environ | variables | runner, capture_output=True, text=True, check=False,
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


VERSION = "0.1.0"
FILES = {
    ("Linux", "X64"): "kafka-shim-linux-x64",
    ("Linux", "ARM64"): "kafka-shim-linux-arm64",
    ("macOS", "X64"): "kafka-shim-darwin-x64",
    ("macOS", "ARM64"): "kafka-shim-darwin-arm64",
    ("Windows", "X64"): "kafka-shim-win32-x64.exe",
    ("Windows", "ARM64"): "kafka-shim-win32-arm64.exe",
}
SINGLE_FILE = f'#!/bin/sh\nexec {Path(sys.executable).parent}/kafka-shim "$@"\n'
"""Stands in for the single file of a release."""
LOGS_PIP = """\
#!/bin/sh
if [ "$2" = pip ]; then echo "$@" >"$RUNNER_TEMP/pip"; exit; fi
mkdir -p "$3/bin" "$3/Scripts"
cp "$0" "$3/bin/python"
cp "$0" "$3/Scripts/python"
"""
"""Stands in for `python3`: makes an environment whose pip logs its arguments."""


def add_release_files(folder: Path, content: str = SINGLE_FILE) -> None:
    """Write the single files of all platforms, and their checksums as release.yml does."""
    folder.mkdir(parents=True)
    checksum = hashlib.sha256(content.encode()).hexdigest()
    for name in FILES.values():
        (folder / name).write_text(content)
    (folder / "SHA256SUMS").write_text("".join(f"{checksum}  {name}\n" for name in FILES.values()))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return the runner's folder; a broker that a step starts in it ends with the test."""
    folder = tmp_path / "runner temp"
    folder.mkdir()
    yield folder
    if (folder / "pid").exists() and (pid := (folder / "pid").read_text().strip()):
        os.kill(int(pid), signal.SIGTERM)


@pytest.fixture
def releases(tmp_path: Path) -> Iterator[str]:
    """Return the address of the folder `releases`, with a release of the action's version."""
    add_release_files(tmp_path / "releases" / f"v{VERSION}")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "releases"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def with_logged_pip(tmp_path: Path, releases: str) -> tuple[str, dict[str, str]]:
    """Return the address of releases, and a PATH on which pip logs its arguments.

    They are in the file `pip` of the runner's folder.
    """
    (tmp_path / "bin").mkdir()
    for name in ("python3", "python"):
        (tmp_path / "bin" / name).write_text(LOGS_PIP)
        (tmp_path / "bin" / name).chmod(0o755)
    return releases, {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def test_each_file_of_a_release_has_its_runner() -> None:
    """The names are those that release.yml builds."""
    release: Any = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    platforms = release["jobs"]["binary"]["strategy"]["matrix"]["include"]
    names = {name.removesuffix(".exe") for name in FILES.values()}
    assert names == {f"kafka-shim-{each['platform']}" for each in platforms}


@pytest.mark.parametrize(("system", "machine"), FILES)
def test_the_single_file_of_the_runner_is_installed(
    system: str, machine: str, folder: Path, releases: str
) -> None:
    done = run_step(
        "install", {"releases": releases}, folder, RUNNER_OS=system, RUNNER_ARCH=machine
    )
    assert done.returncode == 0, done.stdout + done.stderr
    name = FILES[system, machine]
    assert done.stdout == f"kafka-shim: installed {releases}/v{VERSION}/{name}\n"
    assert outputs_in(folder) == {"command": f"{folder}/kafka-shim/{name}"}


def test_the_checksum_is_read_where_only_shasum_exists(
    folder: Path, releases: str, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("awk", "chmod", "curl", "cut", "mkdir", "sed", "sh", "bash", "shasum"):
        path = shutil.which(name)
        assert path, f"{name} is not installed"
        (tools / name).symlink_to(path)
    done = run_step("install", {"releases": releases}, folder, PATH=str(tools), RUNNER_OS="macOS")
    assert "installed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("listed", [True, False])
def test_a_wrong_checksum_fails(
    *, listed: bool, folder: Path, releases: str, tmp_path: Path
) -> None:
    file = tmp_path / "releases" / f"v{VERSION}" / FILES["Linux", "X64"]
    sums = file.parent / "SHA256SUMS"
    if listed:
        file.write_text("#!/bin/sh\ntouch was-run\n")
    else:
        sums.write_text("\n".join(sums.read_text().splitlines()[1:]))
    expected = hashlib.sha256(SINGLE_FILE.encode()).hexdigest() if listed else "none"
    actual = hashlib.sha256(file.read_bytes()).hexdigest()
    done = run_step("install", {"releases": releases}, folder)
    assert done.returncode == 1
    assert done.stdout == (
        f"::error::{releases}/v{VERSION}/{file.name} has the checksum {actual}, but SHA256SUMS has"
        f" {expected}\n"
    )
    assert not outputs_in(folder)


NOT_FOUND = r"\(.*404.*\)"
PACKAGE = f"{ROOT}[control,compression,regex]"


@pytest.mark.parametrize(
    ("inputs", "machine", "reason", "requirement"),
    [
        ({}, "X86", "no single file for Linux on X86", PACKAGE),
        ({}, "ARM64", f"cannot download .*/v0.1.0/kafka-shim-linux-arm64 {NOT_FOUND}", PACKAGE),
        (
            {"version": "0.0.9"}, "X64", f"cannot download .*/v0.0.9/SHA256SUMS {NOT_FOUND}",
            "kafka-shim[control,compression,regex]==0.0.9",
        ),
        (
            {"releases": "http://127.0.0.1:9"}, "X64",
            r"cannot download .*:9/v0.1.0/SHA256SUMS \(.*\)", PACKAGE,
        ),
        ({"package": "/a"}, "X64", "the input package is set", "/a[control,compression,regex]"),
    ],
    ids=["platform", "file", "release", "address", "package"],
)  # fmt: skip
def test_without_a_single_file_pip_installs_the_package(
    inputs: dict[str, str], machine: str, reason: str, requirement: str,
    folder: Path, with_logged_pip: tuple[str, dict[str, str]],
) -> None:  # fmt: skip
    releases, path = with_logged_pip
    (folder.parent / "releases" / f"v{VERSION}" / FILES["Linux", "ARM64"]).unlink()
    all_inputs = {"releases": releases} | inputs
    done = run_step("install", all_inputs, folder, RUNNER_ARCH=machine, **path)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = f"kafka-shim: {reason}; installing {re.escape(requirement)} with pip\n"
    assert re.fullmatch(expected, done.stdout), done.stdout
    assert (folder / "pip").read_text().split()[-1] == requirement
    assert outputs_in(folder) == {"command": f"{folder}/kafka-shim/bin/kafka-shim"}


@pytest.mark.parametrize("scripts", ["bin", "Scripts"])
def test_a_single_file_that_does_not_run_is_replaced_by_the_package(
    scripts: str, folder: Path, with_logged_pip: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    """As with musl, or with an older glibc."""
    releases, path = with_logged_pip
    release = tmp_path / "releases" / f"v{VERSION}"
    shutil.rmtree(release)
    add_release_files(release, "#!/nowhere/ld-linux\n")
    system = "Windows" if scripts == "Scripts" else "Linux"
    done = run_step("install", {"releases": releases}, folder, RUNNER_OS=system, **path)
    assert done.returncode == 0, done.stdout + done.stderr
    message = f"kafka-shim: {FILES[system, 'X64']} does not run here ("
    assert done.stdout.startswith(message)
    assert (folder / "pip").exists()
    assert outputs_in(folder) == {"command": f"{folder}/kafka-shim/{scripts}/kafka-shim"}


def test_a_broker_has_the_inputs_and_its_addresses_are_outputs(folder: Path, releases: str) -> None:
    inputs = {
        "releases": releases,
        "port": "0",
        "kafka-version": "3.9",
        "topics": "orders:3",
        "users": "alice:secret",
        "acls": "- {principal: User:alice, allow: [Describe], topic: orders}\n",
    }
    assert run_step("install", inputs, folder).returncode == 0
    (folder / "pid").unlink()
    done = run_step("start", inputs, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = outputs_in(folder)
    assert outputs.pop("command") == f"{folder}/kafka-shim/kafka-shim-linux-x64"
    assert set(outputs) == set(ACTION["outputs"])
    assert "authentication" in Path(outputs.pop("log")).read_text()
    variables = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
    assert sorted(variables.values()) == sorted(outputs.values())
    settings: dict[str, Any] = {
        "bootstrap.servers": variables["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"],
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
        "sasl.username": "alice", "sasl.password": "secret",
    }  # fmt: skip
    topics = AdminClient(settings).list_topics(timeout=20).topics
    assert {name: len(topic.partitions) for name, topic in topics.items()} == {"orders": 3}


def test_the_action_used_twice_starts_two_brokers(folder: Path, releases: str) -> None:
    assert run_step("install", {"releases": releases}, folder).returncode == 0
    addresses, pids = [], []
    for topic in ("first", "second"):
        done = run_step("start", {"port": "0", "topics": topic}, folder)
        assert done.returncode == 0, done.stdout + done.stderr
        addresses.append(outputs_in(folder)["bootstrap-servers"])
        pids.append(int((folder / "pid").read_text()))
    found = [
        list(AdminClient({"bootstrap.servers": address}).list_topics(timeout=20).topics)
        for address in addresses
    ]
    os.kill(pids[0], signal.SIGTERM)
    assert found == [["first"], ["second"]]
    port = addresses[1].rpartition(":")[2]  # in use: the ready file of another start is not read
    assert run_step("start", {"port": port}, folder).returncode == 1


def test_a_broker_that_does_not_start_fails_the_step_with_its_error(
    folder: Path, releases: str
) -> None:
    assert run_step("install", {"releases": releases}, folder).returncode == 0
    done = run_step("start", {"port": "0", "topics": "orders:x"}, folder)
    assert done.returncode == 1
    assert "KAFKA_SHIM_TOPICS `orders:x`" in done.stdout


@pytest.mark.heavy
def test_the_package_is_installed_in_a_new_environment(folder: Path, releases: str) -> None:
    """No release has a file for this runner, so pip installs the version of the action."""
    done = run_step("install", {"releases": f"{releases}/none"}, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run([outputs_in(folder)["command"], "--version"], check=True)
