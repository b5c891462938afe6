"""Behaviour that all commands share: help, error messages, completion, input and output."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from kafka_shim.cli import (
    COMMANDS,
    EXIT_USAGE,
    _parse_command_line,
    build_command_line_parser,
    main,
)
from kafka_shim.cli.command_parser import CommandParser, iter_commands
from kafka_shim.cli.help_examples import EXAMPLES, SUBCOMMANDS
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.config import InitialTopic
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.text.message_text import sanitize_message
from tests.support.commands import SHIM

ROOT = Path(__file__).parents[2]


def spoken(words: list[str], text: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program in its own process, with real streams."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [*SHIM, *words], input=text.encode(), capture_output=True, check=False, env=environment
    )


def test_two_dashes_are_a_valid_value(tmp_path: Path) -> None:
    """argparse drops them up to Python 3.12, which once ended in a traceback."""
    parser = CommandParser()
    add_broker_arguments(parser)
    named = config_from_arguments(parser.parse_args(["--topic=--"]), {})
    path = tmp_path / "shim.yaml"
    path.write_text("topic: ['--']")
    in_file = config_from_arguments(parser.parse_args(["--config", str(path)]), {})
    assert named.topics == in_file.topics == (InitialTopic("--"),)
    with pytest.raises(SystemExit):
        parser.parse_args(["--log-level=--"])


def test_help_prints_the_value_of_an_option_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "  -c, --broker-config KEY=VALUE\n" in capsys.readouterr().out


def test_words_that_are_not_utf_8_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--user", "\udcffx:y"])
    assert stopped.value.code == EXIT_USAGE
    assert "is not UTF-8" in capsys.readouterr().err


def test_errors_cut_long_values_and_escape_control_characters() -> None:
    assert sanitize_message(f"option `{'x' * 200}`: expected") == f"option `{'x' * 80}…`: expected"
    assert sanitize_message("`a\x1b[31m\nb\udcff`") == r"`a\x1b[31m\nb\udcff`"
    assert len(sanitize_message("y" * 10_000)) < 400


def test_errors_do_not_cut_the_text_between_values() -> None:
    text = f"`a` is not a trace{' and that is long' * 5}: `kafka-shim trace import a`"
    assert sanitize_message(text) == text


@pytest.mark.parametrize(
    ("command", "options", "complaint"),
    [
        ("serve", "--brokers x", "--brokers: invalid value `x`; expected a whole number"),
        ("serve", "--nope", "unknown option `--nope`"),
        ("trace info", "here --nope", "unknown option `--nope`"),
        ("serve", "--lisener=x", "unknown option `--lisener`; did you mean `--listener`?"),
        ("serve", "here", "unexpected argument `here`"),
        (
            "serve",
            "--log-level inf",
            "-l/--log-level: unknown value `inf`; did you mean `info`?",
        ),
        ("replay", "", "missing `TRACE`, `--target`"),
        ("explain", "--principal User:a", "missing `--operation` or `--api`"),
        (
            "explain",
            "--principle User:a",
            "unknown option `--principle`; did you mean `--principal`?",
        ),
        ("pipeline denials", "trace --json --csv", "`--csv` cannot be combined with `--json`"),
        ("serve", "--topic", "--topic: expected a value"),
        ("serve", "--speed x", "--speed: invalid value `x`; expected a number"),
        (
            "who-can",
            "Read topic: --acls x",
            "resource `topic:`: the name is missing; expected topic:NAME",
        ),
    ],
)
def test_invalid_options_are_reported_in_one_line(
    command: str, options: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), *options.split()])
    assert ended.value.code == EXIT_USAGE
    program = f"kafka-shim {command}"
    said = capsys.readouterr().err
    assert said == f"{program}: {complaint} (see `{program} --help`)\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "serve --listener PLAINTEXT://h:99999",
            "listener `PLAINTEXT://h:99999`: port 99999 is out of range (0 to 65535)",
        ),
        (
            "serve --listener foo",
            "listener `foo`: expected NAME://HOST:PORT, as in PLAINTEXT://127.0.0.1:9092",
        ),
        (
            "acls --list --bootstrap-server foo",
            "--bootstrap-server `foo`: expected HOST:PORT, as in 127.0.0.1:9092",
        ),
        (
            "who-can Read topic:t --bootstrap-server a:1,b:70000",
            "--bootstrap-server `b:70000`: port 70000 is out of range (0 to 65535)",
        ),
        (
            "serve --listener PLAINTEXT://127.0.0.1:0 --listener-principal X=User:a",
            "--listener-principal: no listener is named X; expected one of PLAINTEXT",
        ),
        ("serve --super-user alice", "super user `alice` (super.users): expected Type:name"),
        (
            "trace import --input-format pcap pyproject.toml x",
            "`pyproject.toml`: not a network capture",
        ),
    ],
)
def test_an_invalid_value_is_named_with_what_was_expected(
    words: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == EXIT_USAGE
    said = capsys.readouterr().err
    assert f": {text}" in said
    assert said.count("\n") == 1


def test_an_unknown_command_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
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
    assert "(test, diff, lint, matrix, plan, apply," in said
    assert len(re.findall(r"^[A-Z]\w+: kafka-shim ", said, re.MULTILINE)) == 5


def test_the_help_has_the_subcommands_of_each_command() -> None:
    parser = build_command_line_parser(COMMANDS, COMMANDS)
    [commands] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    names = {
        command: ", ".join(
            each.prog.split()[-1] for each in iter_commands(commands.choices[command])
        )
        for command in COMMANDS
    }
    assert {command: text for command, text in names.items() if text} == SUBCOMMANDS


def test_the_help_is_printed_without_the_modules_of_commands() -> None:
    code = "import sys; from kafka_shim.cli import main; main(['--help'])"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "kafka_shim.cli.help_examples" in done.stderr
    assert "kafka_shim.cli.serve" not in done.stderr
    assert "kafka_shim.shim.broker" not in done.stderr


def test_every_help_has_the_exit_codes() -> None:
    assert [name for name, leaf in LEAVES.items() if "xit code" not in leaf.format_help()] == []


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("explain --min-period 3", "`kafka-shim pipeline unused-acls`"),
        ("serve --driver x", "`kafka-shim conformance suite` has it"),
        ("serve --nobody-has-this", "--nobody-has-this` (see"),
    ],
)
def test_an_option_of_another_command_is_named(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == EXIT_USAGE
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "requirements --api Fetch --json",
        "requirements --api Fetch --format json",
        "requirements --api Fetch --format=json",
        "policy compact FILE --json",
        "policy diff FILE FILE --format json",
        "acls --acls FILE --format json",
    ],
)
def test_json_has_two_spellings(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acls.yaml").write_text("- {principal: User:a, allow: Read, topic: t}\n")
    assert main(words.replace("FILE", str(tmp_path / "acls.yaml")).split()) == 0
    json.loads(capsys.readouterr().out)


def test_help_with_a_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in (["help", "trace"], ["trace", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield all commands that have no subcommands."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for command in action.choices.values():
            yield from leaves(command)


LEAVES = {leaf.prog: leaf for leaf in leaves(build_command_line_parser(COMMANDS, COMMANDS))}


def examples(leaf: argparse.ArgumentParser) -> list[str]:
    """Return the example commands in the help of a command."""
    text = leaf.format_help().replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.startswith("  kafka-shim ")]


@pytest.mark.parametrize("program", LEAVES)
def test_examples_in_the_help_can_be_parsed(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = examples(LEAVES[program])
    assert found, "add one to cli/help_examples.py"
    for example in found:
        words = list(takewhile(lambda word: word not in {">", ">>"}, shlex.split(example)[1:]))
        args = _parse_command_line(words)
        assert example.startswith(program), example
        assert args.command == program.split()[1]
    assert not capsys.readouterr().err


VALUE_NAME = re.compile(r"[\w-]+: ")
"""The beginning of a text that explains the values of an option one after the other."""


@pytest.mark.parametrize("program", LEAVES)
def test_help_texts_are_in_sentence_case(program: str) -> None:
    leaf = LEAVES[program]
    texts = [leaf.description, *(group.title for group in leaf._action_groups[2:])]
    texts += [action.help for action in leaf._actions if action.dest != "help"]
    beginnings = [text for text in texts if text and not VALUE_NAME.match(text)]
    assert [text for text in beginnings if text[0].islower()] == []
    assert [action.dest for action in leaf._actions if not action.help] == []


@pytest.mark.parametrize("program", LEAVES)
def test_errors_of_every_command_have_one_form(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, hint = program.split()[1:], f" (see `{program} --help`)\n"
    with pytest.raises(SystemExit):
        main([*words, "--no-such-word"])
    assert capsys.readouterr().err == f"{program}: unknown option `--no-such-word`{hint}"
    actions = LEAVES[program]._actions
    needed = [action for action in actions if action.required and action.nargs != "*"]
    if needed and not program.endswith((" run", " least-acls")):  # `--` has its own error
        with pytest.raises(SystemExit):
            main(words)
        names = ", ".join(f"`{_name_in_error(action)}`" for action in needed)
        assert capsys.readouterr().err == f"{program}: missing {names}{hint}"


def _name_in_error(action: argparse.Action) -> str:
    if action.option_strings:
        return "/".join(action.option_strings)
    return str(action.metavar or action.dest)


def test_an_unknown_subcommand_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["trace", "gerp"])
    said = capsys.readouterr().err
    assert said == (
        "kafka-shim trace: unknown command `gerp`; did you mean `grep`?"
        " (see `kafka-shim trace --help`)\n"
    )


def test_all_examples_belong_to_a_command() -> None:
    assert EXAMPLES.keys() <= LEAVES.keys()


def test_a_shortened_usage_line_has_the_required_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["proxy", "--help"])
    first = capsys.readouterr().out.partition("\n\n")[0]
    assert first == "usage: kafka-shim proxy [OPTION ...] --upstream HOST:PORT --record DIR"


COMPLETING = """
source /dev/stdin
for words in "tr" "serve --log-lev" "policy diff --fail-on ," "serve --state "; do
  COMP_WORDS=(kafka-shim ${words/,/}) COMPREPLY=()
  [ "${words: -1}" = , ] && COMP_WORDS+=("")
  [ "${words: -1}" = " " ] && COMP_WORDS+=("sta")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _shtab_kafka_shim
  echo "${COMPREPLY[@]}"
done
"""


def test_bash_completes_commands_options_values_and_files(tmp_path: Path) -> None:
    (tmp_path / "state.yaml").touch()
    script = spoken(["completion", "bash"]).stdout
    done = subprocess.run(
        ["bash", "-c", COMPLETING], input=script, capture_output=True, check=False, cwd=tmp_path
    )
    assert done.stdout.decode().splitlines() == [
        "trace", "--log-level", "gain loss any", "state.yaml"
    ]  # fmt: skip


@pytest.mark.parametrize(("shell", "mark"), [("zsh", "#compdef kafka-shim"), ("fish", "complete")])
def test_scripts_for_other_shells_name_every_command(
    shell: str, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert mark in script
    assert all(command in script for command in COMMANDS)


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
    done = spoken(["acls", "--acls", "-", "--format", "csv"], ACLS, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "User:jürgen✓" in done.stdout.decode("utf-8")


@pytest.mark.package_only
def test_an_interrupt_during_loading_prints_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt(name)

    monkeypatch.setattr("kafka_shim.cli.import_command_module", interrupted)
    assert main(["serve"]) == 130
    assert capsys.readouterr().err == ""
