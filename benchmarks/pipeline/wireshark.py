"""Compares the package with tshark, on the same requests: results and processor time."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import functions as f

from benchmarks.pipeline.data import make_trace
from benchmarks.pipeline.ratio import ROUNDS, Bench, Ratio, processor_seconds, tell
from kafka_shim.pipeline.spark.data_source import trace_table
from kafka_shim.traces.captures.capture_export import export_capture
from tests.pipeline.real_capture import captured, expected_names, names_by_tshark, names_imported

SHARE = 3
"""tshark gets one in this number of requests: its time per request grows with their number."""
COLUMNS = ("time", "host", "api_key", "api_version", "correlation_id", "client_id", "topics")
FIELDS = (
    *("frame.time_epoch", "ip.src", "kafka.request_key", "kafka.api_version"),
    *("kafka.correlation_id", "kafka.client_id", "kafka.topic_name"),
)


def s4_rows(bench: Bench) -> Ratio:
    """Compare processor time per request, from a file to rows in Spark; tshark prints its rows."""

    def rows(trace: Path) -> None:
        _table(bench, trace).write.format("noop").mode("overwrite").save()

    return _against_tshark(bench, "S4", "requests to rows", rows, 5)


def s4_csv(bench: Bench) -> Ratio:
    """Compare the export to CSV, with the same text on both sides."""
    target = str(bench.folder / "csv")

    def csv(trace: Path) -> None:
        topics = f.concat_ws(",", "topics").alias("topics")
        rows = _table(bench, trace).select(*COLUMNS[:-1], topics)
        rows.write.mode("overwrite").csv(target)

    found = _against_tshark(bench, "S4 CSV", "requests to CSV", csv, None)
    csv(bench.folder / "part")
    ours = Counter((row["_c1"], row["_c6"]) for row in bench.spark.read.csv(target).collect())
    fields = (line.split("\t") for line in dissected(bench.folder / "part.pcap")[0])
    assert ours == Counter((line[1], line[6]) for line in fields), "tshark finds other topics"
    return found


def _table(bench: Bench, trace: Path) -> Any:
    return trace_table(bench.spark, "requests", [str(trace)], columns=COLUMNS)


def _against_tshark(
    bench: Bench, name: str, what: str, ours: Callable[[Path], None], goal: float | None
) -> Ratio:
    requests, fewer = bench.args.requests, bench.args.requests // SHARE
    whole, part, capture = (bench.folder / name for name in ("whole", "part", "part.pcap"))
    if not capture.exists():
        make_trace(whole, requests, accesses=False)
        make_trace(part, fewer, accesses=False)
        with capture.open("wb") as file:
            export_capture(part, file)
    start = dissected(capture, "-c", "1")[1]  # the start of the JVM and of tshark does not count
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        before = processor_seconds(os.getpid())
        ours(whole)
        found[0].append((processor_seconds(os.getpid()) - before) * 1e6 / requests)
        found[1].append((dissected(capture)[1] - start) * 1e6 / fewer)
        tell(f"  round {number} of {ROUNDS}: {found[0][-1]:.2f} us, {found[1][-1]:.2f} us")
    mine, theirs = map(min, found)
    return Ratio(name, what, mine, "tshark", theirs, theirs / mine, goal, "us")


def s5_names(bench: Bench) -> Ratio:
    """Return the percentage of real clients' requests with names for which all names are right.

    The right names are those in the broker's own recording of the same requests.
    """
    folder = bench.folder / "real"
    folder.mkdir()
    trace, capture, port = captured(folder)
    expected = {key: names for key, names in expected_names(trace).items() if names}
    imported = names_imported(capture, folder / "imported")
    seen = names_by_tshark(capture, port)
    tell(f"  {len(expected)} requests name something")
    ours, other = (
        100 * sum(found.get(key) == names for key, names in expected.items()) / len(expected)
        for found in (imported, seen)
    )
    return Ratio("S5", "capture, imported", ours, "tshark", other, ours / 100, 1, "%")


def dissected(capture: Path, *options: str) -> tuple[list[str], float]:
    """Return tshark's output for a capture's requests, and its processor seconds."""
    if shutil.which("tshark") is None:
        raise FileNotFoundError("tshark is not installed")
    command = ["tshark", "-r", str(capture), *options, "-Y", "kafka.request_key", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    seconds = after.children_user + after.children_system
    return done.stdout.splitlines(), seconds - before.children_user - before.children_system
