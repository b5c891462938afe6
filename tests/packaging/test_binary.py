"""The single file `kafka-shim`: what differs in it from the package; `make release` runs it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.text import extras
from tests.docs.shown import commands

ROOT = Path(__file__).parents[2]
FILE = ROOT / "dist" / "kafka-shim"
LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_an_extra_that_the_single_file_lacks_needs_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "IS_SINGLE_FILE", True)
    assert extras.requires("`pipeline`", "pipeline").endswith(
        "which the single file does not contain; install the Python package:"
        " pip install 'kafka-shim[pipeline]'"
    )


def test_the_version_names_the_single_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "IS_SINGLE_FILE", True)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert " (single file with Python 3." in capsys.readouterr().out


def test_the_package_prints_its_licenses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--licenses"])
    printed = capsys.readouterr().out
    assert (ROOT / "LICENSE").read_text() in printed
    assert (ROOT / "NOTICE").read_text() in printed


def test_a_program_restarts_itself_as_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.kafka_shim_command()[1:] == ["-P", "-m", "kafka_shim"]
    monkeypatch.setattr(extras, "IS_SINGLE_FILE", True)
    assert len(extras.kafka_shim_command()) == 1


def test_a_file_of_older_sources_is_made_again(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    sources = ["pyproject.toml", "hatch_build.py", "requirements/parts/binary.txt"]
    sources += ["src/kafka_shim/text/extras.py", "packages/binary/start.py"]
    for name in [*sources, "dist/kafka-shim"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    make = ["make", "--question", "--directory", str(tmp_path), "dist/kafka-shim"]
    assert subprocess.run(make, check=False).returncode == 0
    for name in sources:
        os.utime(tmp_path / name, ns=(time.time_ns() + 10**9,) * 2)
        assert subprocess.run(make, check=False).returncode == 1
        os.utime(tmp_path / name, ns=(0, 0))


# ------------------------------------------------------------------ the file itself


@pytest.fixture
def file(tmp_path: Path) -> Path:
    if not FILE.exists():
        pytest.skip("there is no single file: run make dist/kafka-shim")
    return Path(shutil.copy(FILE, tmp_path / "kafka-shim-linux-x64"))


@pytest.fixture
def broker(file: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a broker that stops with its standard input, started; its files are in `temporary`."""
    (tmp_path / "temporary").mkdir()
    words = ["serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--stop-with-stdin"]
    child = subprocess.Popen(
        [file, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    assert child.stdout is not None
    while not child.stdout.readline().startswith("[KafkaServer"):
        assert child.poll() is None
    with child:
        yield child
        child.kill()


@pytest.mark.heavy
def test_the_single_file_does_what_a_stranger_tries(file: Path) -> None:
    done = subprocess.run(
        [ROOT / ".ci" / "try-binary", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_the_commands_of_the_page_run_it(file: Path) -> None:
    (file.parent / "Makefile").write_text('test:\n\techo "at $$KAFKA_BOOTSTRAP_SERVERS"\n')
    file.chmod(0o644)
    words = [each.text for each in commands() if each.page == "docs/start/install.md"]
    chosen = [text for text in words if "linux-x64" in text]
    assert len(chosen) == 2
    done = subprocess.run(
        "\n".join(chosen), shell=True, cwd=file.parent, capture_output=True, text=True, check=True
    )
    assert "at 127.0.0.1:" in done.stdout


@pytest.mark.heavy
@LINUX_ONLY
@pytest.mark.parametrize("end", ["SIGTERM", "SIGINT", "standard input"])
def test_the_single_file_stops_and_removes_its_files(
    broker: subprocess.Popen[str], tmp_path: Path, end: str
) -> None:
    assert broker.stdin is not None
    if end == "standard input":
        broker.stdin.close()
    else:
        broker.send_signal(signal.Signals[end])
    assert broker.wait(20) == 0
    assert [*(tmp_path / "temporary").iterdir()] == []


@pytest.mark.heavy
@LINUX_ONLY
def test_a_killed_launcher_ends_the_broker_and_its_files_are_removed(
    broker: subprocess.Popen[str], tmp_path: Path
) -> None:
    second = child_of(broker)
    broker.kill()
    broker.wait()
    wait_until_gone(second)
    assert [*(tmp_path / "temporary").iterdir()] == []


@pytest.mark.heavy
@LINUX_ONLY
def test_a_killed_launcher_ends_a_command_that_waits(file: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    words = [str(file), "run", "--", "sh", "-c", f"echo $$ >{started}; exec sleep 60"]
    child = subprocess.Popen(words, env=os.environ | {"TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 30
    while not (started.exists() and started.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = child_of(child)
    child.kill()
    child.wait()
    wait_until_gone(second)
    wait_until_gone(Path("/proc") / started.read_text().strip() / "status")
    assert [*tmp_path.glob("_MEI*")] == []


def child_of(launcher: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Path:
    """Return the status file of the process that a launcher has started."""
    pid = launcher.pid
    [child] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return Path("/proc") / child / "status"


def wait_until_gone(process: Path) -> None:
    deadline = time.monotonic() + 20
    while process.exists() and "zombie" not in process.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
