"""Run the vectors of releases on real brokers of these releases, each file on a broker of its own.

    python -m tests.recordings.vectors_on_real_brokers RELEASE... [--subject NAME] [--jobs N]

`--authorizer CLASS --classpath JARS` tests a plug-in instead of Kafka's own authorizer. The JSON of
each release is kept in `.cache/vectors`, for `tests.recordings.vector_scoreboard`.
Exits with 3 if a vector is not equal. Needs Java 17 and Maven.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.conformance.vectors.report import VectorReport, as_json, as_text
from kafka_shim.conformance.vectors.runner import (
    BrokerAddresses,
    VectorOutcome,
    VectorResult,
    VectorRunner,
)
from kafka_shim.conformance.vectors.vector_files import VectorFile, read_vector_file
from tests.docs.shown import ROOT
from tests.oracle.real_kafka import RealKafka
from tests.recordings.peers.connecting import connected

FOLDER: Final = ROOT / "vectors"
REPORTS: Final = ROOT / ".cache" / "vectors"
SETTLE_S: Final = 0.3
"""Kafka applies a change within this time after it has responded."""


class PlugIn(NamedTuple):
    """The class of an authorizer, its jars, and settings of the broker."""

    authorizer: str = ""
    classpath: str = ""
    config: Sequence[str] = ()

    def settings(self) -> dict[str, str]:
        pairs = dict(pair.split("=", 1) for pair in self.config)
        return ({"authorizer.class.name": self.authorizer} if self.authorizer else {}) | pairs


KAFKAS_OWN: Final = PlugIn()


def results_on_real_broker(path: Path, plug_in: PlugIn = KAFKAS_OWN) -> Sequence[VectorResult]:
    """Run a file on a new broker of its release with its settings; return all results."""
    vectors = read_vector_file(path)
    start = time.monotonic()
    results: list[VectorResult] = []
    mode = _authorizer_mode(vectors.broker.settings)
    settings = {"super.users": ";".join(vectors.broker.super_users)} | plug_in.settings()
    with RealKafka(
        vectors.release, mode, settings if mode != "none" else {}, classpath=plug_in.classpath
    ) as kafka:
        with connected(vectors.release, kafka.plain, kafka.sasl):
            runner = VectorRunner(BrokerAddresses(kafka.plain, kafka.sasl), settle_s=SETTLE_S)
        try:
            runner.run_file(vectors, results.append)
        finally:
            runner.close()
    _print_progress(vectors, results, time.monotonic() - start)
    return results


def _authorizer_mode(settings: Mapping[str, str]) -> str:
    """Return the mode of RealKafka that has the settings of a file."""
    if settings.get("authorizer.class.name") == "":
        return "none"
    return "open" if settings.get("allow.everyone.if.no.acl.found") == "true" else "authorizer"


def _print_progress(vectors: VectorFile, results: Sequence[VectorResult], seconds: float) -> None:
    equal = sum(each.outcome is VectorOutcome.EQUAL for each in results)
    name = f"{vectors.release}/{vectors.subject}"
    sys.stderr.write(f"{name}: {equal} of {len(results)} equal, {seconds:.0f} s\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="+", help="a full release number, such as 4.4.0")
    parser.add_argument("--subject", default="*", help="only this file, such as rules")
    parser.add_argument("--jobs", type=int, default=1, help="brokers at the same time")
    parser.add_argument("--authorizer", default="", help="a class of a plug-in")
    parser.add_argument("--classpath", default="", help="the jars of the plug-in")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    plug_in = PlugIn(args.authorizer, args.classpath, args.config)
    REPORTS.mkdir(parents=True, exist_ok=True)
    paths = {
        release: sorted((FOLDER / release).glob(f"{args.subject}.json")) for release in args.release
    }
    all_paths = list(chain.from_iterable(paths.values()))
    with ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(partial(results_on_real_broker, plug_in=plug_in), all_paths)
        results = dict(zip(all_paths, found, strict=True))
    is_equal = True
    for release, own_paths in paths.items():
        rows = tuple(chain.from_iterable(results[path] for path in own_paths))
        report = VectorReport(
            " with ".join(filter(None, [f"Apache Kafka {release}", args.authorizer])), rows
        )
        if plug_in == KAFKAS_OWN:
            path = REPORTS / f"kafka-{release}.json"
            path.write_text(as_json(report), encoding="utf-8")
        sys.stdout.write(as_text(report))
        is_equal &= report.counts[VectorOutcome.EQUAL] == len(rows) > 0
    return 0 if is_equal else EXIT_MISMATCH


if __name__ == "__main__":
    sys.exit(main())
