"""Records of 1 KiB in and out of the shim, kfake and a real Kafka, through real clients.

    python -m benchmarks.against.throughput [--brokers NAME,...] [--clients NAME,...] [--rounds N]
                                            [--json] [--check]

Figures are MiB per second, medians of rounds in which the brokers take turns; the client has one
core and the broker the other. Each round has its own topic of three partitions, which is deleted
after it. Clients log in and need ACLs. Needs Go, Java 17 and Maven.
"""

import argparse
import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.against.__main__ import BROKER_CORE, CLIENT_CORE
from benchmarks.against.brokers import OPENED, PASSWORDS, Broker, on_core
from benchmarks.against.client import Peer
from benchmarks.against.load import PARTITIONS, RECORD
from benchmarks.against.setting import made, until_well
from benchmarks.command import finish
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics_request import DeleteTopicsRequest
from tests.oracle.real_kafka import jars

ROUNDS = 3
RECORDS = {"librdkafka": 200_000, "java": 200_000, "kafka-python": 30_000}
TOOLS = "4.3.1"
"""The newest release whose kafka-tools are in the registry; its clients are used."""
GOALS = {("real", "in"): 1.5, ("kfake", "in"): 1.1, ("kfake", "out"): 1.0}
_MIB = 1024 * 1024
_TOOLS = "org.apache.kafka.tools"
_FETCH_RATE_AT = -2
"""Where ConsumerPerformance tells MiB a second, without what it took to join the group."""
_LOGIN = f"""security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="alice" password="{PASSWORDS["alice"]}";
"""
_TIMEOUT_S = 300


class ClientError(Exception):
    """A client failed."""


class Row(NamedTuple):
    """MiB per second, and the broker's processor time per MiB in ms, by broker."""

    client: str
    direction: str
    rate: dict[str, float]
    processor: dict[str, float]

    def ratio(self, other: str) -> float | None:
        """Return how many times as fast the shim is; None if one of the two was not measured."""
        both = {"shim", other} <= self.rate.keys()
        return self.rate["shim"] / self.rate[other] if both else None


def measure(options: argparse.Namespace) -> Iterator[Row]:
    with contextlib.ExitStack() as stack:
        on_core(BROKER_CORE)
        brokers = [stack.enter_context(OPENED[name]()) for name in options.brokers.split(",")]
        on_core(CLIENT_CORE)
        for broker in brokers:
            made(broker)
        for client in options.clients.split(","):
            able = [broker for broker in brokers if _is_able(broker, client)]
            rounds = [
                {broker.name: _round(broker, client, number) for broker in able}
                for number in range(options.rounds)
            ]
            for at, direction in enumerate(("in", "out")):
                yield Row(client, direction, _medians(rounds, at), _medians(rounds, at + 2))


def _is_able(broker: Broker, client: str) -> bool:
    """Return whether a client can use the broker, from a round that is not counted."""
    try:
        _round(broker, client, -1)
    except ClientError as error:
        print(f"{client} cannot use {broker.name}: {error}", file=sys.stderr)
        return False
    return True


def _medians(rounds: list[dict[str, tuple[float, ...]]], at: int) -> dict[str, float]:
    return {name: statistics.median(found[name][at] for found in rounds) for name in rounds[0]}


def _round(broker: Broker, client: str, number: int) -> tuple[float, ...]:
    """Return MiB per second in and out, and the broker's processor time per MiB for both, in ms."""
    topic, records = f"topic-of-{client}-{number}", RECORDS[client]
    mib = records * len(RECORD) / _MIB
    admin = Peer(broker, "admin")
    try:
        wanted = CreateTopicsRequest([CreatableTopic(topic, PARTITIONS, 1)])
        until_well(admin, ApiKey.CREATE_TOPICS, 5, wanted)
        rates, used = [], []
        for direction in ("in", "out"):
            before = broker.processor_s()
            rates.append(mib / _seconds(broker, client, direction, topic, records))
            used.append((broker.processor_s() - before) * 1000 / mib)
        gone = DeleteTopicsRequest(topic_names=[topic], timeout_ms=30_000)
        until_well(admin, ApiKey.DELETE_TOPICS, 3, gone)
        return (*rates, *used)
    finally:
        admin.close()


def _seconds(broker: Broker, client: str, direction: str, topic: str, records: int) -> float:
    address = "{}:{}".format(*broker.address)
    if client == "java":
        return _java_seconds(address, direction, topic, records)
    command = [sys.executable, "-m", "benchmarks.against.load", client, direction, address, topic]
    return float(_said([*command, str(records)]))


def _java_seconds(address: str, direction: str, topic: str, records: int) -> float:
    """Return the seconds of a run, from the output of Kafka's performance tools."""
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as settings:
        settings.write(_LOGIN)
        settings.flush()
        about = ["--topic", topic, "--bootstrap-server", address, "--command-config", settings.name]
        about += ["--num-records", str(records)]
        java = ["java", "-cp", f"{jars(TOOLS)}/*"]
        if direction == "in":
            pace = ["--record-size", str(len(RECORD)), "--throughput", "-1"]
            said = _said([*java, f"{_TOOLS}.ProducerPerformance", *about, *pace])
            rate = float(re.findall(r"\(([\d.]+) MB/sec\)", said)[-1])
        else:
            quiet = ["--group", "group-java", "--hide-header"]
            said = _said([*java, f"{_TOOLS}.ConsumerPerformance", *about, *quiet])
            rate = float(said.strip().splitlines()[-1].split(",")[_FETCH_RATE_AT])
    return records * len(RECORD) / _MIB / rate


def _said(command: list[str]) -> str:
    run = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if run.returncode:
        raise ClientError(f"it ended with {run.returncode}: {run.stderr.strip()[-300:]}")
    return run.stdout


def missed(rows: list[Row]) -> list[str]:
    found = []
    for row in rows:
        for (other, direction), least in GOALS.items():
            ratio = row.ratio(other)
            if direction == row.direction and ratio is not None and ratio < least:
                found.append(f"{row.client} {direction}: {ratio:.2f} of {other}, goal {least}")
    return found


def text(rows: list[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row.rate))
    cells = ["client", *(f"{name} MiB/s, ms/MiB" for name in names), "of kfake", "of real"]
    lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    for row in rows:
        figures = [
            f"{row.rate[name]:.0f}, {row.processor[name]:.1f}" if name in row.rate else ""
            for name in names
        ]
        ratios = ["" if r is None else f"{r:.2f}" for r in map(row.ratio, ("kfake", "real"))]
        lines.append(f"| {' | '.join([f'{row.client} {row.direction}', *figures, *ratios])} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--brokers", default="shim,kfake,real", help="default: %(default)s")
    parser.add_argument("--clients", default=",".join(RECORDS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    options = parser.parse_args()
    rows = list(measure(options))
    return finish(options, {"rows": [row._asdict() for row in rows]}, text(rows), missed(rows))


if __name__ == "__main__":
    sys.exit(main())
