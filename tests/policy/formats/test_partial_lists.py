"""Lists of `kafka-acls --list --principal`, as the tools of 3.9.1 and 4.3.1 print them."""

from pathlib import Path

import pytest

from kafka_shim.cli import main

PRINTED_BY_3_9 = """\
ACLs for principal `User:t`
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=a, patternType=LITERAL)`:\x20
 \t(principal=User:t, host=10.0.0.1, operation=READ, permissionType=ALLOW)\x20

ACLs for principal `User:*`
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=*, patternType=LITERAL)`:\x20
 \t(principal=User:*, host=*, operation=ALL, permissionType=DENY)\x20

"""
PRINTED_BY_4_3 = """\
ACLs for principal `User:t`
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:
\t(principal=User:t, host=10.0.0.1, operation=READ, permissionType=ALLOW)

"""
WITHOUT_ACLS = "ACLs for principal `User:none`\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            PRINTED_BY_3_9,
            "was printed for User:t, User:* alone, and lacks ACLs of other principals",
        ),
        (PRINTED_BY_4_3, "was printed for User:t alone, and lacks ACLs of other principals"),
        (PRINTED_BY_4_3.partition("\n")[2], ""),
        (WITHOUT_ACLS, "there are no ACLs in it"),
        ("", "there are no ACLs in it"),
    ],
)
def test_lists_of_some_principals_are_noted(
    tmp_path: Path, text: str, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "acls.txt"
    path.write_text(text)
    assert main(["acls", "--acls", str(path), "--format", "list"]) == 0
    printed = capsys.readouterr()
    assert (note in printed.err) if note else printed.err == ""
    assert printed.out.count("permissionType") == text.count("permissionType")


def test_policies_note_lists_of_some_principals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "acls.txt"
    path.write_text(PRINTED_BY_4_3)
    assert main(["policy", "lint", str(path)]) == 0
    assert f"note: {path}: the list was printed for User:t alone" in capsys.readouterr().err
