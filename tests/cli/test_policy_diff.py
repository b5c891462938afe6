import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.config import Config
from tests.cli.conftest import PLAINTEXT, Running

OLD = """
- {principal: User:alice, allow: Read, topic: orders}
- {principal: User:bob, allow: Write, topic: team-, pattern: prefixed}
"""
NEW = """
- {principal: User:alice, allow: Write, topic: orders, host: 10.0.0.1}
- {principal: User:bob, allow: Write, topic: team-, pattern: prefixed}
- {principal: User:bob, deny: Write, topic: team-secret-, pattern: prefixed}
- {principal: 'User:*', allow: Describe, group: '*'}
"""
CHANGES = """\
+ everyone (User:*): Describe on every group (but not names that begin with an asterisk)
+ everyone (User:*): Describe on group `*`
- User:alice: Read on topic `orders` from 10.0.0.1
+ User:alice: Write on topic `orders` from 10.0.0.1
- User:alice: Read, Describe on topic `orders` from everywhere but 10.0.0.1
- User:bob: Write on topics `team-secret-*`
"""
EXAMPLE = """\
    e.g. User:bob from 192.0.2.1: Write on topic `team-secret-x` (before: {principal: User:bob, \
allow: Write, topic: team-, pattern: prefixed}; after: {principal: User:bob, deny: Write, \
topic: team-secret-, pattern: prefixed})
"""

ADMIN = "- {principal: User:ANONYMOUS, allow: Describe, cluster: }"

Diff = Callable[..., int]


@pytest.fixture
def diff(tmp_path: Path) -> Diff:
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)

    def run(*words: str, old: str = "old.yaml", new: str = "new.yaml") -> int:
        return main(["policy", "diff", str(tmp_path / old), str(tmp_path / new), *words])

    return run


def test_changes_are_printed_in_words(diff: Diff, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff() == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[::2]) == sorted(CHANGES.splitlines())
    assert all(line.startswith("    e.g. ") for line in lines[1::2])
    assert EXAMPLE.rstrip("\n") in lines


