"""Makes the scorecard of every client: `python -m tests.clients.scorecards`.

    python -m tests.clients.scorecards [--client NAME] [--keep DIR]

It writes them to docs/reference/conformance/README.md.

Each client plays against four brokers: the newest release, one without an authorizer from before
pattern types, one in between, and one whose coordinators are not ready at first. The scorecard of a
client is made from these traces.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from tests.clients.kit import CLIENTS
from tests.clients.report_page import write_scorecards

RUN_SECONDS = 300
BROKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("full", ()),
    ("old", ("--kafka-version", RELEASES[1], "--authorizer", "none")),
    ("old", ("--kafka-version", RELEASES[8])),
    ("not-ready", ("--state", str(Path(__file__).parent / "not_ready.yaml"))),
)
"""Plays, and the options of the brokers that they run against."""

OPTIONS = (
    *("--listener", "PLAINTEXT://127.0.0.1:0", "--listener", "SASL_PLAINTEXT://127.0.0.1:0"),
    *("--super-user", "User:ANONYMOUS", "--user", "alice:alice-secret"),
)
MARKS = {"passed": "✅", "failed": "❌", "not exercised": "·"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client", action="append", choices=CLIENTS, help="only this one")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the traces there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder)
        cards = {
            name: scorecard(name, place / name)
            for name in args.client or CLIENTS
            if _is_here(name, Path(folder))
        }
    write_scorecards("\n".join(section(cards)))
    return 0


def scorecard(client: str, trace: Path) -> list[dict[str, Any]]:
    """Run a client against all brokers; return its behaviours, judged by `conformance check`."""
    for play, options in BROKERS:
        sys.stderr.write(f"{client}: {play} {' '.join(options)}\n")
        command = f"{sys.executable} -m tests.clients.kit {play} {client}"
        _conformance("run", "--client-command", command, "--record", str(trace), *OPTIONS, *options)
    card = json.loads(_conformance("check", str(trace), "--json"))
    rows: list[dict[str, Any]] = card["behaviours"]
    return rows


def _is_here(client: str, folder: Path) -> bool:
    """Build the driver; print a line and return False if its tools are missing."""
    try:
        CLIENTS[client](folder)
    except pytest.skip.Exception as missing:
        sys.stderr.write(f"{missing}\n")
        return False
    return True


def _conformance(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_shim", "conformance", *words],
        stdout=subprocess.PIPE,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"conformance {words[0]} ended with {done.returncode}")
    return done.stdout


def section(cards: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines of the scorecards."""
    yield INTRODUCTION
    yield f"| behaviour | {' | '.join(cards)} | |"
    yield "|---" * (len(cards) + 2) + "|"
    for rows in zip(*cards.values(), strict=True):
        marks = " | ".join(MARKS[row["status"]] for row in rows)
        yield f"| `{rows[0]['id']}` | {marks} | {rows[0]['text']} |"
    totals = (
        ", ".join(f"{sum(row['status'] == status for row in rows)} {status}" for status in MARKS)
        for rows in cards.values()
    )
    yield ""
    yield from (f"- **{name}**: {total}" for name, total in zip(cards, totals, strict=True))
    yield FAILURES
    for name, rows in cards.items():
        for row in rows:
            if row["status"] == "failed":
                why = REASONS.get((name, row["id"]), "not looked at yet")
                yield f"| {name} | `{row['id']}` | {_request(row['frames'][0])} | {why} |"


def _request(frame: str) -> str:
    """Return API and version; drop the connection and the count, which differ in each run."""
    return frame.partition(": ")[2].partition(" (")[0]


INTRODUCTION = """\
What clients send by themselves, as `kafka-shim conformance check` judges it
([how](../../guides/conformance.md#the-scorecard)). `python -m tests.clients.scorecards` needs Java
17, Go and Node. It runs the clients, and writes this part. ✅ always correct, ❌ wrong at least
once, · not exercised.
*In a loop* means three repeats within a second. Slower retries fail only in the suite.
"""
FAILURES = """
### Failures

| client | behaviour | seen in | why |
|---|---|---|---|"""
_NOT_IDEMPOTENT = "the client's choice: not idempotent by default (KIP-679 is about Java's client)"
_AGAIN = "the client's bug: a refused authentication is retried like a lost connection"
REASONS = {
    ("librdkafka", "producer.idempotent"): _NOT_IDEMPOTENT,
    ("aiokafka", "producer.idempotent"): _NOT_IDEMPOTENT,
    ("kafkajs", "producer.idempotent"): _NOT_IDEMPOTENT,
    ("aiokafka", "producer.acks-all"): "the client's choice: waits for the leader only",
    ("librdkafka", "encoding.no-trailing-bytes"): (
        "the client's bug: a request for all topics has three extra zero bytes after the array"
        " of topics; brokers read these as the next fields, so the request's last three bytes are"
        " left over"
    ),
    ("librdkafka", "errors.58-final"): f"{_AGAIN}, every `reconnect.backoff.ms`",
    ("kafka-python", "errors.58-final"): f"{_AGAIN}, with growing pauses",
    ("kafkajs", "versions.negotiated"): (
        "the client's choice: it asks one broker and assumes that all of a cluster are alike"
    ),
}
"""The cause of each failure, found by hand: a bug of the client, or its choice."""

if __name__ == "__main__":
    sys.exit(main())
