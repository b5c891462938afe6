import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.authorizer.requirement import OPEN_TO_ALL
from kafka_shim.authorizer.requirements import TABLE, requirements_of_served_versions
from kafka_shim.cli import EXIT_USAGE, main
from kafka_shim.protocol.api_versions import RELEASES
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "requirements.txt"
PAGE = ROOT / "docs" / "reference" / "permissions.md"
NEWEST_RELEASE = RELEASES[-1]
Ask = Callable[..., str]
"""Runs the command with these arguments; returns its output."""


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> str:
        assert main(["requirements", *words]) == 0
        return capsys.readouterr().out

    return asked


def test_the_golden_table_is_up_to_date(ask: Ask) -> None:
    assert ask() == GOLDEN.read_text(), outdated("tests/golden/requirements.txt")


def test_the_page_is_up_to_date(ask: Ask) -> None:
    assert ask("--markdown") == PAGE.read_text(), outdated("docs/reference/permissions.md")


def test_every_row_and_every_api_without_checks_is_printed(ask: Ask) -> None:
    printed = ask()
    assert [
        line.split()[0]
        for line in printed.splitlines()
        if line and line[0] != " " and "needs no permission" not in line
    ] == [row.id for row in TABLE]
    assert printed.count("needs no permission") == len(OPEN_TO_ALL)


def test_a_row_is_printed_with_all_details(ask: Ask) -> None:
    assert ask("--api", "OffsetFetch").split("\n\n")[0] == (
        f"OffsetFetch.group  0.11-{NEWEST_RELEASE}  KIP-163  KafkaApis\n"
        "    READ GROUP, up to 0.11\n"
        "    DESCRIBE GROUP, since 1.0\n"
        "    on group_id, groups[].group_id\n"
        "    denied: GROUP_AUTHORIZATION_FAILED (30), each element's code, version 0\n"
        "    denied: GROUP_AUTHORIZATION_FAILED (30), each element's code, version 1,"
        " up to 3.4 and since 3.9\n"
        "    denied: an empty response without an error, version 1,"
        " 3.5-3.8\n"
        "    denied: GROUP_AUTHORIZATION_FAILED (30), the response's code, versions 2-7\n"
        "    denied: GROUP_AUTHORIZATION_FAILED (30), each element's code, versions 8+\n"
        "    note: since version 8, each group is checked separately"
    )


def test_periods_with_a_gap_are_printed(ask: Ask) -> None:
    full = ask("--api", "CreateTopics")
    assert f"CreateTopics.configs  2.4-2.8, 3.3-{NEWEST_RELEASE}  KIP-525" in full
    assert "    unlogged if denied: CREATE CLUSTER, 2.4-2.8 and since 3.2\n" in full
    assert f"DescribeDelegationToken.token  1.1-2.8, 3.6-{NEWEST_RELEASE}  KIP-373" in ask(
        "--api", "41"
    )


def test_rows_of_one_release_are_printed_in_short_form(ask: Ask) -> None:
    assert ask("--kafka-version", "2.0", "--api", "Fetch") == (
        "Fetch.follower  CLUSTER_ACTION CLUSTER  TOPIC_AUTHORIZATION_FAILED (29),"
        " each element's code; when replica_id is 0 or more\n"
        "Fetch.topic     READ TOPIC              TOPIC_AUTHORIZATION_FAILED (29),"
        " each element's code; when replica_id is below 0\n"
    )


def test_a_release_prints_only_its_rows(ask: Ask) -> None:
    lines = ask("--kafka-version", NEWEST_RELEASE).splitlines()
    rows = [line.split()[0] for line in lines if "needs no permission" not in line]
    assert rows == [
        bound.requirement.id for bound in requirements_of_served_versions(NEWEST_RELEASE)
    ]


def test_a_permission_on_any_resource_is_printed(ask: Ask) -> None:
    idempotent = ask("--kafka-version", "2.8.2", "--api", "InitProducerId").splitlines()[1]
    assert (
        "WRITE on any TOPIC  CLUSTER_AUTHORIZATION_FAILED (31), the response's code;" in idempotent
    )


