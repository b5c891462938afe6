"""Three clients with different rights, recorded, and what Spark makes of it.

The answers are known beforehand and checked; the exit code is 1 if one is not as expected.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from kafka_shim.pipeline import cli
from kafka_shim.pipeline.spark_requirements import missing_requirement

if TYPE_CHECKING:
    from kafka_shim.pipeline.report.outcome import Outcome

HERE = Path(__file__).parent
ACLS = HERE / "pipeline_demo.yaml"
CANDIDATE = HERE / "pipeline_demo_candidate.yaml"
SHIM = [sys.executable, "-P", "-m", "kafka_shim"]

BREAKS = {
    ("newly denied", "User:alice", "DESCRIBE", "TOPIC:orders"),
    ("newly denied", "User:alice", "WRITE", "TOPIC:orders"),
    ("newly allowed", "User:carol", "DESCRIBE", "TOPIC:orders"),
}
GO = {
    "TOPIC|orders|LITERAL|User:bob|*|READ|ALLOW": "shadowed",
    "TOPIC|payments|LITERAL|User:dave|*|READ|ALLOW": "never used",
}
LEAST = {
    "GROUP|bob-app|LITERAL|User:bob|*|READ|ALLOW",
    "TOPIC|orders|LITERAL|User:alice|*|WRITE|ALLOW",
    "TOPIC|orders|LITERAL|User:bob|*|READ|ALLOW",
}


def settings(bootstrap: str, user: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": f"{user}-secret",
    }


def produce(bootstrap: str, user: str) -> str:
    """What becomes of ten records."""
    outcomes: list[str] = []

    def delivered(error: KafkaError | None, _: object) -> None:
        outcomes.append("delivered" if error is None else error.name())

    producer = Producer({**settings(bootstrap, user), "message.timeout.ms": 5000})
    for n in range(10):
        try:
            producer.produce("orders", str(n).encode(), on_delivery=delivered)
        except KafkaException as refused:  # once the client knows that it may not
            outcomes.append(refused.args[0].name())
        producer.poll(0.01)
    producer.flush(10)
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))


def consume(bootstrap: str, user: str) -> str:
    """How many records come."""
    consumer = Consumer(
        {
            **settings(bootstrap, user),
            "group.id": f"{user}-app",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["orders"])
    got = 0
    deadline = time.monotonic() + 15
    while got < 10 and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        got += message is not None and message.error() is None
    consumer.close()
    return f"{got} read"


@contextlib.contextmanager
def serving(trace: Path, ready: Path) -> Iterator[str]:
    """A broker that records, at the address that is given."""
    options = ["--listener", "SASL_PLAINTEXT://127.0.0.1:0", "--super-user", "User:admin"]
    options += ["--state", str(ACLS), "--record", str(trace), "--ready-file", str(ready)]
    broker = subprocess.Popen(
        [*SHIM, "serve", *options, "--log-level", "error"], stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 20
        while not ready.exists() and broker.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if not ready.exists():
            sys.exit("pipeline-demo: the broker did not start")
        bootstrap = dict(line.split("=", 1) for line in ready.read_text().splitlines())
        yield bootstrap["SASL_PLAINTEXT"]
    finally:
        broker.terminate()
        broker.wait(10)


def record(trace: Path, ready: Path) -> None:
    """Start the broker, let the clients do their work, stop it."""
    with serving(trace, ready) as address:
        print(f"alice writes: {produce(address, 'alice')}")
        print(f"bob reads:    {consume(address, 'bob')}")
        print(f"carol writes: {produce(address, 'carol')}")


def job(name: str, *options: str, code: int = 0) -> "Outcome":
    """Run a job as `kafka-shim pipeline` does, all in one Spark session."""
    print(f"\n$ kafka-shim pipeline {name} " + " ".join(map(shown, options)), flush=True)
    from kafka_shim.pipeline.job_runner import run_chained_jobs  # noqa: PLC0415 - once it is known that Spark is there

    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    args = parser.parse_args([name, *options])
    [(_, outcome)] = run_chained_jobs(args)
    check("exit code", cli.print_outcome(outcome, args), code)
    return outcome


def shown(option: str) -> str:
    return Path(option).name if option.startswith("/") else option


def check(what: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"pipeline-demo: {what}: found {found}, expected {expected}")
    print(f"as expected: {what}")


def main() -> None:
    problem = missing_requirement()
    if problem is not None:
        sys.exit(f"pipeline-demo: {problem}")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace")
        record(trace, Path(folder, "ready"))
        breaks = job(
            "what-breaks", str(trace), "--acls", str(CANDIDATE), "--fail-on", "loss", code=3
        )
        check("what-breaks", changes(breaks.rows), BREAKS)
        unused = job("unused-acls", str(trace), "--acls", str(ACLS))
        go = {row["acl"]: row["state"] for row in unused.rows if row["can_go"]}
        check("unused-acls", go, GO)
        least = job("least-acls", str(trace), "--against", str(ACLS))
        check("least-acls", {row["acl"] for row in least.rows}, LEAST)
        check("its check", least.totals["changes"], 0)


def changes(rows: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    return {
        (r["change"], r["principal"], r["operation"], f"{r['resource_type']}:{r['resource_name']}")
        for r in rows
    }


if __name__ == "__main__":
    main()
