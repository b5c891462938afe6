"""`main` for tests of another `kafka-shim` (SHIM_TEST_COMMAND), and as a process that has ended."""

import io
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

from tests.support.commands import SHIM, environment

_ENDS_PARSING = ("(see `kafka-shim", "usage: kafka-shim", "is not UTF-8")
"""Texts of errors in the words of a command line, not in what they name."""


def finished(
    main: Callable[[list[str]], int], words: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process; return what one of its own, which takes 0.3 s more, would."""
    printed, told = io.BytesIO(), io.BytesIO()
    with (
        redirect_stdout(io.TextIOWrapper(printed, "utf-8", write_through=True)),
        redirect_stderr(io.TextIOWrapper(told, "utf-8", write_through=True)),
    ):
        try:
            code = main([*words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        texts = [written.getvalue().decode() for written in (printed, told)]
    return subprocess.CompletedProcess(words, code, *texts)


def run_tested_command(words: Sequence[str]) -> int:
    """Return the exit code; raise SystemExit where `main` does: usage errors, help, version."""
    given = sys.stdin.read() if isinstance(sys.stdin, io.StringIO) else ""
    done = subprocess.run(
        [*SHIM, *(word.encode("utf-8", "surrogateescape") for word in words)],
        input=given.encode(), capture_output=True, check=False, timeout=100, env=environment(),
    )  # fmt: skip
    stderr = done.stderr.decode()
    sys.stdout.write(done.stdout.decode())
    sys.stderr.write(stderr)
    output = done.stdout.decode() + stderr
    prints_only = done.returncode == 0 and {"--help", "--version", "help"} & set(words)
    if prints_only or (done.returncode == 2 and any(text in output for text in _ENDS_PARSING)):
        raise SystemExit(done.returncode)
    return done.returncode
