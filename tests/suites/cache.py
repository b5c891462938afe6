"""Keeps suites in a cache between runs, and runs programs that download, build and test them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kafka-shim" / "suites"
FETCH_SECONDS = 1800
SHOWN_CHARACTERS = 2000


class SuiteError(Exception):
    """The suite could not be downloaded, built or run, so there is no result."""


def progress(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def need(*tools: str) -> None:
    """Raise SuiteError unless these programs are installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise SuiteError(f"not on the PATH: {', '.join(missing)}; please install it")


def fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return the folder of a suite, which `fetch` fills once; its name has the version."""
    folder = CACHE / name
    if (folder / "complete").exists():
        return folder
    progress(f"fetching {name} into {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fetch(folder)
    (folder / "complete").touch()
    return folder


def command(
    words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program that must succeed; return its output."""
    done = subprocess.run(
        words,
        cwd=folder,
        env=os.environ | dict(environment or {}),
        capture_output=True,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-SHOWN_CHARACTERS:]
        raise SuiteError(f"`{' '.join(words)}` ended with {done.returncode}:\n{said}")
    return done.stdout


def run_to_file(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path, seconds: int
) -> bool:
    """Run the suite, which may fail, with all output in a file; return whether it ended in time."""
    progress(f"running {words[0]}; its output: {output}")
    with output.open("wb") as file:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=os.environ | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            _end(child)
    return True


def end_all_on_sigterm() -> None:
    """Treat SIGTERM like Ctrl-C, so that started programs end too."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End the program and its children, which form their own process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def patch(folder: Path, pattern: str, changes: Mapping[str, str]) -> None:
    """Replace texts in all matching files; SuiteError if a text is missing."""
    files = {path: path.read_text() for path in sorted(folder.glob(pattern))}
    for old, new in changes.items():
        hit = [path for path, text in files.items() if old in text]
        if not hit:
            raise SuiteError(f"{folder}/{pattern}: `{old}` is not there to be replaced")
        for path in hit:
            files[path] = files[path].replace(old, new)
    for path, text in files.items():
        path.write_text(text)


def go_module(module: str, version: str, folder: Path) -> None:
    """Copy the source of a Go module to a folder, to change it there."""
    said = command(["go", "mod", "download", "-json", f"{module}@v{version}"], folder.parent)
    source = Path(json.loads(said)["Dir"])
    # files in Go's cache are read-only
    shutil.copytree(source, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for path in (folder, *folder.rglob("*/")):
        path.chmod(0o755)
