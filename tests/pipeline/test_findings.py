"""`findings`: new, open and resolved since the last run, and the files of a pull request."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.pipeline.findings_history import read_findings_history
from kafka_shim.policy.formats import format_acls_losslessly, parse_distinct_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule, readable_rule
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, ResourceType
from tests.pipeline.traces import START_US, TraceMaker, fetch_frame, random_acls, random_trace
from tests.support.checked_folders import PIPELINE

pytestmark = PIPELINE

ROOT = "User:root"


class Recorded:
    """A long trace, a short one, the ACLs that decided both, and their file."""

    def __init__(self, folder: Path) -> None:
        rng = random.Random(7)
        self.acls = random_acls(rng, 25)
        authorizer = StandardAuthorizer(super_users=(ROOT,), store=AclStore(self.acls))
        self.long, self.short = str(folder / "long"), str(folder / "short")
        random_trace(folder / "long", rng, authorizer, 200)
        random_trace(folder / "short", rng, authorizer, 3)
        self.acl_file = str(folder / "acls.csv")
        Path(self.acl_file).write_text(format_acls_losslessly(self.acls, "csv"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("recorded"))


class Runs:
    """Runs of the job that share a history."""

    def __init__(self, recorded: Recorded, folder: Path, capsys: Any) -> None:
        self.history = folder / "history.json"
        self._acl_file, self._capsys = recorded.acl_file, capsys

    def run(self, trace: str, *options: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the result."""
        words = ["pipeline", "findings", trace, "--accept-incomplete", "--acls", self._acl_file]
        code = main([*words, "--history", str(self.history), "--json", *options])
        result: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return code, result


@pytest.fixture
def runs(recorded: Recorded, tmp_path: Path, capsys: Any) -> Runs:
    return Runs(recorded, tmp_path, capsys)


def subjects(result: dict[str, Any], status: str, kind: str) -> set[str]:
    return {
        row["subject"]
        for row in result["rows"]
        if row["status"] == status and kind in ("", row["kind"])
    }


def test_findings_are_new_once_and_fail_once(recorded: Recorded, runs: Runs) -> None:
    code, first = runs.run(recorded.long, "--fail-on", "new")
    assert code == 3
    assert first["new"] == len(first["rows"]) > 0
    code, second = runs.run(recorded.long, "--fail-on", "new")
    assert (code, second["new"], second["resolved"]) == (0, 0, 0)
    assert runs.run(recorded.long, "--fail-on", "any")[0] == 3  # they are still open
    assert subjects(second, "open", "") == subjects(first, "new", "")


def test_what_is_no_longer_found_is_resolved_and_then_forgotten(
    recorded: Recorded, runs: Runs
) -> None:
    _, first = runs.run(recorded.long)
    _, second = runs.run(recorded.short)
    denied = subjects(first, "new", "denied access")
    still = subjects(second, "open", "denied access")
    assert subjects(second, "resolved", "denied access") == denied - still != set()
    assert runs.run(recorded.short)[1]["resolved"] == 0


def test_the_last_use_is_kept_and_an_acl_needed_earlier_is_not_removed(
    recorded: Recorded, runs: Runs, tmp_path: Path
) -> None:
    _, first = runs.run(recorded.long)
    pull_request = tmp_path / "pull-request"
    _, second = runs.run(recorded.short, "--pull-request", str(pull_request))
    needed = {format_acl_rule(acl) for acl in recorded.acls} - subjects(first, "new", "unused ACL")
    needed_earlier = {
        row["subject"]
        for row in second["rows"]
        if row["detail"].endswith("in this observation, but an earlier one needed it")
    }
    assert needed_earlier >= needed & subjects(second, "new", "unused ACL") != set()
    assert all(acl.endswith("|DENY") for acl in needed_earlier - needed)  # stay if ever used
    assert needed_earlier <= first["last_use_by_acl"].keys()
    assert read_findings_history(runs.history).last_use_by_acl.items() >= (
        first["last_use_by_acl"].items()
    )
    remaining = parse_distinct_acls((pull_request / "acls.yaml").read_text())
    assert needed <= {format_acl_rule(acl) for acl in remaining}


