"""The broker's memory under mixed load, minute by minute.

    python -m benchmarks.soak [--minutes N] [--check] [--json]

The load has groups, transactions, share groups, changes of ACLs, reconnects, faults, and brokers
that stop. Three brokers run in one process, each kind of client in its own process. After five
minutes, memory must not grow, every kind of work must continue to succeed, and no handler may fail.
"""

import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.command import finish, parse_arguments
from benchmarks.soak import watchdog
from benchmarks.soak.work import ERRORS, TOPICS, Work
from kafka_shim.testing.broker_start import start

MINUTES = 30
WARM_MINUTES = 5
GROWTH_MAX = 0.05
"""Goal: maximal growth of memory, from the median of minutes 6 to 10 to that of the last five."""
HUNG_S = 40
"""A round that takes longer counts as hanging; groups take a third of this. librdkafka 2.16.0 never
returns from `close` if an assignment comes just before it, and the LeaveGroup response comes before
the callback of the assignment.
"""
_FAILED = "kafka_shim_internal_errors_total"
PAUSES_S = {"acls": 0.2, "reconnects": 1, "faults": 2, "topics": 1, "nodes": 30}
_SETTINGS = {
    "log.retention.bytes": "300000",
    "log.segment.bytes": "1048576",
    "log.retention.check.interval.ms": "10000",
    "producer.id.expiration.check.interval.ms": "10000",
    "transactional.id.expiration.ms": "60000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "10000",
    "producer.id.expiration.ms": "60000",
    "group.initial.rebalance.delay.ms": "0",
    "connections.max.idle.ms": "30000",
}
_FORK = multiprocessing.get_context("fork")


class Worker:
    """A process that repeats one kind of work.

    Clients may hang because of their own bugs (see HUNG_S), so a process whose round takes longer
    than `hung_s` is replaced. Before that, its stacks and the broker's are kept in a file.
    """

    def __init__(
        self, name: str, work: Work, stacks: Path, broker_pid: int, hung_s: float = HUNG_S
    ) -> None:
        self.name = name
        self._work = work
        self._stacks = stacks
        self._broker_pid = broker_pid
        self._hung_s = hung_s
        self.kept: list[Path] = []
        self._done: Any = _FORK.Value("q", 0)
        self._failed: Any = _FORK.Value("q", 0)
        self.hung = 0
        self._seen = (0, time.monotonic())
        self._child = self._begin()

    @property
    def done(self) -> int:
        return int(self._done.value)

    @property
    def failed(self) -> int:
        return int(self._failed.value)

    def watch(self) -> None:
        """Replace the process if a round takes too long."""
        rounds = self.done + self.failed
        if rounds != self._seen[0]:
            self._seen = (rounds, time.monotonic())
        elif time.monotonic() - self._seen[1] > self._hung_s:
            self.hung += 1
            self._keep_stacks()
            self.stop()
            self._seen = (rounds, time.monotonic())
            self._child = self._begin()

    def _keep_stacks(self) -> None:
        pids = {self.name: self._child.pid or 0, "broker": self._broker_pid}
        kept = watchdog.keep_stacks(self._stacks, f"{self.name}-{self.hung}", pids)
        self.kept.append(kept)
        print(f"{self.name} makes no progress: see {kept}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        self._child.kill()
        self._child.join()

    def _begin(self) -> multiprocessing.context.ForkProcess:
        child = _FORK.Process(target=self._run, daemon=True)
        child.start()
        return child

    def _run(self) -> None:
        watchdog.write_stacks_on_signal()
        work = self._work.kinds()[self.name]
        while True:
            try:
                work()
                self._done.value += 1
            except ERRORS:
                self._failed.value += 1
            time.sleep(PAUSES_S.get(self.name, 0.1))


def soak(minutes: int, seed: int = 1) -> tuple[list[float], list[Worker], list[str]]:
    """Return the broker's MiB after each minute, the work that was done, and the failures."""
    stacks = Path(tempfile.mkdtemp(prefix="kafka-shim-soak-"))
    watchdog.prepare(stacks)
    with start(
        brokers=3,
        topics={name: {"partitions": 3} for name in TOPICS},
        users={"alice": "alice-secret"},
        acls=_rights_of_alice(),
        properties=_SETTINGS,
        log_level="error",
    ) as broker:
        pid = _child()
        workers = [
            Worker(name, Work(broker, seed), stacks, pid) for name in Work(broker, seed).kinds()
        ]
        try:
            memory, wrong = _watch(pid, minutes, workers)
        finally:
            for worker in workers:
                worker.stop()
        counts = [line.split() for line in broker.metrics().splitlines()]
        wrong += [" ".join(row) for row in counts if row[0] == _FAILED and float(row[1])]
    return memory, workers, wrong


def _rights_of_alice() -> list[dict[str, str]]:
    kinds = ("topic", "group", "transactional_id")
    return [
        {"resource_type": kind, "resource_name": "*", "principal": "User:alice", "operation": "all"}
        for kind in kinds
    ]


def _watch(pid: int, minutes: int, workers: list[Worker]) -> tuple[list[float], list[str]]:
    memory, wrong = [], []
    for minute in range(1, minutes + 1):
        before = [worker.done for worker in workers]
        for _ in range(60):
            time.sleep(1)
            for worker in workers:
                worker.watch()
        memory.append(_resident_mib(pid))
        wrong += [
            f"no round of {worker.name} in minute {minute}"
            for worker, done in zip(workers, before, strict=True)
            if worker.done == done and worker.name != "nodes"
        ]
        print(f"{minute:>3} min {memory[-1]:7.1f} MiB", file=sys.stderr, flush=True)
    return memory, wrong


def _child() -> int:
    """Return the process id of the broker, the only child process."""
    (pid,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(pid)


def _resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def growth(memory: list[float]) -> float:
    """Return the growth from minutes 6 to 10 to the last five minutes, by their medians."""
    warm = memory[WARM_MINUTES:]
    if len(warm) < 2:
        return 0.0
    few = min(5, len(warm) // 2)
    return statistics.median(warm[-few:]) / statistics.median(warm[:few]) - 1


def main() -> int:
    options = parse_arguments(__doc__, minutes=(MINUTES, "how long"))
    memory, workers, missed = soak(options.minutes)
    grown = growth(memory)
    if grown > GROWTH_MAX:
        missed.append(f"memory grew by {grown:.1%} after {WARM_MINUTES} minutes")
    lines = [f"{' '.join(f'{mib:.1f}' for mib in memory)} MiB; {grown:+.1%} since minute 5"]
    for worker in workers:
        failed = f"{worker.failed} failed, {worker.hung} clients hung"
        lines.append(f"{worker.name:<13} {worker.done:>6} rounds, {failed}")
        lines += [f"{'':<13} stacks in {kept}" for kept in worker.kept]
    figures = {
        "MiB": memory,
        "growth": grown,
        "rounds": {worker.name: worker.done for worker in workers},
        "failed": {worker.name: worker.failed for worker in workers},
        "hung": {worker.name: worker.hung for worker in workers},
    }
    return finish(options, figures, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
