"""The printed source of codecs."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.protocol import show
from tests.support.generated_files import outdated

GOLDEN = Path(__file__).parent / "generated"
SHOWN = [
    ("CreateAclsRequest", 3),
    ("HeartbeatRequest", 0),
    ("FetchRequest", 12),
    ("FetchResponse", 16),
    ("MetadataResponse", 12),
    ("DescribeTopicPartitionsRequest", 0),
]


@pytest.mark.parametrize(("name", "version"), SHOWN)
def test_source_is_the_reviewed_one(name: str, version: int) -> None:
    reviewed = (GOLDEN / f"{name}_v{version}.txt").read_text()
    hint = outdated(f"tests/protocol/generated/{name}_v{version}.txt")
    assert show.codec_source(name, version) == reviewed, hint


def test_an_api_shows_both_its_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(["CreateAcls", "3"]) == 0
    said = capsys.readouterr().out
    assert "# CreateAclsRequest v3" in said
    assert "# CreateAclsResponse v3" in said
    assert said.count("def read(buf, pos):") == said.count("def write(message):") == 2


def test_the_newest_version_is_shown_when_none_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show.main(["OffsetCommitKey"]) == 0
    assert "# OffsetCommitKey v0" in capsys.readouterr().out


def test_unknown_names_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(["Nothing"]) == 2
    assert "unknown message `Nothing`" in capsys.readouterr().err
    assert show.main(["CreateAcls", "9"]) == 2
    assert "`CreateAclsRequest` has versions 0-3, and not 9" in capsys.readouterr().err


def test_as_a_command() -> None:
    command = [sys.executable, "-m", "kafka_shim.protocol.show", "Heartbeat", "0"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=show_root())
    assert said.stdout.startswith("# HeartbeatRequest v0\n\ndef read(buf, pos):")


def show_root() -> Path:
    return Path(__file__).parents[2]
