"""Log lines of exceptions."""

import json

import pytest

from kafka_shim.shim.logs import Log, set_up_logs


def failing(log: Log) -> None:
    try:
        int("nobody")
    except ValueError:
        log.exception("handler failed", api_key=3)


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_is_printed_once(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", form)
    failing(Log("test.logs"))
    printed = capsys.readouterr().err
    assert printed.count("Traceback") == 1
    assert printed.count("ValueError: invalid literal") == 1
    assert "api_key" in printed


def test_a_traceback_in_json_is_part_of_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "json")
    failing(Log("test.logs"))
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["exception"].endswith("with base 10: 'nobody'")
