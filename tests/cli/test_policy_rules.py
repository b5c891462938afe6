"""Expectations with variables, and exceptions that expire."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from kafka_shim.cli import main

ACLS = """\
- {principal: User:eu-app, allow: Write, topic: eu-, pattern: prefixed}
- {principal: User:us-app, allow: Write, topic: us-, pattern: prefixed}
- {principal: User:eve, allow: Write, topic: us-orders}
"""
PER_TEAM = """\
- for: {team: TEAMS}
  nobody-but: ["User:{team}-app"]
  may: Write
  topic: "{team}-*"
"""
EVE = "- {principal: User:eve, may-not: Write, topic: us-orders}\n"

Check = Callable[..., int]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    (tmp_path / "acls.yaml").write_text(ACLS)
    (tmp_path / "teams.txt").write_text("# the teams\neu\n\nus\n")

    def run(expectations: str, *words: str) -> int:
        (tmp_path / "policy.yaml").write_text(expectations)
        acls = str(tmp_path / "acls.yaml")
        return main(["policy", "test", str(tmp_path / "policy.yaml"), "--acls", acls, *words])

    return run


@pytest.mark.parametrize("teams", ["[eu, us]", "teams.txt"])
def test_an_entry_stands_for_an_expectation_per_team(
    teams: str, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(PER_TEAM.replace("TEAMS", teams)) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "ok   " in lines[0]
    assert lines[0].endswith(":1: nobody but User:eu-app may Write on topic eu-*")
    assert any(line.startswith("FAIL ") and "us-*" in line for line in lines)
    assert lines[-1] == "1 of 2 expectations hold in Kafka 4.4"


def test_several_variables_are_combined(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    entry = PER_TEAM.replace("TEAMS", "[eu, us], kind: [a, b]").replace("-*", "-{kind}*")
    assert check(entry) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("4 of 4 expectations hold")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PER_TEAM.replace("TEAMS", "none.txt"), "cannot read `none.txt`"),
        (PER_TEAM.replace("TEAMS", "[]"), "for: team"),
        (PER_TEAM.replace("{team: TEAMS}", "[a]"), "`for` needs variables"),
        (PER_TEAM.replace("TEAMS", "[eu], kind: [a]"), "the variable `kind` is not used"),
        (EVE.replace("}", ", exception: soon}"), "needs owner, reason and until"),
        (EVE.replace("}", ", exception: {owner: a, reason: b, until: soon}}"), "expected a day"),
        (EVE.replace("}", ", exception: {owner: a, until: 2027-01-31}}"), "an owner and a reason"),
    ],
)
def test_invalid_entries_are_errors(
    text: str, said: str, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(text) == 2
    error = capsys.readouterr().err
    assert "policy.yaml:1: expectation 1: " in error
    assert said in error


@pytest.mark.parametrize(
    ("days", "code", "start"), [(0, 0, "EXCEPTED "), (1, 0, "EXCEPTED "), (-1, 3, "FAIL ")]
)
def test_an_exception_holds_until_its_day_has_passed(
    days: int, code: int, start: str, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    today = date.today()  # noqa: DTZ011 - the day where the user is
    until = (today + timedelta(days=days)).isoformat()
    exception = f", exception: {{owner: shop, reason: moves soon, until: {until}}}}}"
    assert check(EVE.replace("}", exception)) == code
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(start)
    assert (f"until {until}, shop: moves soon" in first) or code
    assert check(EVE.replace("}", exception), "--json") == code
    [verdict] = json.loads(capsys.readouterr().out)
    assert verdict["held"] is False
    assert verdict["failed"] is (code == 3)


def test_an_expired_exception_fails_also_if_it_is_not_needed(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    exception = ", exception: {owner: shop, reason: moves soon, until: 2020-01-31}}"
    assert check(EVE.replace("us-orders", "eu-orders").replace("}", exception)) == 3
    assert "the exception expired: until 2020-01-31, shop: moves soon" in capsys.readouterr().out


def test_shared_rules_are_included_from_another_folder(
    check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shared").mkdir()
    shared = "acls: [missing]\ninclude: more.yaml\nexpect:\n- {no-acl: {deny: }}\n"
    (tmp_path / "shared" / "rules.yaml").write_text(shared)
    (tmp_path / "shared" / "more.yaml").write_text("- {no-acl: {allow: Write, topic: us-orders}}\n")
    assert check("include: [shared/rules.yaml]\n") == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"FAIL {tmp_path}/shared/more.yaml:1: no ACL with allow: Write")
    assert f"ok   {tmp_path}/shared/rules.yaml:4: no ACL with deny: any" in lines
    assert lines[-1].startswith("1 of 2 expectations hold")


@pytest.mark.parametrize(
    ("included", "said"),
    [
        (
            "include: ../policy.yaml\n",
            "shared.yaml:1: include: `../policy.yaml` includes this file",
        ),
        ("- {principal: User:a}\n", "shared.yaml:1: expectation 1: expected one of"),
        (None, "shared.yaml"),
    ],
)
def test_errors_of_included_files_have_their_place(
    included: str | None,
    said: str,
    check: Check,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "rules").mkdir()
    if included is not None:
        (tmp_path / "rules" / "shared.yaml").write_text(included)
    assert check("include: rules/shared.yaml\n") == 2
    assert f"rules/{said}" in capsys.readouterr().err


def test_forbidden_acls_may_exist_for_some_principals(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "- {no-acl: {allow: Write, topic: us-orders, but: [User:eve]}}\n"
    assert check(rule) == 0
    assert check(rule.replace("eve", "bob")) == 3
    assert (
        "there is {principal: User:eve, allow: Write, topic: us-orders}" in capsys.readouterr().out
    )


def test_coverage_names_acls_without_expectation_and_expectations_without_acl(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = (
        "- {principal: User:eu-app, may: Write, topic: eu-orders}\n"
        "- {principal: User:bob, may-not: Write, topic: us-orders}\n"
    )
    assert check(rules, "--coverage", "--quiet") == 0
    assert capsys.readouterr().out.splitlines()[1:-1] == [
        "coverage: an expectation is about 1 of 3 ACLs",
        "    no expectation: {principal: User:us-app, allow: Write, topic: us-, pattern: prefixed}",
        "    no expectation: {principal: User:eve, allow: Write, topic: us-orders}",
        "coverage: an ACL applies to 1 of 2 expectations",
    ]
    with pytest.raises(SystemExit) as caught:
        check(rules, "--coverage", "--json")
    assert caught.value.code == 2


def test_an_acl_that_another_one_overrules_is_covered_too(
    check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "- {only: User:us-app, may: Write, topic: us-orders, exception: EXCEPTION}\n"
    rule = rule.replace("EXCEPTION", "{owner: a, reason: b, until: 2099-12-31}")
    assert check(rule, "--coverage") == 0
    assert "an expectation is about 2 of 3 ACLs" in capsys.readouterr().out
