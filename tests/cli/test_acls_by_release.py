"""`kafka-shim acls --kafka-version` compared with kafka-acls of that release."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.authorizer.acl_tool_releases import acl_tool_output_of_release
from kafka_shim.cli import main
from kafka_shim.policy.formats import kafka_list, parse_distinct_acls
from tests.cli.conftest import Running

RECORDED = json.loads((Path(__file__).parent / "recorded_tool_output.json").read_text())
RELEASES = RECORDED["releases"]


def lines(text: str) -> list[str]:
    """Return the sorted lines without padding: their order depends on Java's hash sets."""
    return sorted(line.strip() for line in text.splitlines())


@pytest.mark.parametrize("release", RELEASES)
def test_a_list_is_read_and_printed_as_by_kafka_acls(release: str) -> None:
    text = RELEASES[release]["listed"]
    acls = parse_distinct_acls(text, "list")
    assert len(acls) >= 8
    printed = kafka_list.format_listing(acls, acl_tool_output_of_release(release))
    assert lines(printed) == lines(text.rstrip("\n") + "\n\n")
    padded = printed.count("`: \n \t"), printed.count(" \n\n")
    assert padded == (text.count("`: \n \t"), text.count(" \n\n"))


@pytest.mark.parametrize("release", RELEASES)
def test_additions_are_printed_as_by_kafka_acls(
    release: str, broker: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["acls", "--bootstrap-server", broker.plaintext, "--kafka-version", release]
    assert main([*words, *RECORDED["command"].split()]) == 0
    printed = capsys.readouterr().out
    text = RELEASES[release]["added"]
    assert lines(printed.rstrip()) == lines(text.rstrip())
    assert printed.count("Current ACLs") == text.count("Current ACLs")


def test_prefixed_patterns_are_an_error_before_2_0(
    broker: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["acls", "--bootstrap-server", broker.plaintext]
    prefixed = [
        "--topic",
        "t",
        "--allow-principal",
        "User:a",
        "--resource-pattern-type",
        "prefixed",
    ]
    assert main([*words, "--add", *prefixed]) == 0
    with pytest.raises(SystemExit) as ended:
        main([*words, "--list", "--kafka-version", "1.1"])
    assert ended.value.code == 2
    assert "before 2.0 does not know prefixed patterns" in capsys.readouterr().err


@pytest.mark.parametrize(
    "release", [release for release, told in RELEASES.items() if "session" in told]
)
def test_a_session_prints_the_output_of_kafka_acls(
    release: str, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    """Play roles such as --producer, lists of some resources, and removals.

    SHIM_TEST_ACLS_BOOTSTRAP=HOST:PORT plays one release (-k) against its real broker.
    """
    bootstrap = os.environ.get("SHIM_TEST_ACLS_BOOTSTRAP") or start().plaintext
    words = ["acls", "--bootstrap-server", bootstrap, "--kafka-version", release]
    for command, printed in RELEASES[release]["session"].items():
        assert main([*words, *command.split()]) == 0
        assert lines(capsys.readouterr().out.rstrip()) == lines(printed.rstrip()), command
