"""`kafka-shim acls` compared with the recorded output of the real kafka-acls.

SHIM_TEST_ACLS_BOOTSTRAP=HOST:PORT plays against that broker (without ACLs) instead of the
shim.
"""

import json
import os
from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.cli.printed import complaint, normal

RECORDED = json.loads((Path(__file__).parent / "recorded_acl_commands.json").read_text())
FOREIGN = os.environ.get("SHIM_TEST_ACLS_BOOTSTRAP")

HELP = " (see `kafka-shim acls --help`)\n"

OWN_WORDS = {
    "Option topic requires an argument": "--topic: expected a value",
    "unknown-option is not a recognized option": "unknown option `--unknown-option`",
    "Error while executing ACL command: expected a string in format"
    " principalType:principalName but got nobody": "expected a string in format"
    " principalType:principalName but got nobody, as in User:alice",
    "Error while executing ACL command: expected a string in format"
    " principalType:principalName but got a": "expected a string in format"
    " principalType:principalName but got a, as in User:alice",
    "Error while executing ACL command: operation must not be ANY": "--operation: unknown"
    " operation `Any`; expected one of All, Read, Write, Create, Delete, Alter, Describe,"
    " ClusterAction, DescribeConfigs, AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens,"
    " TwoPhaseCommit",
    "Error while executing ACL command: Cannot parse argument 'foo' of option"
    " resource-pattern-type": "--resource-pattern-type: unknown value `foo`;"
    " expected literal, prefixed, any, match",
}
"""The shim's message for messages of kafka-acls that it words otherwise."""


def test_the_recording_has_successes_and_failures() -> None:
    codes = [entry["code"] for entry in RECORDED]
    assert codes.count(0) > 50
    assert codes.count(1) > 30


def test_every_command_prints_what_kafka_acls_printed(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap = FOREIGN or request.getfixturevalue("broker").plaintext
    for entry in RECORDED:
        words = ["acls", "--bootstrap-server", bootstrap, *entry["command"].split()]
        code: str | int | None
        try:
            code = main(words)
        except SystemExit as exit_:
            code = exit_.code
        captured = capsys.readouterr()
        where = entry["command"]
        if entry["code"] == 0:
            assert code == 0, (where, captured.err)
            assert normal(captured.out) == entry["output"], where
        else:
            assert code == 2, where
            said = captured.err.removeprefix("kafka-shim acls: ").removesuffix(HELP)
            said = said.partition(" (choose from")[0]
            expected = OWN_WORDS.get(entry["complaint"], entry["complaint"])
            if "Foo" in where:
                expected = OWN_WORDS[
                    "Error while executing ACL command: operation must not be ANY"
                ].replace("Any", "Foo")
            assert complaint(said) == expected, where


@pytest.mark.parametrize("text", ["", "Acl (a) already exists.\nAcl (b) already exists.\n"])
def test_normalizing_keeps_every_line(text: str) -> None:
    assert sum(block.count("\n") + 1 for block in normal(text)) == text.count("\n")
