"""Record runs of the kit on a real Kafka and replay them to the shim, and the other way round.

    python -m tests.clients.both_ways [--workload NAME] [--release 4.3.1] [--keep DIR]

Each client of the kit has three workloads: all calls that it supports, a group that many members
join at once (`crowd`), and a group that members join one after the other (`relay`). In two more
workloads, all clients are members of one group. Every workload has its own, empty brokers.

If tcpdump may run, the traffic on loopback is captured as well: importing the capture must yield
the same requests, and tshark must dissect the exported trace as it dissects the capture. Every
difference is printed with the row of docs/explanation/differences.md that explains it, by the
rules of `lateness.py`. Exit code 3: a difference has no explanation. Needs Java 17 and Maven, Go
and Node.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kafka_shim.client.client import connect
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.schemas.pins import read_pins
from kafka_shim.traces.replay.events import load_recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport
from kafka_shim.traces.replay.target import OnUnreplayableRequest, Target
from tests.clients.captured import captured, compare
from tests.clients.kit import CLIENTS, PLAY_SECONDS
from tests.clients.lateness import Lateness
from tests.oracle.real_kafka import RealKafka, settings_of
from tests.support.commands import SHIM

DIFFERENT = 3
NAMES = ("PLAINTEXT", "SASL_PLAINTEXT")
SETTINGS = {"group.initial.rebalance.delay.ms": "1000"}
"""Members that join at once are in one generation, on the shim and on a real broker."""
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only this one")
    parser.add_argument("--release", default=read_pins().newest)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the traces there")
    args = parser.parse_args()
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.workload or WORKLOADS:
            for way in (real_to_shim, shim_to_real):
                trace = (args.keep or Path(folder)) / f"{name}-{way.__name__}"
                sys.stdout.write(f"{name}, {way.__name__.replace('_', ' ')}\n")
                differences += way(WORKLOADS[name], args.release, trace)
    return DIFFERENT if differences else 0


class Workload(NamedTuple):
    """A play of the kit, or the members of one group, which start `apart_s` after each other."""

    clients: Sequence[str]
    replay: str = "permissions"
    apart_s: float = 0

    def give(self, addresses: Sequence[str]) -> None:
        if self.replay == "member":
            _make_topic(addresses[0])
        children = []
        for client in self.clients:
            children.append(_given(client, self.replay, addresses))
            time.sleep(self.apart_s)
        _wait_for(children)


MEMBERS = 6
TOPIC = "crowded"
WORKLOADS = {
    **{client: Workload([client]) for client in CLIENTS},
    **{f"{client}-crowd": Workload([client] * MEMBERS, "member") for client in CLIENTS},
    **{f"{client}-relay": Workload([client] * MEMBERS, "member", 1.5) for client in CLIENTS},
    "all-crowd": Workload([*CLIENTS], "member"),
    "all-relay": Workload([*CLIENTS], "member", 1.5),
}


def real_to_shim(workload: Workload, release: str, trace: Path) -> int:
    """Record on a real Kafka through proxies, replay to the shim; count unexplained differences."""
    capture = trace.with_suffix(".pcap")
    with (
        RealKafka(release, settings=SETTINGS) as kafka,
        _proxies((kafka.plain, kafka.sasl), trace) as addresses,
        captured(capture, addresses),
    ):
        workload.give(addresses)
    differences = compare(capture, trace, addresses)
    with _shim(release) as addresses:
        return differences + _replay(trace, addresses, real_is_recorded=True)


def shim_to_real(workload: Workload, release: str, trace: Path) -> int:
    """Record on the shim, replay to a real Kafka; count unexplained differences.

    The replay keeps the recorded speed, since a real Kafka applies changes a moment late.
    """
    with _shim(release, "--record", str(trace)) as addresses:
        workload.give(addresses)
    with RealKafka(release, settings=SETTINGS) as kafka:
        return _replay(trace, (kafka.plain, kafka.sasl), real_is_recorded=False)


@contextlib.contextmanager
def _shim(release: str, *more: str) -> Iterator[Sequence[str]]:
    command = [
        *SHIM,
        "serve",
        "--kafka-version",
        parse_minor_release(release),
        "--log-level",
        "error",
    ]
    for name in NAMES:
        command += ["--listener", f"{name}://127.0.0.1:0"]
    command += ["--super-user", "User:ANONYMOUS", "--super-user", "User:admin"]
    command += ["--user", "alice:alice-secret", *more]
    for key, value in (settings_of(release) | SETTINGS).items():
        command += ["-c", f"{key}={value}"]
    with _running(command, "[KafkaServer") as said:
        yield _ADDRESS.findall(said)


@contextlib.contextmanager
def _proxies(upstream: Sequence[str], trace: Path) -> Iterator[Sequence[str]]:
    addresses = []
    with contextlib.ExitStack() as stack:
        for name, real in zip(NAMES, upstream, strict=True):
            command = [*SHIM, "proxy", "--upstream", real, "--listener", name]
            command += ["--record", str(trace)]
            said = stack.enter_context(_running(command, "proxy for"))
            addresses.append(_ADDRESS.findall(said)[-1])
        yield addresses


@contextlib.contextmanager
def _running(command: Sequence[str], ready: str) -> Iterator[str]:
    """Yield the output of a command up to the line with `ready`; RuntimeError if it ends before."""
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                said += line
                if ready in line:
                    break
            else:
                raise RuntimeError(f"`{' '.join(command)}` did not start: {said}")
            yield said
        finally:
            process.terminate()


def _make_topic(address: str) -> None:
    """Create the topic of the groups, and wait until the broker has it."""
    topic = CreatableTopic(TOPIC, num_partitions=MEMBERS, replication_factor=1)
    wanted = MetadataRequest([MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False)
    with connect(address) as admin:
        admin.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic], timeout_ms=10_000))
        while admin.send_request(ApiKey.METADATA, wanted).topics[0].error_code:
            time.sleep(0.1)


def _given(client: str, replay: str, addresses: Sequence[str]) -> subprocess.Popen[bytes]:
    told = {f"KAFKA_BOOTSTRAP_SERVERS_{n}": a for n, a in zip(NAMES, addresses, strict=True)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.clients.kit", replay, client],
        env=os.environ | told,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_for(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.wait(PLAY_SECONDS)


def _replay(trace: Path, addresses: Sequence[str], *, real_is_recorded: bool) -> int:
    """Replay and print the report; return the number of unexplained differences and misses."""
    recording = load_recording(trace)
    places = [
        (host, int(port)) for host, _, port in (address.rpartition(":") for address in addresses)
    ]
    target = Target(
        address=places[0],
        routes=dict(zip(NAMES, places, strict=True)),
        users={"alice": "alice-secret"},
        on_miss=OnUnreplayableRequest.SKIP,
        speed=None if real_is_recorded else 1.0,
    )
    report = Replayer(recording, target).replay()
    return _tell(report, Lateness(recording, real_is_recorded=real_is_recorded))


def _tell(report: ReplayReport, lateness: Lateness) -> int:
    """Print a replay's report; return the number of unexplained differences and misses."""
    sys.stdout.write(
        f"  {report.requests} requests, {report.responses} responses,"
        f" {report.differing_responses} differ,"
        f" {len(report.unreplayable_requests)} missed, {report.skipped_requests} left out"
        " (temporary errors)\n"
    )
    open_ones = len(report.unreplayable_requests)
    for place, why in report.unreplayable_requests:
        sys.stdout.write(f"  MISSED {place.api} v{place.version} of {place.principal}: {why}\n")
    told: Counter[str] = Counter()
    for (api, field, _), rows in sorted(report.differences_by_kind.items()):
        for place, found in rows:
            row = lateness.explains(place, found)
            open_ones += row is None
            example = f": {str(found.recorded)[:100]} -> {str(found.actual)[:100]}"
            told[f"{api}.{field}: {row or 'NOT EXPLAINED' + example}"] += 1
    for line, count in told.items():
        sys.stdout.write(f"  {count:>4} {line}\n")
    sys.stdout.flush()
    return open_ones


if __name__ == "__main__":
    sys.exit(main())
