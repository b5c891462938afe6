"""Recordings are stored compressed, and shown as text for reviews."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.recordings.show import shown
from tests.recordings.store import Recordings, read_file, write_file

ROOT = Path(__file__).parents[2]
ANSWERS = {"fetch-all": [("first", {"error_code": 0}), ("second", "closed")], "produce-none": []}


def test_saved_recordings_are_read(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "new")
    assert recordings.load("4.3.1") == {}
    recordings.save("4.3.1", ANSWERS)
    assert recordings.releases() == ["4.3.1"]
    assert recordings.names("4.3.1") == ["fetch-all", "produce-none"]
    assert recordings.steps("4.3.1", "fetch-all") == ANSWERS["fetch-all"]
    assert recordings.load("4.3.1") == ANSWERS
    recordings.save("4.3.1", {"fetch-all": []})
    assert recordings.load("4.3.1") == {"fetch-all": []}


def test_equal_responses_are_stored_as_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_file(tmp_path / f"{name}.gz", b"same")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_file(tmp_path / "a.gz") == b"same"


def test_a_recording_is_shown_with_one_response_per_line(tmp_path: Path) -> None:
    Recordings(tmp_path).save("4.3.1", ANSWERS)
    assert list(shown(tmp_path / "4.3.1.json.gz")) == [
        "fetch-all",
        '  ["first", {"error_code": 0}]',
        '  ["second", "closed"]',
        "produce-none",
    ]
    lines = [{"prefix": "s1", "steps": [{"user": "a"}]}, {"prefix": "s2", "steps": []}]
    content = b"\n".join(map(msgspec.json.encode, lines))
    write_file(tmp_path / "4.3.1.jsonl.gz", content)
    assert list(shown(tmp_path / "4.3.1.jsonl.gz")) == [
        '{"prefix":"s1"}',
        '  {"user":"a"}',
        '{"prefix":"s2"}',
    ]


def test_git_shows_what_changed_in_a_recording_as_the_page_says(tmp_path: Path) -> None:
    """The command of the page works in a new repository with the project's .gitattributes."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
            cwd=tmp_path, check=True, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        ).stdout  # fmt: skip

    page = (ROOT / "tests/recordings/README.md").read_text()
    [command] = re.findall(r"git config diff\.recording\.textconv '(.+)'", page)
    git("init", "-q")
    (tmp_path / ".gitattributes").write_text((ROOT / ".gitattributes").read_text())
    git("config", "diff.recording.textconv", command.replace(".venv/bin/python", sys.executable))
    Recordings(tmp_path).save("4.3.1", ANSWERS)
    git("add", ".")
    Recordings(tmp_path).save("4.3.1", ANSWERS | {"produce-none": [("third", {"error_code": 7})]})
    diff = git("diff")
    assert '+  ["third", {"error_code": 7}]' in diff
    assert "Binary files" not in diff