@pytest.mark.parametrize("word", ["CreateAcls", "create-acls", "CREATE_ACLS", "createacls", "30"])
def test_apis_are_found_by_any_spelling(ask: Ask, word: str) -> None:
    assert ask("--api", word).startswith("CreateAcls.cluster")


def test_operation_and_resource_select_the_same_permission(ask: Ask) -> None:
    listed = ask(
        "--operation", "create", "--resource-type", "topic", "--kafka-version", NEWEST_RELEASE
    )
    assert [line.split()[0] for line in listed.splitlines()] == [
        "Metadata.auto_create",
        "CreateTopics.topic",
        "StreamsGroupHeartbeat.create",
    ]


def test_a_former_permission_is_found_without_a_release(ask: Ask) -> None:
    words = ("--operation", "READ", "--resource-type", "GROUP", "--api", "OffsetFetch")
    assert ask(*words).startswith("OffsetFetch.group")
    assert ask(*words, "--kafka-version", "1.0") == "no requirement of Kafka 1.0 matches\n"


@pytest.mark.parametrize(
    ("words", "response"),
    [
        (["--api", "SaslHandshake"], "SaslHandshake  needs no permission: part of authentication"),
        (["--api", "Vote"], "no client-facing listener of any release serves Vote"),
        (
            ["--api", "ShareFetch", "--kafka-version", "2.0"],
            "no client-facing listener of Kafka 2.0 serves ShareFetch",
        ),
        (
            ["--api", "SaslHandshake", "--operation", "READ"],
            "no requirement of any release matches",
        ),
    ],
)
def test_missing_rows_are_explained(ask: Ask, words: list[str], response: str) -> None:
    assert ask(*words) == response + "\n"


def test_json_has_all_details_of_a_row(ask: Ask) -> None:
    found = json.loads(ask("--json", "--api", "InitProducerId"))
    assert found["release"] is None
    row = next(r for r in found["requirements"] if r["id"] == "InitProducerId.idempotent")
    assert row["releases"] == list(RELEASES)
    assert row["names"] == ["kafka-cluster"]
    assert row["any_of"][-1] == {
        "operation": "WRITE",
        "resource_type": "TOPIC",
        "any_name": True,
        "names": None,
        "since": "3.0",
        "until": None,
        "log_if_denied": False,
    }
    assert row["denied"] == [
        {
            "error": "CLUSTER_AUTHORIZATION_FAILED",
            "error_code": 31,
            "effect": "TOP",
            "versions": [0, None],
            "since": None,
            "until": None,
        }
    ]


def test_json_of_a_release_has_only_its_permissions(ask: Ask) -> None:
    rows = json.loads(ask("--json", "--kafka-version", "0.11"))["requirements"]
    assert [row["id"] for row in rows] == [
        bound.requirement.id for bound in requirements_of_served_versions("0.11")
    ]
    produce = next(row for row in rows if row["id"] == "Produce.topic")
    hidden = {"error": "UNKNOWN_TOPIC_OR_PARTITION", "until": "1.0", "first": True}
    assert produce["hidden"] == hidden
    fetch = next(row for row in rows if row["id"] == "OffsetFetch.group")
    assert [need["operation"] for need in fetch["any_of"]] == ["READ"]


def test_json_without_matching_rows_is_an_empty_list(ask: Ask) -> None:
    found = json.loads(ask("--json", "--api", "Vote"))
    assert found == {"release": None, "requirements": [], "open_to_all": {}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--api", "Ftch"], "unknown Kafka API `Ftch`; did you mean `Fetch`?"),
        (["--api", "999"], "unknown Kafka API `999`; see `kafka-shim requirements`"),
        (["--operation", "ANY"], "unknown operation `ANY`; expected one of All, Read, "),
        (["--resource-type", "topics"], "unknown resource type `topics`; did you mean `Topic`?"),
        (["--kafka-version", "9"], "unknown Kafka release `9`: expected one of 0.11, "),
        (["--json", "--markdown"], "`--markdown` cannot be combined with `--json`"),
    ],
)
def test_an_unknown_word_is_reported_with_a_suggestion(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["requirements", *words])
    assert ended.value.code == EXIT_USAGE
    assert message in capsys.readouterr().err
