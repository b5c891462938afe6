"""The files of a release, and an environment with them installed."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(
    *command: str | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without the PYTHONPATH that these tests may have been started with."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environ | dict(more or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def works(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Built:
    """The files of a release; `again` is the wheel built from the sdist."""

    wheel: Path
    sdist: Path
    again: Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment in which kafka-shim is installed from its wheel."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        base = str(self.folder)
        return Path(sysconfig.get_path("purelib", "venv", {"base": base, "platbase": base}))

    def pytest(
        self, cwd: Path, *options: str, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
        return run(self.python, *command, cwd=cwd, more=more)


def install(environment: Environment, *words: str) -> None:
    """Install a file without the network and without dependencies."""
    pip = (sys.executable, "-m", "pip", "--python", environment.python, "install", "--quiet")
    offline = ("--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")
    works(run(*pip, *offline, *words, cwd=environment.folder))