def test_a_pull_request_removes_only_what_no_decision_depends_on(
    recorded: Recorded, runs: Runs, tmp_path: Path, capsys: Any
) -> None:
    pull_request = tmp_path / "pull-request"
    _, result = runs.run(recorded.long, "--pull-request", str(pull_request))
    unused = subjects(result, "new", "unused ACL")
    remaining = parse_distinct_acls((pull_request / "acls.yaml").read_text())
    kept = {format_acl_rule(acl) for acl in remaining}
    assert kept == {format_acl_rule(acl) for acl in recorded.acls} - unused
    commands = (pull_request / "kafka-acls.sh").read_text()
    assert commands.count("--remove --force") == len(unused) > 0
    proof = (pull_request / "PROOF.md").read_text()
    assert "no decision differs" in proof
    taking = proof.count("; takes away access")
    assert f"{taking} of the removals take away access that was not observed" in proof
    for acl in unused:
        assert f"`{readable_rule(acl)}`" in proof
    words = ["pipeline", "what-breaks", recorded.long, "--json"]
    assert main([*words, "--acls", str(pull_request / "acls.yaml")]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


MONTH = 30 * 24 * 3600 * 1000
"""The number of requests, a millisecond apart, after which a month is over."""
ACLS_OF_TEAMS = """\
- {principal: User:shop, allow: Read, topic: orders}
- {principal: User:quarterly, allow: Read, topic: invoices}
- {principal: User:left, allow: Read, topic: old}
"""
READ_OLD, READ_INVOICES = (
    f"TOPIC|{topic}|LITERAL|User:{name}|*|READ|ALLOW"
    for name, topic in (("left", "old"), ("quarterly", "invoices"))
)


class Months:
    """Months of one history: a trace, the ACLs and the topics of each.

    With `lake`, all months are ingested into one lake, and each run reads one month of it.
    """

    def __init__(self, folder: Path, capsys: Any, *, lake: bool) -> None:
        self.folder, self._capsys = folder, capsys
        self._lake = folder / "lake" if lake else None
        self.acl_file, self.topic_file = folder / "acls.yaml", folder / "topics"
        self.acl_file.write_text(ACLS_OF_TEAMS)
        self.topic_file.write_text("orders\ninvoices\nold\n")

    def run(self, month: int, *reads: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        """Record the reads of a month; return the exit code and the result."""
        acls = parse_distinct_acls(ACLS_OF_TEAMS)
        trace = self.folder / str(month)
        maker = TraceMaker(trace, StandardAuthorizer(store=AclStore(acls)))
        maker.sequence = month * MONTH
        for principal, topic in reads:
            asked = [(Operation.READ, ResourceType.TOPIC, topic)]
            maker.ask(principal, "h", ApiKey.FETCH, asked, fetch_frame(topic))
        maker.close()
        code = main(
            [
                *("pipeline", "findings", "--accept-incomplete", "--json", "--fail-on", "new"),
                *("--acls", str(self.acl_file), "--topics", str(self.topic_file)),
                *("--pull-request", str(self.folder / f"pull-request-{month}")),
                *self._selected(month, trace),
            ]
        )
        result: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return code, result

    def _selected(self, month: int, trace: Path) -> list[str]:
        if self._lake is None:
            return [str(trace), "--history", str(self.folder / "history.json")]
        assert main(["pipeline", "ingest", str(trace), "-o", str(self._lake), "--json"]) == 0
        self._capsys.readouterr()
        begin = datetime.fromtimestamp((START_US + month * MONTH * 1000) // 1_000_000, UTC)
        return [str(self._lake), "--since", begin.strftime("%Y-%m-%dT%H:%M:%S")]

    def remaining(self, month: int) -> set[str]:
        """Return the principals whose ACLs the pull request of a month keeps."""
        text = (self.folder / f"pull-request-{month}" / "acls.yaml").read_text()
        return {acl.principal for acl in parse_distinct_acls(text)}


SHOP, QUARTERLY = ("User:shop", "orders"), ("User:quarterly", "invoices")


def january_and_february(months: Months) -> tuple[Any, Any]:
    """Return the findings of two months, in the second of which the quarterly job does not run."""
    code, january = months.run(0, SHOP, QUARTERLY)
    assert (code, subjects(january, "new", "")) == (3, {READ_OLD})
    assert months.remaining(0) == {"User:shop", "User:quarterly"}

    months.topic_file.write_text("orders\ninvoices\n")  # `old` was deleted
    code, february = months.run(1, SHOP, ("User:carol", "payments"))
    assert (code, february["new"], february["resolved"]) == (3, 3, 0)
    assert subjects(february, "new", "denied access") == {"User:carol READ TOPIC:payments"}
    assert subjects(february, "new", "unused ACL") == {READ_INVOICES}
    assert subjects(february, "new", "ACL without a topic") == {READ_OLD}
    assert subjects(february, "open", "unused ACL") == {READ_OLD}
    (quarterly_row,) = (row for row in february["rows"] if row["subject"] == READ_INVOICES)
    assert quarterly_row["last_seen"] == january["last_use_by_acl"][READ_INVOICES]
    assert months.remaining(1) == {"User:shop", "User:quarterly"}  # January needed it
    return january, february


@pytest.mark.usefixtures("spark")  # `ingest` runs on Spark
def test_a_growing_lake_has_the_findings_of_its_trace(tmp_path: Path, capsys: Any) -> None:
    january_and_february(Months(tmp_path, capsys, lake=True))


@pytest.mark.parametrize("lake", [False, pytest.param(True, marks=pytest.mark.heavy)])
def test_three_months_with_a_quarterly_job_a_deleted_topic_and_a_denial(
    lake: bool, request: pytest.FixtureRequest, tmp_path: Path, capsys: Any
) -> None:
    if lake:
        request.getfixturevalue("spark")
    months = Months(tmp_path, capsys, lake=lake)
    january, february = january_and_february(months)
    code, march = months.run(2, SHOP, QUARTERLY)
    assert (code, march["new"]) == (0, 0)
    assert subjects(march, "resolved", "") == {READ_INVOICES, "User:carol READ TOPIC:payments"}
    found_at = {row["found_at"] for row in march["rows"] if row["kind"] == "unused ACL"}
    assert january["last_seen"] in found_at
    assert march["last_use_by_acl"][READ_INVOICES] == march["last_seen"] > february["last_seen"]

    months.acl_file.write_text("".join(ACLS_OF_TEAMS.splitlines(keepends=True)[:2]))
    code, april = months.run(3, SHOP, QUARTERLY)
    assert (code, {row["status"] for row in april["rows"]}) == (0, {"resolved"})
    assert {row["subject"] for row in april["rows"]} == {READ_OLD}
    assert {row["kind"]: row["found_at"] for row in april["rows"]} == {
        "unused ACL": january["last_seen"],
        "ACL without a topic": february["last_seen"],
    }


def test_acls_on_topics_that_do_not_exist_are_found(
    recorded: Recorded, runs: Runs, tmp_path: Path
) -> None:
    on_topics = [
        acl
        for acl in recorded.acls
        if acl.resource_type is ResourceType.TOPIC and acl.resource_name != "*"
    ]
    kept = on_topics[0].resource_name
    (tmp_path / "topics").write_text(f"{kept}\n")
    _, result = runs.run(recorded.long, "--topics", str(tmp_path / "topics"))
    expected = {format_acl_rule(acl) for acl in on_topics if not covers(acl, kept)}
    assert subjects(result, "new", "ACL without a topic") == expected != set()


def covers(acl: Acl, name: str) -> bool:
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return name == acl.resource_name


def test_a_trace_needs_a_file_for_the_history(recorded: Recorded, capsys: Any) -> None:
    words = ["pipeline", "findings", recorded.long, "--engine", "duckdb"]
    assert main([*words, "--acls", recorded.acl_file]) == 1
    assert "name a file with --history" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reason"),
    [("\n", "contains no names"), ("a\nError: timed out\n", "line 2: `Error: timed out` is not")],
)
def test_a_file_without_names_of_topics_is_an_error(
    text: str, reason: str, recorded: Recorded, tmp_path: Path, capsys: Any
) -> None:
    topics, history = tmp_path / "topics", tmp_path / "history.json"
    topics.write_text(text)
    words = ["pipeline", "findings", recorded.long, "--engine", "duckdb", "--topics", str(topics)]
    assert main([*words, "--acls", recorded.acl_file, "--history", str(history)]) == 1
    assert reason in capsys.readouterr().err
    assert not history.exists()


@pytest.mark.parametrize("options", [("--principal", "User:a"), ("--apis", "Fetch")])
def test_findings_that_are_not_selected_are_not_resolved(
    options: tuple[str, ...], recorded: Recorded, runs: Runs, capsys: Any
) -> None:
    assert runs.run(recorded.long)[1]["new"]
    before = runs.history.read_bytes()
    words = ["pipeline", "findings", recorded.long, "--engine", "duckdb", *options]
    words += ["--acls", recorded.acl_file, "--history", str(runs.history)]
    assert main(words) == 1
    assert "of other --apis or --principal" in capsys.readouterr().err
    assert runs.history.read_bytes() == before


def test_a_damaged_history_is_reported(recorded: Recorded, tmp_path: Path, capsys: Any) -> None:
    history = tmp_path / "history.json"
    history.write_text("[]")
    words = ["pipeline", "findings", recorded.long, "--engine", "duckdb"]
    assert main([*words, "--acls", recorded.acl_file, "--history", str(history)]) == 1
    assert "not a history of findings" in capsys.readouterr().err
    assert history.read_text() == "[]"
