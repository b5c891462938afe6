from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.java_properties import parse_properties, read_properties_file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a:b=c", {"a": "b=c"}),
        ("a b c", {"a": "b c"}),
        ("  a\t=\tb", {"a": "b"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("# a=b\n ! c=d\n\n  \ne=f", {"e": "f"}),
        ("a=b\na=c", {"a": "c"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\\n# not a comment", {"a": "b# not a comment"}),
        ("a\\=b\\:c\\ d = e", {"a=b:c d": "e"}),
        ("a=\\u00e9\\t\\n\\q", {"a": "é\t\nq"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        ("a=b\\", {"a": "b"}),
    ],
)
def test_properties_are_parsed_as_in_java(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


KEYS = st.text(st.characters(categories=["L", "N"]), min_size=1)


@given(st.dictionaries(KEYS, st.text(st.characters(exclude_categories=["C", "Z"]))))
def test_escaped_values_are_read_back(pairs: dict[str, str]) -> None:
    lines = [f"{key}={value.replace(chr(92), chr(92) * 2)}" for key, value in pairs.items()]
    assert parse_properties("\n".join(lines)) == pairs


def test_escaped_surrogate_pairs_are_one_character() -> None:
    assert parse_properties("a=\\ud83d\\ude00") == {"a": "\U0001f600"}


@pytest.mark.parametrize("line", ["a=\\ud800", "\\udc00=a", "a=\\ude00\\ud83d"])
def test_half_characters_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2: .* half a character"):
        parse_properties(f"b=1\n{line}")


@given(st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    parse_properties(text.replace("\\u", "u"))


def test_half_escapes_are_refused_as_in_java() -> None:
    assert parse_properties(r"a=C:\\users") == {"a": r"C:\users"}
    with pytest.raises(ValueError, match=r"line 2: `.u` without four digits"):
        parse_properties("b=1\na=C:\\users")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--config .*none: No such file"):
        read_properties_file(str(tmp_path / "none"), "--config")
    (tmp_path / "binary").write_bytes("a=b".encode("utf-16"))
    with pytest.raises(ConfigError, match="not a text file"):
        read_properties_file(str(tmp_path / "binary"), "--config")


@pytest.mark.parametrize(
    ("content", "value", "is_noted"),
    [
        (b"super.users=User:\xc3\xa9", "User:\xc3\xa9", True),
        (b"super.users=User:\xe9", "User:\xe9", False),
        (b"super.users=User:\\u00e9", "User:\xe9", False),
        (b"# \xc3\xa9\nsuper.users=User:e", "User:e", False),
    ],
)
def test_files_are_in_iso_8859_1(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    value: str,
    is_noted: bool,
) -> None:
    """As `StandardAuthorizer` of real 4.4.0 and 3.9.1 has the super users of these files."""
    (tmp_path / "a.properties").write_bytes(content)
    assert read_properties_file(str(tmp_path / "a.properties"), "--config") == {
        "super.users": value
    }
    assert ("reads the value of super.users in ISO-8859-1" in capsys.readouterr().err) == is_noted
