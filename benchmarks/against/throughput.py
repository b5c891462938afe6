"""Records of 1 KiB in and out of the shim, kfake and a real Kafka, through real clients.

    python -m benchmarks.against.throughput [--brokers NAME,...] [--clients NAME,...] [--rounds N]
                                            [--json] [--check] [--publish]

Figures are medians of rounds in which the brokers take turns; the client has one core and the
broker the other. A client that uses its core for the whole time cannot be faster with another
broker. Each round has its own topic of three partitions, which is deleted after it. Clients log in
and need ACLs. Needs Go, Java 17 and Maven.
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.against.__main__ import BROKER_CORE, CLIENT_CORE
from benchmarks.against.brokers import OPENED, PASSWORDS, Broker, on_core
from benchmarks.against.client import Peer
from benchmarks.against.load import PARTITIONS, RECORD
from benchmarks.against.publication import machine_state, missed_goals_text
from benchmarks.against.setting import made, until_well
from benchmarks.command import finish
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest
from tests.oracle.real_kafka import jars

ROUNDS = 3
DIRECTIONS = ("in", "out")
RECORDS = {"librdkafka": 200_000, "java": 200_000, "kafka-python": 30_000}
TOOLS = "4.3.1"
"""The newest release whose kafka-tools are in the registry; its clients are used."""
GOALS = {("librdkafka in", "kfake"): 1.0, ("librdkafka out", "kfake"): 1.0}
REAL = 1.0
"""The least ratio to a real Kafka, for each client."""
PAGE = Path(__file__).parents[1] / "results" / "throughput.md"
_HEAD = """\
# Clients at full speed

`python -m benchmarks.against.throughput --publish` writes this file.

Clients write (*in*) and read (*out*) records of 1 KiB, without compression. More MiB/s are better.
`x2` means that the client is twice as fast with the shim as with the other broker. `real` is Apache
Kafka.
"""
_ABOUT = """\
The client has one core, and the broker the other. A client that uses its core all the time cannot
be faster with another broker. The use of the core includes the start of Java.

A fetch returns as many bytes as the client's limit for a partition, as from Kafka: the last batch
is often cut, and the client reads it again. kfake ends with a whole batch. With batches of 1 MB and
librdkafka's limit of 1 MiB, that is 5 % more bytes for the same records.\
"""
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


class Speed(NamedTuple):
    """MiB per second, the broker's processor time per MiB in ms, and the share of the elapsed time
    in which the client used its core.
    """

    mib_per_s: float
    broker_ms_per_mib: float
    client_share: float


class Row(NamedTuple):
    """The speed of a client in a direction, by broker."""

    client: str
    direction: str
    speeds: dict[str, Speed]

    @property
    def name(self) -> str:
        return f"{self.client} {self.direction}"

    def ratio(self, other: str) -> float | None:
        """Return how many times as fast the shim is; None if one of the two was not measured."""
        if not {"shim", other} <= self.speeds.keys():
            return None
        return self.speeds["shim"].mib_per_s / self.speeds[other].mib_per_s


def measure(options: argparse.Namespace) -> tuple[str, list[Row]]:
    """Return a sentence about the machine, and the rows."""
    with contextlib.ExitStack() as stack:
        on_core(BROKER_CORE)
        brokers = [stack.enter_context(OPENED[name]()) for name in options.brokers.split(",")]
        on_core(CLIENT_CORE)
        for broker in brokers:
            made(broker)
        state = machine_state(brokers, options.rounds)
        clients = options.clients.split(",")
        return state, [row for client in clients for row in _rows(client, brokers, options.rounds)]


def _rows(client: str, brokers: list[Broker], count: int) -> Iterator[Row]:
    able = [broker for broker in brokers if _is_able(broker, client)]
    rounds = [
        {broker.name: _round(broker, client, number) for broker in able} for number in range(count)
    ]
    for direction in DIRECTIONS:
        speeds = {
            broker.name: _median([found[broker.name][direction] for found in rounds])
            for broker in able
        }
        yield Row(client, direction, speeds)


