"""Run another project's tests against the shim or a real Kafka: `python -m tests.suites kgo`.

A fixed version of the suite is downloaded from its package registry into a cache folder. Exit
codes: 0 all passed, 1 some failed, 2 usage error or the suite could not be run.
"""

import argparse
import json
import random
import sys
import time

from tests.suites import outcome
from tests.suites.broker import running
from tests.suites.cache import SuiteError, end_all_on_sigterm, progress
from tests.suites.catalogue import SUITES, Suite
from tests.suites.kafka import figures, known, one_broker
from tests.suites.kafka_tools import running as kafka_tools

RELEASE = "4.3.1"
BOTH = "both"
RECORDED = (("kafka-tools", "real"), ("kafka", BOTH))


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.name is None:
        for name, suite in SUITES.items():
            _say(f"{name:16} {suite.version:10} {suite.about}")
        return 0
    if options.record and (options.name, options.against) not in RECORDED:
        progress("--record: only kafka-tools against a real broker, or kafka against both")
        return 2
    if options.one_broker is not None:
        return _one_broker(options)
    if options.against == BOTH:
        return _figures(options)
    suite = SUITES[options.name]
    progress(f"{options.name} {suite.version} against {options.against} {options.release}")
    began = time.monotonic()
    try:
        if options.record:
            with running(options.against, options.release, kafka_tools.NEEDS) as broker:
                count = kafka_tools.record(broker, options.only)
            progress(f"{count} commands recorded")
            return 0
        results = suite.play(options.against, options.release, options.only)
    except SuiteError as error:
        progress(f"{options.name}: {error}")
        return 2
    if not results:
        progress(f"{options.name}: no test was run")
        return 2
    found = outcome.counts(results)
    if options.json:
        _say(json.dumps(_document(options, suite, results, time.monotonic() - began), indent=2))
    else:
        _print(results, verbose=options.verbose)
        _say(f"{found['passed']} passed, {found['failed']} failed, {found['skipped']} skipped")
    return 1 if found[outcome.FAILED] else 0


def _figures(options: argparse.Namespace) -> int:
    """Run Kafka's own tests on both sides; print figures and the tests that fail on the shim."""
    if options.name != "kafka":
        progress("--against both: only kafka")
        return 2
    rows = []
    try:
        for row in figures.measure(options.release, options.only):
            rows.append(row)
            for name in figures.failed([row]):
                _say(f"FAILED {name} ({known.reason(name) or figures.OPEN})")
            if options.record:
                figures.keep([row])
    except SuiteError as error:
        progress(f"kafka: {error}")
        return 2
    _say(figures.table(rows))
    return 1 if known.unexplained(figures.failed(rows)) else 0


def _one_broker(options: argparse.Namespace) -> int:
    """Run Kafka's own tests on shared shims; print tests that have another result on their own."""
    if (options.name, options.against) != ("kafka", "shim"):
        progress("--one-broker: only kafka against the shim")
        return 2
    progress(f"kafka in an order of seed {options.one_broker}")
    try:
        found = one_broker.shuffle(options.release, options.only, options.one_broker)
    except SuiteError as error:
        progress(f"kafka: {error}")
        return 2
    _print(found.differing, verbose=True)
    _say(
        f"seed {options.one_broker}: {found.passed} of {found.tests} tests passed,"
        f" {found.clusters} clusters of {found.shims} shims;"
        f" {len(found.differing)} differ from the same tests with a shim each"
    )
    return 1 if found.differing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.suites", description=__doc__)
    parser.add_argument("name", nargs="?", choices=SUITES, help="default: list the suites")
    parser.add_argument("--against", choices=("shim", "real", BOTH), default="shim")
    parser.add_argument(
        "--release", default=RELEASE, help="the release of Kafka (default: %(default)s)"
    )
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="only matching tests, by the suite's names"
    )
    parser.add_argument("--verbose", action="store_true", help="list the tests that passed too")
    parser.add_argument(
        "--record",
        action="store_true",
        help="kafka-tools against a real broker: store the output as the expected output;"
        " kafka against both: store the figures",
    )
    parser.add_argument(
        "--one-broker",
        type=int,
        nargs="?",
        const=random.randrange(1_000_000),
        metavar="SEED",
        help="kafka against the shim: tests with equal settings share a shim, reset between"
        " them, in a random order",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def _document(
    options: argparse.Namespace, suite: Suite, results: list[outcome.Result], seconds: float
) -> dict[str, object]:
    return {
        "suite": options.name,
        "version": suite.version,
        "against": options.against,
        "release": options.release,
        "seconds": round(seconds, 1),
        **outcome.counts(results),
        "tests": [result._asdict() for result in results],
    }


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _print(results: list[outcome.Result], *, verbose: bool) -> None:
    for result in results:
        if result.state == outcome.PASSED and not verbose:
            continue
        _say(f"{result.state.upper()} {result.name} ({result.seconds:.1f} s)")
        for line in result.reason.splitlines():
            _say(f"    {line[:300]}")


if __name__ == "__main__":
    end_all_on_sigterm()
    sys.exit(main(sys.argv[1:]))
