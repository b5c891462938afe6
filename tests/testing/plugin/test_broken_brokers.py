"""If a broker breaks, the session continues, and the report says so."""

from pathlib import Path

import pytest

from tests.testing.plugin.test_pytest_plugin import run

pytestmark = pytest.mark.timeout(300, func_only=True)

BROKEN = """
import pytest


def test_stops_its_broker(kafka_broker):
    kafka_broker.stop()
    assert kafka_broker is None


def test_has_a_new_broker(kafka_broker):
    assert kafka_broker.health().status == "ok"


def test_stops_a_broker_of_its_own(kafka_broker_factory):
    broker = kafka_broker_factory()
    broker.stop()
    assert broker is None


def test_whose_report_fails(kafka_broker, monkeypatch):
    def denials(self, **more):
        raise ZeroDivisionError("odd \\ud800 text")

    monkeypatch.setattr(type(kafka_broker), "denial_report", denials)
    assert kafka_broker is None


def test_whose_denial_is_odd(kafka_broker, monkeypatch):
    monkeypatch.setattr(type(kafka_broker), "denial_report", lambda self, **more: 7)
    assert kafka_broker is None


def test_stops_the_broker_of_the_session(kafka_broker_session):
    kafka_broker_session.stop()


def test_does_not_use_the_broker_of_the_session(kafka_broker_session):
    pass


def test_does_use_the_broker_of_the_session(kafka_broker_session):
    kafka_broker_session.health()


@pytest.mark.parametrize(
    "kafka_broker",
    [{"kafka_versoin": "3.9"}, {"properties": "a=b"}, {"log_level": "loud"}, {"brokers": "x"}],
    indirect=True,
)
def test_wrong_settings(kafka_broker):
    pass
"""


@pytest.mark.parametrize(
    "options",
    [(), ("-o", "kafka_broker_in_process=true", "-W", "error"), ("-n", "2", "--dist", "loadfile")],
    ids=["own process", "in process, warnings are errors", "xdist"],
)
def test_the_session_has_the_exit_code_of_its_tests(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = run(tmp_path, BROKEN, *options, ini="asyncio_default_fixture_loop_scope = function")
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "INTERNALERROR" not in said
    assert "5 failed, 3 passed, 4 errors" in said, said
    assert "unknown keyword `kafka_versoin`; did you mean `kafka_version`?" in said
    assert "unknown: BrokerError: the broker was stopped" in said
    assert "unknown: ZeroDivisionError: odd \\ud800 text" in said
    assert "unknown: AttributeError" in said


KILLED = """
import os
import signal


def test_kills_its_broker(kafka_broker):
    os.kill(kafka_broker._transport._process._process.pid, signal.SIGKILL)
    assert kafka_broker is None


def test_has_a_new_broker(kafka_broker):
    assert kafka_broker.health().status == "ok"
"""


def test_a_killed_broker_is_replaced(tmp_path: Path) -> None:
    done = run(tmp_path, KILLED)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "unknown: BrokerError: the broker has ended" in done.stdout


def test_a_broker_that_cannot_stop_is_noted_in_the_report(tmp_path: Path) -> None:
    text = """
def test_it(kafka_broker):
    kafka_broker._transport.stop = lambda: 1 / 0
"""
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kafka-shim: note: a broker did not stop: ZeroDivisionError" in done.stderr
