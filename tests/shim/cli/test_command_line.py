"""What all commands have in common: how they complain, and what they read and write."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.cli import COMMANDS, EXIT_USAGE, main
from kafka_shim.shim.cli.broker_options import add_broker_arguments, config_from
from kafka_shim.shim.cli.command_parser import CommandParser
from kafka_shim.shim.config import TopicSeed
from tests.commands import SHIM

ROOT = Path(__file__).parents[3]


def spoken(words: list[str], text: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    """What the program does in a process of its own, where its streams are real ones."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [*SHIM, *words], input=text.encode(), capture_output=True, check=False, env=environment
    )


def test_two_dashes_are_a_value_like_others(tmp_path: Path) -> None:
    """Up to Python 3.12, argparse drops them; it was a traceback."""
    parser = CommandParser()
    add_broker_arguments(parser)
    named = config_from(parser.parse_args(["--topic=--"]), {})
    path = tmp_path / "shim.yaml"
    path.write_text("topic: ['--']")
    in_file = config_from(parser.parse_args(["--config", str(path)]), {})
    assert named.topics == in_file.topics == (TopicSeed("--"),)
    with pytest.raises(SystemExit):
        parser.parse_args(["--log-level=--"])


def test_help_names_the_value_of_an_option_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "  -c, --broker-config KEY=VALUE\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "options", "complaint"),
    [
        ("serve", "--brokers x", "argument --brokers: invalid int value: 'x'"),
        ("serve", "--nope", "unknown option --nope"),
        ("trace info", "here --nope", "unknown option --nope"),
        ("serve", "--lisener=x", "unknown option --lisener; did you mean --listener?"),
        ("serve", "here", "unexpected argument: here"),
        (
            "serve",
            "--log-level inf",
            "argument -l/--log-level: unknown value `inf`; did you mean info?",
        ),
        ("replay", "", "the following arguments are required: trace, --to"),
        (
            "who-can",
            "Read topic: --acls x",
            "resource `topic:` does not name one; write `topic:NAME`",
        ),
    ],
)
def test_wrong_options_are_one_line(
    command: str, options: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), *options.split()])
    assert ended.value.code == EXIT_USAGE
    program = f"kafka-shim {command}"
    said = capsys.readouterr().err
    assert said == f"{program}: {complaint} (see `{program} --help`)\n"


def test_a_command_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nope"])
    assert ended.value.code == EXIT_USAGE
    [line] = capsys.readouterr().err.splitlines()
    assert all(command in line for command in COMMANDS)


@pytest.mark.parametrize(("words", "code"), [([], EXIT_USAGE), (["help"], 0), (["--help"], 0)])
def test_no_command_prints_the_help(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == code
    said = capsys.readouterr().out
    assert set(re.findall(r"^    ([a-z-]+)\b", said, re.MULTILINE)) == {*COMMANDS}


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in (["help", "trace"], ["trace", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_the_version_names_the_releases(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith("kafka-shim ")
    assert said.endswith(f"as Apache Kafka {RELEASES[0]} to {RELEASES[-1]}\n")


ACLS = "acls: [{principal: 'User:jürgen✓', allow: Read, topic: orders}]"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_names_are_utf_8_whatever_the_locale(encoding: str) -> None:
    done = spoken(["acls", "--from", "-", "--to", "csv"], ACLS, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "User:jürgen✓" in done.stdout.decode("utf-8")


def test_an_interrupt_while_the_command_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt(name)

    monkeypatch.setattr("kafka_shim.shim.cli.load_command", interrupted)
    assert main(["serve"]) == 130
    assert capsys.readouterr().err == ""
