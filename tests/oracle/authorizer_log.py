"""Compare authorizer logs: `python -m tests.oracle.authorizer_log 4.4.0 --seeds 0-1`.

A real broker and the shim answer the requests of principals of the rights matrix, one by one, and
the lines of `kafka.authorizer.logger` for each request must be equal: whom, what, the number of
references and the rule. Exit codes: 0 all equal, 3 a difference. Needs Java 17 and Maven.
"""

import argparse
import logging
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Protocol

import pytest

from kafka_shim.shim.observing import audit_log
from tests.oracle import peers, report, rights
from tests.oracle.real_kafka import numbers
from tests.recordings.audit.layouts import KafkaWithLayouts
from tests.recordings.conformance.play import Play
from tests.recordings.conformance.recording import settling
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import Peer

DIFFERENT = 3
LOG = "layout-lines.log"
LINE = re.compile(r"Principal = User:bob is (?!.* on resource = TransactionalId:LITERAL:warm ).*")
"""The lines of the principal, except those about the transaction that warms the shim."""


class SequentialPlay(Play):
    """Plays one request after the other, and keeps the log lines of each."""

    def __init__(self, scenario: Scenario, peer: Peer, lines: "LogLines") -> None:
        super().__init__(scenario, peer)
        self._log = lines
        self.lines: list[Counter[str]] = []

    def _independent_run(self, first: int) -> list[int]:
        return [first]

    def _settled(self, step: Step, request: Any) -> Any:
        self._log.take()
        response = super()._settled(step, request)
        self.lines.append(self._log.take())
        return response


class LogLines(Protocol):
    """The lines since they were last taken."""

    def take(self) -> Counter[str]: ...


class FileLines:
    """The lines of a real broker's log, which it writes before it responds."""

    def __init__(self, path: Path) -> None:
        self._file = path.open()

    def take(self) -> Counter[str]:
        return Counter(LINE.findall(self._file.read()))


class ShimLines:
    """The lines that the shim in this process would write."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._lines: list[str] = []
        patch.setattr(audit_log.log, "_stdlib", logging.getLogger("unwritten"))
        logger = logging.getLogger(audit_log.LOGGER_NAME)
        logger.setLevel(logging.DEBUG)
        line_of = audit_log.decision_line

        def kept(*asked: Any) -> str:
            line = line_of(*asked)
            self._lines.append(line)
            return line

        patch.setattr(audit_log, "decision_line", kept)
        patch.setattr(audit_log, "_remedy_text", lambda _: "")

    def take(self) -> Counter[str]:
        lines, self._lines[:] = Counter(filter(LINE.match, self._lines)), []
        return lines


class RealKafka(KafkaWithLayouts):
    """A real broker with one layout: the line alone."""

    configuration = (
        f'<Configuration><Appenders><File name="lines" fileName="{LOG}">'
        '<PatternLayout pattern="%m%n"/></File></Appenders><Loggers>'
        '<Logger name="kafka.authorizer.logger" level="DEBUG"><AppenderRef ref="lines"/></Logger>'
        '<Root level="OFF"/></Loggers></Configuration>'
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.authorizer_log")
    parser.add_argument("release", help="a full release number, such as 4.4.0")
    parser.add_argument("--seeds", default="0-1", help="FIRST-LAST, as of the rights matrix")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    assert numbers(options.release) >= (3, 3), "earlier releases have another authorizer"
    settings = peers.compared_settings(options.release)
    total: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    with (
        pytest.MonkeyPatch.context() as patch,
        RealKafka(options.release, "authorizer", settings) as kafka,
        settling(kafka) as real,
        peers.in_process(options.release, "authorizer") as shim,
    ):
        assert isinstance(shim, InProcess)
        ours, theirs = ShimLines(patch), FileLines(kafka.folder / LOG)
        for seed in range(int(first), int(last or first) + 1):
            scenario = rights.scenario(options.release, seed)
            wanted, got = _lines(scenario, real, theirs), _lines(scenario, shim, ours)
            for step, expected, found in zip(scenario.steps, wanted, got, strict=True):
                total[step.api] += 1
                if expected == found:
                    equal[step.api] += 1
                else:
                    _print_difference(seed, step, expected, found)
            report.progress(f"seed {seed}: {equal.total()} of {total.total()} equal")
    for api in sorted(total):
        mark = "" if total[api] == equal[api] else "  <- differs"
        report.result(f"{api:32} {equal[api]:5} {total[api]:5}{mark}")
    return 0 if equal == total else DIFFERENT


def _lines(scenario: Scenario, peer: Peer, lines: LogLines) -> list[Counter[str]]:
    playing = SequentialPlay(scenario, peer, lines)
    try:
        playing.run()
    finally:
        playing.clean_up()
    return playing.lines


def _print_difference(seed: int, step: Step, wanted: Counter[str], got: Counter[str]) -> None:
    report.result(f"seed {seed}: {step.api} v{step.version} {str(step.request)[:500]}")
    for line, count in (wanted - got).items():
        report.result(f"  missing {count} {line[:330]}")
    for line, count in (got - wanted).items():
        report.result(f"  extra   {count} {line[:330]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
