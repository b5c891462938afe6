"""A folder in which the commands of a page run literally."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs.shown import ROOT

LINKED = ("benchmarks", "conformance", "examples", "vectors", "src/kafka_shim/pipeline/submit.py")
"""Files and folders of the project that pages mention."""

_CLIENT = """\
import os
from confluent_kafka.admin import AdminClient
AdminClient({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]}).list_topics(timeout=20)
"""
"""Stands for the reader's own command, e.g. `your-test-command`."""


class Shell:
    """Runs commands; `replaced` maps text on pages, such as addresses, to what tests use."""

    def __init__(self, folder: Path, replaced: Mapping[str, str]) -> None:
        self.folder = folder
        self._replaced = dict(replaced)
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        python = shlex.quote(sys.executable)
        on_path = f'export PYTHONPATH={shlex.quote(str(ROOT))}"${{PYTHONPATH:+:$PYTHONPATH}}"'
        client = f"exec {python} -c {shlex.quote(_CLIENT)}"
        for name, last in {
            "kafka-shim": f'exec {python} -P -m kafka_shim "$@"',
            "python": f'exec {python} "$@"',
            "your-test-command": client,
            "npm": client,
            "go": client,
            "mvn": client,
        }.items():
            (programs / name).write_text(f"#!/bin/sh\n{on_path}\n{last}\n")
            (programs / name).chmod(0o755)
        for name in LINKED:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(ROOT / name)
        path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        self._environment = os.environ | {"PATH": os.pathsep.join(path)}
        self._environment.pop("PYTHONPATH", None)

    def put(self, replaced: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Add replacements and variables."""
        self._replaced |= replaced
        self._environment |= environment

    def __call__(self, command: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._words(command),
            cwd=self.folder, env=self._environment, capture_output=True, text=True,
            timeout=timeout_s, check=False,
        )  # fmt: skip

    def until(self, line: str, command: str) -> int:
        """Stop the command once it has printed a line with this beginning; return its exit code."""
        child = subprocess.Popen(
            self._words(command),
            cwd=self.folder, env=self._environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdout is not None
        printed = any(text.startswith(line) for text in child.stdout)
        child.terminate()
        child.communicate(timeout=20)
        assert printed, command
        return child.returncode

    def _words(self, command: str) -> list[str]:
        for shown, real in self._replaced.items():
            command = command.replace(shown, real)
        return ["bash", "-o", "pipefail", "-c", command]
