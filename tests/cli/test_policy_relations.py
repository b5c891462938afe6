"""`policy equivalent`, `implies` and `disjoint`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.relations import Relation
from tests.cli.conftest import Running
from tests.policy.naive import NEWEST
from tests.policy.plain_decisions import PlainPolicy, contradictions

WIDE = "- {principal: User:a, allow: All, topic: a, pattern: prefixed}\n"
NARROW = "- {principal: User:a, allow: [Read, Describe], topic: ab}\n"
REDUNDANT = "- {principal: User:a, allow: Write, topic: abc}\n"
OTHER = "- {principal: User:b, allow: Read, topic: ab}\n"
STARRED = "- {principal: User:a, allow: All, topic: '*x', pattern: prefixed}\n"

Compare = Callable[..., int]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    def run(relation: str, first: str, second: str, *words: str) -> int:
        for name, text in (("a.yaml", first), ("b.yaml", second)):
            (tmp_path / name).write_text(text)
        files = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
        return main(["policy", relation, *files, *words])

    return run


@pytest.mark.parametrize(
    ("relation", "first", "second", "holds"),
    [
        ("equivalent", WIDE, WIDE + REDUNDANT, True),
        ("equivalent", WIDE, NARROW, False),
        ("implies", NARROW, WIDE, True),
        ("implies", WIDE, NARROW, False),
        ("disjoint", OTHER, WIDE, True),
        ("disjoint", NARROW, WIDE, False),
        ("equivalent", WIDE, WIDE + STARRED, True),  # no topic begins with an asterisk
        ("equivalent", WIDE, WIDE + STARRED.replace("topic", "group"), False),
    ],
)
def test_relations_agree_with_plain_decisions(
    relation: str, first: str, second: str, holds: bool, compare: Compare
) -> None:
    assert compare(relation, first, second) == (0 if holds else 3)
    sides = [
        PlainPolicy(tuple(parse_distinct_acls(text, "yaml")), NEWEST) for text in (first, second)
    ]
    found, decided = contradictions(Relation(relation), sides)
    assert decided > 0
    assert bool(found) is not holds


def test_the_smallest_counterexample_is_printed(
    compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare("implies", WIDE, NARROW) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "  User:a from 192.0.2.1: Read on topic `a`",
        "  A: allowed ({principal: User:a, allow: All, topic: a, pattern: prefixed})",
        "  B: denied (no ACL allows it)",
    ]
    assert compare("equivalent", WIDE, WIDE + STARRED, "--json") == 0
    assert json.loads(capsys.readouterr().out)["impossible_differences"] == 1


def test_releases_and_settings_may_differ(compare: Compare) -> None:
    everything = "- {principal: User:a, allow: All, group: '*'}\n"
    assert compare("equivalent", everything, everything, "--a-version", "3.9") == 0
    # ZooKeeper brokers also look up `*` for groups that begin with an asterisk
    assert compare("equivalent", everything, everything, "--a-version", "2.8") == 3
    assert compare("equivalent", WIDE, WIDE, "--b-set", "super.users=User:x") == 3
    assert compare("implies", WIDE, WIDE, "--b-set", "super.users=User:x") == 0
    setting = "allow.everyone.if.no.acl.found=true"
    assert compare("implies", WIDE, WIDE, "--b-set", setting) == 0
    assert compare("implies", WIDE, WIDE, "--a-set", setting) == 3


def test_a_live_cluster_decides_as_the_files(
    compare: Compare, broker: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--bootstrap-server", broker.plaintext]
    (tmp_path / "wide.yaml").write_text(WIDE)
    assert main(["acls", *at, "--add", "--acls", str(tmp_path / "wide.yaml")]) == 0
    file = tmp_path / "a.yaml"
    file.write_text(WIDE + REDUNDANT)
    words = ["policy", "equivalent", str(file), "--b", broker.plaintext]
    assert main(words) == 0
    assert "assumed" not in capsys.readouterr().out
    settings = ["--b-set", "allow.everyone.if.no.acl.found=true", "--b-set", "super.users=User:x"]
    assert main([*words, *settings]) == 3  # what a real broker decides if it is set so
    assert "assumed" not in capsys.readouterr().out.partition("B: ")[2]
    add = ["--add", "--allow-principal", "User:eve", "--operation", "All", "--topic", "t"]
    assert main(["acls", *at, *add]) == 0
    capsys.readouterr()
    assert main(words) == 3
    assert "User:eve from" in capsys.readouterr().out


def test_two_sets_are_needed(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["policy", "equivalent", str(tmp_path)])
    assert stopped.value.code == 2
