"""Log lines of exceptions, and lines that nobody reads."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from kafka_shim.text.logs import LINES_MAX, Log, NonBlockingHandler, configure_logging

MANY = 25_000
SERVE = """
import logging, sys
from kafka_shim.text.logs import Log, configure_logging
configure_logging("info", "console")
for number in range(20_000):
    Log("test").info("denied", number=number)
print("done", flush=True)
sys.stdin.read()
"""


def failing(log: Log) -> None:
    try:
        int("nobody")
    except ValueError:
        log.exception("handler failed", api_key=3)


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_is_printed_once(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", form)
    failing(Log("test.logs"))
    printed = capsys.readouterr().err
    assert printed.count("Traceback") == 1
    assert printed.count("ValueError: invalid literal") == 1
    assert "api_key" in printed


def test_a_traceback_in_json_is_part_of_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    failing(Log("test.logs"))
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["exception"].endswith("with base 10: 'nobody'")


@pytest.fixture
def pipe() -> Iterator[tuple[int, logging.Logger]]:
    """A pipe's end to read from, and a logger that writes to the other end."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        with logger_to(stream) as logger:
            yield reading, logger
        os.close(reading)


@contextmanager
def logger_to(stream: TextIO) -> Iterator[logging.Logger]:
    logger, handler = logging.getLogger("test.pipe"), NonBlockingHandler(stream)
    logger.addHandler(handler)
    logger.setLevel("INFO")
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


@pytest.mark.timeout(60, func_only=True)
def test_lines_that_nobody_reads_wait_and_are_counted(pipe: tuple[int, logging.Logger]) -> None:
    reading, logger = pipe
    for number in range(MANY):
        logger.info("line %d", number)
    lines: list[str] = []
    with os.fdopen(os.dup(reading)) as stream:
        while not lines or "dropped" not in lines[-1]:
            lines.append(stream.readline())
    dropped = int(lines.pop().split()[0])
    assert lines == [f"line {number}\n" for number in range(len(lines))]
    assert len(lines) + dropped == MANY
    assert LINES_MAX < len(lines) < LINES_MAX + 10_000


@pytest.mark.timeout(60, func_only=True)
def test_lines_are_written_directly_again_when_somebody_reads(
    pipe: tuple[int, logging.Logger],
) -> None:
    reading, logger = pipe
    logger.info("x" * 200_000)
    logger.info("second")
    with os.fdopen(os.dup(reading)) as stream:
        assert [len(stream.readline()) for _ in range(2)] == [200_001, 7]
        (handler,) = (item for item in logger.handlers if isinstance(item, NonBlockingHandler))
        handler.flush()
        for thread in threading.enumerate():
            if thread.name == "logs":
                thread.join(10)
                assert not thread.is_alive()
        logger.info("third")
        assert stream.readline() == "third\n"


def test_lines_are_lost_if_the_reader_has_gone() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream, logger_to(stream) as logger:
        logger.info("nobody")


@pytest.mark.timeout(60, func_only=True)
def test_a_process_whose_errors_nobody_reads_works_and_ends() -> None:
    words = [sys.executable, "-c", SERVE]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM


@pytest.mark.timeout(60, func_only=True)
def test_the_end_of_a_process_waits_only_a_moment_for_a_reader() -> None:
    words = [sys.executable, "-c", SERVE]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as process:
        assert process.wait(20) == 0


FIRST_LINES = """
import asyncio, sys, threading
from kafka_shim.text.logs import Log, configure_logging, import_structlog_in_thread

logged = threading.Event()

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        assert name != "structlog" or logged.wait(20), "the event loop waits for this import"

async def log_lines() -> None:
    for number in range(3):
        Log("test").info("denied", number=number)
    logged.set()

sys.meta_path.insert(0, Finder)
configure_logging("info", "json")
import_structlog_in_thread()
asyncio.run(log_lines())
Log("test").info("ended", number=3)
"""


def test_the_first_lines_of_an_event_loop_do_not_wait_for_an_import() -> None:
    command = [sys.executable, "-c", FIRST_LINES]
    ended = subprocess.run(command, capture_output=True, check=True, text=True)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [line["number"] for line in lines] == [0, 1, 2, 3]
