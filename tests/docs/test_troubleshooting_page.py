"""docs/guides/troubleshooting.md: clients and the program really print each line on it."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.toolchains import java_program
from tests.docs.error_texts.brokers import Brokers, brokers
from tests.docs.error_texts.kafka_python import printed_by_kafka_python
from tests.docs.error_texts.librdkafka import printed_by_librdkafka
from tests.docs.error_texts.program import printed_by_kafka_shim
from tests.docs.shown import blocks

PAGE = "docs/guides/troubleshooting.md"
PRINTERS = ("Java", "librdkafka", "kafka-python", "kafka-shim")
LINES = [
    tuple(re.split(r" {2,}", line, maxsplit=1))
    for block in blocks()
    if block.page == PAGE
    for line in block.text.splitlines()
]
"""Who prints a line, and the line."""

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def test_each_line_names_who_prints_it() -> None:
    assert {printer for printer, _ in LINES} == set(PRINTERS)
    assert len(LINES) > 30


def require_printed(printer: str, printed: list[str]) -> None:
    """Fail if a line of the page is not part of one that was printed."""
    texts = [without_ports(line) for line in printed]
    missing = [
        line
        for shown_printer, line in LINES
        if shown_printer == printer and not any(without_ports(line) in text for text in texts)
    ]
    assert missing == [], "\n".join(sorted(set(printed)))


def without_ports(text: str) -> str:
    return re.sub(r"(127\.0\.0\.1):\d+", r"\1:PORT", text)


@pytest.fixture(scope="module")
def failing_brokers() -> Iterator[Brokers]:
    with brokers() as started:
        yield started


def test_librdkafka_prints_its_lines(failing_brokers: Brokers) -> None:
    require_printed("librdkafka", printed_by_librdkafka(failing_brokers))


def test_kafka_python_prints_its_lines(failing_brokers: Brokers) -> None:
    require_printed("kafka-python", printed_by_kafka_python(failing_brokers))


def test_kafka_shim_prints_its_lines(tmp_path: Path) -> None:
    require_printed("kafka-shim", printed_by_kafka_shim(tmp_path))


def test_java_prints_its_lines(failing_brokers: Brokers) -> None:
    program = java_program(Path(__file__).parent / "error_texts", "ErrorTexts")
    newest = failing_brokers.newest
    addresses = [
        newest.listeners["PLAINTEXT"],
        newest.listeners["SASL_PLAINTEXT"],
        failing_brokers.with_tls.listeners["SSL"],
        failing_brokers.oldest.bootstrap_servers,
        failing_brokers.without_authorizer.bootstrap_servers,
    ]
    done = subprocess.run(
        [*program, *addresses], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    require_printed("Java", done.stdout.splitlines())