def test_equal_acls_have_no_difference(diff: Diff, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff("--fail-on", "any", new="old.yaml") == 0
    assert capsys.readouterr().out == "no difference: both sets decide every access alike\n"


@pytest.mark.parametrize(("which", "code"), [("gain", 3), ("loss", 3), ("any", 3)])
def test_changes_selected_by_fail_on_fail(diff: Diff, which: str, code: int) -> None:
    assert diff("--fail-on", which) == code


def test_other_changes_do_not_fail(tmp_path: Path, diff: Diff) -> None:
    (tmp_path / "more.yaml").write_text(OLD + NEW.splitlines()[1])
    assert diff("--fail-on", "loss", new="more.yaml") == 0
    assert diff("--fail-on", "gain", new="more.yaml") == 3


def test_json_output(diff: Diff, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff("--json") == 0
    response = json.loads(capsys.readouterr().out)
    [change] = [each for each in response["changes"] if each["principal"] == "User:bob"]
    assert change["witness"]["resource_name"] == "team-secret-x"
    assert (change["witness"]["before"]["allowed"], change["witness"]["after"]["allowed"]) == (
        True,
        False,
    )
    assert change == change | {
        "change": "loss",
        "principal": "User:bob",
        "except_principals": [],
        "resource_type": "TOPIC",
        "names": {"prefix": "team-secret-"},
        "except_names": [],
        "operations": ["WRITE"],
        "hosts": ["*"],
        "except_hosts": [],
        "follows_from_others": False,
        "text": "- User:bob: Write on topics `team-secret-*`",
    }


def test_all_files_of_a_folder_are_read(
    tmp_path: Path, diff: Diff, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acls" / "team").mkdir(parents=True)
    first, second = OLD.strip().splitlines()
    (tmp_path / "acls" / "alice.yaml").write_text(first)
    (tmp_path / "acls" / "team" / "bob.yaml").write_text(second)
    assert diff("--fail-on", "any", new="acls") == 0
    (tmp_path / "acls" / "team" / "bob.yaml").write_text("hello")
    assert diff("--fail-on", "any", new="acls") == 2
    assert "bob.yaml:1: not in a known format of ACLs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", "", "the file is empty; `acls: []` says that there are no ACLs"),
        ("\0", "", "not YAML"),
        ("- [", ":2", "not YAML"),
        (
            "- {principal: User:a, allow:\n   Fly, topic: t}",
            ":2",
            "acl 1: unknown operation `Fly`",
        ),
        (
            "# a\n- {principal: a, allow: Read, topic: t}",
            ":2",
            f"Kafka {RELEASES[-1]} refuses {{principal: a, allow: Read, topic: t}}",
        ),
        ("- {principal: User:a, allow: Read, cluster: c}", ":1", "invalid cluster name `c`"),
    ],
)
def test_unreadable_acls_are_an_error(
    tmp_path: Path, diff: Diff, text: str, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.yaml").write_text(text)
    assert diff("--fail-on", "any") == 2
    [complaint] = capsys.readouterr().err.splitlines()
    assert complaint.startswith(f"kafka-shim policy diff: {tmp_path / 'new.yaml'}{line}: ")
    assert said in complaint


def test_a_missing_file_and_an_empty_folder_are_errors(
    tmp_path: Path, diff: Diff, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(new="none.yaml") == 2
    assert "none.yaml: No such file or directory" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert diff(new="empty") == 2
    assert "no files with ACLs" in capsys.readouterr().err


def test_prefixed_acls_are_an_error_before_2_0(
    diff: Diff, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff("--kafka-version", "1.1") == 2
    assert (
        "Kafka 1.1 refuses {principal: User:bob, allow: Write, topic: team-, pattern: prefixed}"
        in capsys.readouterr().err
    )


def test_a_single_file_needs_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(SystemExit) as stopped:
        main(["policy", "diff", str(tmp_path)])
    assert stopped.value.code == 2
    assert "give two files (OLD and NEW)" in capsys.readouterr().err


def test_drift_of_a_cluster_is_found(
    diff: Diff, broker: Running, tmp_path: Path, nobody: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["policy", "diff", str(tmp_path / "old.yaml"), "--fail-on", "any"]
    at = ["--bootstrap-server", broker.plaintext]
    assert main(["acls", *at, "--add", "--acls", str(tmp_path / "old.yaml")]) == 0
    assert main([*words, *at]) == 0
    add = ["--add", "--allow-principal", "User:eve", "--operation", "All", "--topic", "t"]
    assert main(["acls", *at, *add]) == 0
    capsys.readouterr()
    assert main([*words, *at]) == 3
    assert capsys.readouterr().out.startswith("- User:eve: Read, Write, ")
    assert main([*words, "--bootstrap-server", nobody]) == 1


def test_a_trace_shows_which_access_is_used(
    diff: Diff, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = Running(Config(listeners=(PLAINTEXT,), super_users=("User:ANONYMOUS",)))
    running.record(tmp_path / "trace")
    try:
        for _ in range(2):
            assert main(["acls", "--bootstrap-server", running.plaintext, "--list"]) == 0
    finally:
        running.stop()
    (tmp_path / "old.yaml").write_text(ADMIN)
    capsys.readouterr()
    assert diff("--used-by", str(tmp_path / "trace")) == 0
    described = capsys.readouterr().out.splitlines()[0]  # what was used comes first
    assert described.startswith("- User:ANONYMOUS: Describe on the cluster  (used ")
    assert diff("--used-by", str(tmp_path / "trace"), "--json") == 0
    used = {change["used"] for change in json.loads(capsys.readouterr().out)["changes"]}
    assert 0 in used
    assert len(used) == 2


def test_a_trace_without_decisions_is_an_error(
    diff: Diff, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trace").mkdir()
    assert diff("--used-by", str(tmp_path / "trace")) == 2
    assert "is empty, as the folder of a recording is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            [("allow", "10.0.0.0/24")],
            [("allow", "10.0.0.0/24"), ("allow", "10.0.0.0/16")],
            "+ User:a: Read, Describe on topic `t` from 10.0.0.0/16 but not 10.0.0.0/24",
        ),
        (
            [("allow", "10.0.0.0/24"), ("deny", "10.0.0.7")],
            [("allow", "*")],
            (
                "+ User:a: Read, Describe on topic `t` from everywhere but 10.0.0.0/24\n"
                "+ User:a: Read on topic `t` from 10.0.0.7"
            ),
        ),
        (
            [("allow", "10.0.0.0/24"), ("deny", "10.0.0.7")],
            [("deny", "10.0.0.7")],
            (
                "- User:a: Read, Describe on topic `t` from 10.0.0.0/24 but not 10.0.0.7\n"
                "- User:a: Describe on topic `t` from 10.0.0.7"
            ),
        ),
    ],
)
def test_exceptions_of_networks_are_named(
    tmp_path: Path,
    old: list[tuple[str, str]],
    new: list[tuple[str, str]],
    text: str,
    diff: Diff,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, entries in (("old.yaml", old), ("new.yaml", new)):
        rules = [
            f"- {{principal: User:a, {verb}: Read, topic: t, host: {json.dumps(host)}}}\n"
            for verb, host in entries
        ]
        (tmp_path / name).write_text("".join(rules))
    assert diff() == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[::2]) == sorted(text.splitlines())
    assert diff("--format", "markdown") == 0
    assert "\n".join(lines) in capsys.readouterr().out
    assert diff("--json") == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert [change["text"] for change in changes] == lines[::2]
    assert diff("--format", "html") == 0
    assert html_rows(capsys.readouterr().out) == lines


def test_html_escapes_names_and_has_a_summary(
    tmp_path: Path, diff: Diff, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.yaml").write_text(
        '- {principal: \'User:<b>&"\', allow: Read, group: "a\\u0007<i>"}\n'
    )
    assert diff("--format", "html") == 0
    page = capsys.readouterr().out
    assert '+ User:<b>&": Read, Describe on group `a\\x07<i>`' in html_rows(page)
    assert "<i>1 gains, 2 lose access: 4 changes (Kafka" in page
    assert diff(old="new.yaml") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["no difference: both sets decide every access alike"]


def html_rows(page: str) -> list[str]:
    """Return the changes and examples of a page as the lines of the text."""
    root = ET.fromstring(page.replace("<!doctype html>", "").replace('<meta charset="utf-8">', ""))
    cells = [cell.text or "" for cell in root.iter("td")]
    return [f"    {cell}" if at % 2 else cell for at, cell in enumerate(cells)]


def test_a_setting_that_closes_resources_shows_who_is_locked_out(
    diff: Diff, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "old.yaml")
    setting = "allow.everyone.if.no.acl.found"
    words = ["policy", "diff", file, "--old-set", f"{setting}=true", "--set", f"{setting}=false"]
    assert main([*words, "--fail-on", "loss"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("- everyone else") and "on every topic (but not `orders`" in line
        for line in lines
    )
    assert main(["policy", "diff", file, "--old-set", "authorizer.class.name=none"]) == 0
    assert all(line.startswith(("- ", "  ")) for line in capsys.readouterr().out.splitlines())
    assert main(["policy", "diff", file, "--set", "super.users=User:eve"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("+ User:eve: ") for line in lines[::2])


@pytest.mark.parametrize(
    "setting", ["allow.everyone=true", "super.users=eve", "authorizer.class.name=mine", "x"]
)
def test_invalid_settings_are_usage_errors(diff: Diff, setting: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        diff("--set", setting)
    assert stopped.value.code == 2


def test_markdown_is_cut_below_the_size_of_a_comment(
    tmp_path: Path, diff: Diff, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff("--format", "markdown") == 0
    short = capsys.readouterr().out
    assert "**2 gain, 2 lose access: 6 changes**" in short
    assert "\n```diff\n" in short
    rules = [f"- {{principal: User:u{n}, allow: Read, topic: t{n}}}\n" for n in range(900)]
    (tmp_path / "new.yaml").write_text("".join(rules))
    assert diff("--format", "markdown", "--link", "https://example.com/all") == 0
    long = capsys.readouterr().out
    assert len(long) < 65_536
    shown = sum(line.startswith(("+ ", "- ")) for line in long.splitlines())
    [note] = [line for line in long.splitlines() if "not shown" in line]
    assert note == (
        f"{903 - shown} of 903 changes are not shown: [the complete list](https://example.com/all)"
    )