def _is_able(broker: Broker, client: str) -> bool:
    """Return whether a client can use the broker, from a round that is not counted."""
    try:
        _round(broker, client, -1)
    except ClientError as error:
        print(f"{client} cannot use {broker.name}: {error}", file=sys.stderr)
        return False
    return True


def _median(speeds: list[Speed]) -> Speed:
    return Speed(*map(statistics.median, zip(*speeds, strict=True)))


def _round(broker: Broker, client: str, number: int) -> dict[str, Speed]:
    """Return the speed in each direction."""
    topic, records = f"topic-of-{client}-{number}", RECORDS[client]
    mib = records * len(RECORD) / _MIB
    admin = Peer(broker, "admin")
    try:
        wanted = CreateTopicsRequest([CreatableTopic(topic, PARTITIONS, 1)])
        until_well(admin, ApiKey.CREATE_TOPICS, 5, wanted)
        speeds = {}
        for direction in DIRECTIONS:
            before = broker.processor_s()
            elapsed_s, client_share = _measured(broker, client, direction, topic, records)
            broker_ms = (broker.processor_s() - before) * 1000
            speeds[direction] = Speed(mib / elapsed_s, broker_ms / mib, client_share)
        gone = DeleteTopicsRequest(topic_names=[topic], timeout_ms=30_000)
        until_well(admin, ApiKey.DELETE_TOPICS, 3, gone)
        return speeds
    finally:
        admin.close()


def _measured(
    broker: Broker, client: str, direction: str, topic: str, records: int
) -> tuple[float, float]:
    """Return the elapsed seconds of a run, and the share in which the client used its core."""
    address = "{}:{}".format(*broker.address)
    if client == "java":
        before, began = os.times(), time.perf_counter()
        elapsed_s = _java_seconds(address, direction, topic, records)
        after, took_s = os.times(), time.perf_counter() - began
        used_s = after.children_user - before.children_user
        used_s += after.children_system - before.children_system
        return elapsed_s, used_s / took_s
    command = [sys.executable, "-m", "benchmarks.against.load", client, direction, address, topic]
    elapsed_s, processor_s = map(float, _said([*command, str(records)]).split())
    return elapsed_s, processor_s / elapsed_s


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
        for other in row.speeds.keys() - {"shim"}:
            goal = REAL if other == "real" else GOALS.get((row.name, other), 0)
            ratio = row.ratio(other)
            if ratio is not None and ratio < goal:
                share = row.speeds["shim"].client_share
                found.append(
                    f"{row.name}: {ratio:.2f} of {other}, goal {goal}; the client uses its core"
                    f" {share:.0%} of the time"
                )
    return found


def text(rows: list[Row]) -> str:
    cells = [
        *("client", "broker", "MiB/s", "shim / it"),
        *("broker's processor time, ms/MiB", "client's use of its core"),
    ]
    lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    for row in rows:
        for name, speed in row.speeds.items():
            ratio = row.ratio(name)
            values = [
                row.name,
                name,
                f"{speed.mib_per_s:.0f}",
                "" if ratio is None or name == "shim" else f"x{ratio:.2f}",
                f"{speed.broker_ms_per_mib:.2f}",
                f"{speed.client_share:.0%}",
            ]
            lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)


def published(rows: list[Row], state: str) -> str:
    """Return the page."""
    parts = [_HEAD + "\n" + state, _ABOUT, text(rows), missed_goals_text(missed(rows))]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--brokers", default="shim,kfake,real", help="default: %(default)s")
    parser.add_argument("--clients", default=",".join(RECORDS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    state, rows = measure(options)
    if options.publish:
        PAGE.write_text(published(rows, state))
    found = [
        {**row._asdict(), "speeds": {name: speed._asdict() for name, speed in row.speeds.items()}}
        for row in rows
    ]
    return finish(options, {"rows": found}, text(rows), missed(rows))


if __name__ == "__main__":
    sys.exit(main())
