"""Commands that take long show a progress bar, but only on a terminal."""

import contextlib
import itertools
import os
import re
import sys
import time
from pathlib import Path
from typing import TextIO

import pytest

from kafka_shim.cli import main
from kafka_shim.cli.progress_bar import ProgressBar
from tests.cli.conftest import Running
from tests.cli.test_trace_import import trace  # noqa: F401 -- a fixture
from tests.traces.captures.wires import capture_of, conversation
from tests.traces.importers.test_authorizer_log import LATER

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")


class Terminal:
    """A pseudo-terminal: `shown` returns the text that was written to `file`."""

    def __init__(self) -> None:
        self._screen, keyboard = os.openpty()
        self.file: TextIO = os.fdopen(keyboard, "w")

    def shown(self) -> str:
        """Return all output, and close the terminal."""
        os.set_blocking(self._screen, False)
        text = b""
        with contextlib.suppress(OSError):  # raised at the end of the output
            while piece := os.read(self._screen, 65_536):
                text += piece
        self.file.close()
        os.close(self._screen)
        return text.decode()


COMMANDS = [
    ("reading", ["trace", "info", "{trace}"]),
    ("reading", ["trace", "cat", "{trace}"]),
    ("reading", ["trace", "grep", "{trace}"]),
    ("exporting", ["trace", "export", "{trace}", "--out", "{new}"]),
    ("exporting", ["trace", "export", "{trace}", "--format", "pcap", "--out", "{new}"]),
    ("reading lines", ["trace", "import", "--input-format", "audit-log", "{log}", "{new}"]),
    ("reading packets", ["trace", "import", "--input-format", "pcap", "{capture}", "{new}"]),
    ("replaying", ["replay", "{trace}", "--target", "{broker}", "--on-miss", "skip"]),
    ("reading", ["conformance", "check", "{trace}"]),
]


@pytest.fixture
def places(trace: Path, tmp_path: Path, broker: Running) -> dict[str, str]:  # noqa: F811
    (tmp_path / "log").write_text(LATER)
    (tmp_path / "capture").write_bytes(capture_of(conversation(3)).getvalue())
    names = {name: str(tmp_path / name) for name in ("log", "capture", "new")}
    return names | {"trace": str(trace), "broker": broker.plaintext}


@pytest.mark.package_only
@pytest.mark.parametrize(("what", "words"), COMMANDS)
def test_a_bar_is_drawn_on_a_terminal_and_erased(
    what: str, words: list[str], places: dict[str, str]
) -> None:
    terminal = Terminal()
    with contextlib.redirect_stderr(terminal.file):
        assert main([word.format(**places) for word in words]) in (0, 3)
    shown = terminal.shown()
    assert f"\r{what} [" in shown
    drawn = shown[shown.index(f"\r{what} [") + 1 :].partition("\r")[0]
    note = r" \d+ requests, \d+:\d\d of the recording, \d+ differ" if what == "replaying" else ""
    assert re.search(rf"%{note}$", drawn.rstrip())
    assert f"\r{'':<{len(drawn)}}" in shown  # blanks overwrite the bar


@pytest.mark.parametrize("words", [words for _, words in COMMANDS])
def test_no_bar_is_drawn_in_a_pipe(
    words: list[str], places: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(**places) for word in words]) in (0, 3)
    assert "\r" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("verb", ["cat", "grep"])
def test_no_bar_is_drawn_between_printed_rows(verb: str, places: dict[str, str]) -> None:
    terminal = Terminal()
    out, err = contextlib.redirect_stdout(terminal.file), contextlib.redirect_stderr(terminal.file)
    with out, err:
        assert main(["trace", verb, places["trace"]]) == 0
    shown = terminal.shown()
    assert "CreateTopics" in shown
    assert "reading [" not in shown


def test_progress_without_a_total_shows_the_number() -> None:
    terminal = Terminal()
    with contextlib.redirect_stderr(terminal.file), ProgressBar("reading lines", 0) as progress:
        progress(12_345)
    assert terminal.shown().startswith("\rreading lines 12,345\r ")


@pytest.mark.package_only
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("checking expectations [", ["test", "{expectations}", "--acls", "{acls}"]),
        ("checking ACLs [", ["lint", "{acls}"]),
        ("comparing 1", ["diff", "{acls}", "{nothing}"]),
        ("planning 1", ["plan", "{acls}", "{nothing}"]),
    ],
)
def test_policy_commands_show_progress_after_a_second(
    what: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = "- {principal: User:a, %s: Read, topic: t}\n"
    contents = {"acls": rule % "allow", "expectations": rule % "may", "nothing": "acls: []\n"}
    for name, content in contents.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    paths = {name: str(tmp_path / f"{name}.yaml") for name in contents}
    command = ["policy", *(word.format(**paths) for word in words)]
    for seconds_per_look, is_shown in ((0.0, False), (2.0, True)):
        times = itertools.count(1.0, seconds_per_look)
        monkeypatch.setattr(time, "monotonic", lambda times=times: next(times))
        terminal = Terminal()
        with contextlib.redirect_stderr(terminal.file):
            assert main(command) == 0
        assert (f"\r{what}" in terminal.shown()) == is_shown
