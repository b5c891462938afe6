"""Rehearse an upgrade: record clients on a real cluster, and replay them to other clusters.

    python -m tests.clients.rehearsal record DIR [--release 3.9.2] [--brokers 3]
    python -m tests.clients.rehearsal replay DIR [--release 4.4.0] [--brokers 3] [--shim]

`record` runs six clients of five languages at once, members of one group, and two more Python
clients. `replay` prints the report; exit code 3: something differs. Needs Java 17, Maven, Go, Node.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.traces.replay.report import report_lines
from tests.clients.both_ways import NAMES, _proxies, _running
from tests.clients.kit import CLIENTS, PLAY_SECONDS
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.real_kafka import settings_of
from tests.support.commands import SHIM
from tests.traces.replay.recorded_clients import read_all, replay, run_clients, run_new_groups

SETTINGS = {"group.initial.rebalance.delay.ms": "1000", "num.partitions": "6"}
DIFFERENT = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["record", "replay"])
    parser.add_argument("trace", type=Path, metavar="DIR")
    parser.add_argument("--release", default="")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--shim", action="store_true")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    if args.action == "record":
        with real_cluster(args.release or "3.9.2", args.brokers) as addresses:
            record(addresses, args.trace, has_new_groups=(args.release or "3") >= "4")
        return 0
    release = args.release or "4.4.0"
    cluster = (
        shim_cluster(release, args.brokers, args.seed)
        if args.shim
        else real_cluster(release, args.brokers)
    )
    with cluster as addresses:
        report = replay(args.trace, *addresses)
    sys.stdout.write("\n".join(report_lines(report)) + "\n")
    return 0 if report.matches_recording else DIFFERENT


@contextlib.contextmanager
def real_cluster(release: str, count: int) -> Iterator[Sequence[str]]:
    """Run a cluster of real brokers; yield the addresses of the first one's two listeners."""
    with real_brokers(release, count) as brokers:
        yield brokers[0].plain, brokers[0].sasl


@contextlib.contextmanager
def real_brokers(release: str, count: int) -> Iterator[Sequence[OperatedKafka]]:
    """Run a cluster of real brokers; the first one is also its controller."""
    with contextlib.ExitStack() as stack:
        brokers = [stack.enter_context(OperatedKafka(release, "authorizer", SETTINGS))]
        for node_id in range(2, count + 1):
            other = OperatedKafka(release, "authorizer", SETTINGS, offload=brokers[0])
            other.node_id = node_id
            brokers.append(stack.enter_context(other))
        yield brokers


@contextlib.contextmanager
def shim_cluster(release: str, count: int, seed: int) -> Iterator[Sequence[str]]:
    command = [*SHIM, "serve", "--kafka-version", parse_minor_release(release)]
    command += ["--log-level", "error", "--brokers", str(count), "--seed", str(seed)]
    for name in NAMES:
        command += ["--listener", f"{name}://127.0.0.1:0"]
    command += ["--super-user", "User:ANONYMOUS", "--super-user", "User:admin"]
    for name in ("alice", "bob", "carol", "admin"):
        command += ["--user", f"{name}:{name}-secret"]
    for key, value in (settings_of(release) | SETTINGS).items():
        command += ["-c", f"{key}={value}"]
    with _running(command, "[KafkaServer") as printed:
        yield _bootstrap(printed)


def _bootstrap(printed: str) -> Sequence[str]:
    """Return the first address of each listener in what `serve` prints."""
    return [re.findall(rf"listening on {name}://(\S+)", printed)[0] for name in NAMES]


def record(upstream: Sequence[str], trace: Path, *, has_new_groups: bool) -> None:
    with _proxies(upstream, trace) as addresses:
        environment = {
            f"KAFKA_BOOTSTRAP_SERVERS_{name}": address
            for name, address in zip(NAMES, addresses, strict=True)
        }
        run_clients(*addresses)
        read_all({"bootstrap.servers": addresses[0], "group.instance.id": "one"}, "static")
        if has_new_groups:
            run_new_groups({"bootstrap.servers": addresses[0]})
            _play("shares", ["java"], environment)
        for play in ("permissions", "member"):
            _play(play, CLIENTS, environment)


def _play(play: str, clients: Iterable[str], environment: Mapping[str, str]) -> None:
    """Let clients of the kit do the same at the same time."""
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.clients.kit", play, client],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for client in clients
    ]
    for child in children:
        child.wait(PLAY_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
