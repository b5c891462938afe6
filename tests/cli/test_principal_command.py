"""`kafka-shim principal`: subjects and certificates to principals."""

import base64
from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.shim.tls import subjects

COMMON_NAME = "RULE:^.*CN=([^,]+).*$/$1/"


def run(*words: str) -> int:
    return main(["principal", *words])


def test_the_subject_of_a_certificate_file_is_mapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = next(row for row in subjects.recorded() if row.text == r"CN=CN\=admin")
    path = tmp_path / "client.pem"
    body = base64.encodebytes(row.certificate).decode()
    path.write_text(f"-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n")
    assert run("DEFAULT", str(path)) == 0
    assert capsys.readouterr().out == f"{row.text}  ->  User:{row.text}  (DEFAULT)\n"


def test_a_file_without_a_certificate_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "client.pem"
    assert run("DEFAULT", str(path)) == 2
    path.write_text("nothing")
    assert run("DEFAULT", str(path)) == 2
    error = capsys.readouterr().err
    assert "cannot read" in error
    assert "has no PEM certificate" in error


def test_20000_parentheses_are_an_error_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"RULE:{'(' * 20_000}a{')' * 20_000}/b/", "CN=a") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nested too deeply" in error


def test_control_characters_of_a_name_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(COMMON_NAME, "CN=a\x1b[2J,O=b") == 0
    assert "\x1b" not in capsys.readouterr().out
