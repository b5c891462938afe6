"""Large traces: the time of jobs, and the memory of all their processes together."""

import argparse
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

from benchmarks.pipeline.data import random_acls
from benchmarks.pipeline.memory import Taken, run_job
from benchmarks.pipeline.ratio import tell
from benchmarks.pipeline.sized import NAMES_A_REQUEST, Workload
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.protocol.enums import Operation, ResourceType

REQUESTS_A_FILE, REQUESTS_A_BLOCK = 20, 500
LIMIT_MIB = 4096
DIFFERENT = 200_000
"""The number of different requests in the large trace; the small files have a tenth."""
PADDING = 100
"""Additional bytes in each request, so that 5,000,000 of them are 2 GB."""


class Size(msgspec.Struct):
    """A figure: the job, the trace, and the time and memory that it took."""

    name: str
    trace: str
    seconds: float
    processor_seconds: float
    mib: float
    limit_mib: int = LIMIT_MIB

    @property
    def is_met(self) -> bool:
        return self.mib <= self.limit_mib

    def line(self) -> str:
        """Return a row of the table."""
        missed = "" if self.is_met else ", **missed**"
        times = [f"{value:.0f} s" for value in (self.seconds, self.processor_seconds)]
        cells = [self.name, self.trace, *times, f"{self.mib:.0f} MiB"]
        return f"| {' | '.join(cells)} | {self.limit_mib} MiB{missed} |"


class Sized(msgspec.Struct):
    """A trace, and its known content."""

    path: Path
    workload: Workload
    requests: int
    what: str

    def measured(self, name: str, *words: str) -> tuple[Size, Taken]:
        """Measure a job, and check that it read all accesses."""
        tell(f"  {name} of {self.what}")
        taken = run_job(name, str(self.path), *words)
        head = taken.printed
        seen = head["accesses"], head["distinct"]
        expected = self.requests * NAMES_A_REQUEST, len(self.workload.accesses(self.requests))
        assert seen == expected, f"{seen} accesses and different ones, not {expected}"
        return Size(name, self.what, taken.seconds, taken.processor_seconds, taken.mib), taken


@cache
def small_files(folder: Path, files: int) -> Sized:
    """Write many small segments, like test runs that leave a few each."""
    tell(f"  {files} files are made")
    workload, requests = Workload(DIFFERENT // 10, DIFFERENT // 10), files * REQUESTS_A_FILE
    workload.write(folder / "files", requests, REQUESTS_A_FILE, 1)
    return Sized(folder / "files", workload, requests, f"{files} files")


@cache
def large_file(folder: Path, accesses: int, acls: int) -> Sized:
    """Write one large segment, as an import does."""
    tell(f"  one file of {accesses} accesses is made")
    workload, requests = Workload(DIFFERENT, acls, PADDING), accesses // NAMES_A_REQUEST
    workload.write(folder / "large", requests, REQUESTS_A_BLOCK, 1 << 50)
    (path,) = (folder / "large").iterdir()
    what = f"{accesses} accesses in one file of {path.stat().st_size / 1e9:.1f} GB"
    return Sized(path, workload, requests, what)


@cache
def acl_file(folder: Path, acls: int) -> Path:
    path = folder / "acls.csv"
    path.write_text(format_acls_losslessly(random_acls(acls), "csv"))
    return path


def denials_of_files(folder: Path, args: argparse.Namespace) -> Size:
    return _denials(small_files(folder, args.files))


def denials_of_file(folder: Path, args: argparse.Namespace) -> Size:
    return _denials(large_file(folder, args.trace_accesses, args.acls))


def _denials(trace: Sized) -> Size:
    size, taken = trace.measured("denials")
    found = sum(row["requests"] for row in taken.printed["rows"])
    assert found == trace.workload.denied(trace.requests), found
    return size


def what_breaks(folder: Path, args: argparse.Namespace) -> Size:
    trace = large_file(folder, args.trace_accesses, args.acls)
    size, taken = trace.measured("what-breaks", "--acls", str(acl_file(folder, args.acls)))
    head = taken.printed
    expected = changed(trace.workload.accesses(trace.requests), random_acls(args.acls))
    assert (head["newly_denied"], head["newly_allowed"]) == expected, expected
    return size


def unused_acls(folder: Path, args: argparse.Namespace) -> Size:
    trace = large_file(folder, args.trace_accesses, args.acls)
    size, taken = trace.measured("unused-acls", "--acls", str(acl_file(folder, args.acls)))
    assert len(taken.printed["rows"]) == args.acls
    return size


def least_acls(folder: Path, args: argparse.Namespace) -> Size:
    trace = large_file(folder, args.trace_accesses, args.acls)
    size, taken = trace.measured("least-acls")
    allowed = {key: ok for key, ok in trace.workload.accesses(trace.requests).items() if ok}
    assert len(taken.printed["rows"]) == len({(who, name) for who, _, name in allowed})
    return size


def changed(accesses: dict[tuple[str, str, str], bool], acls: list[Acl]) -> tuple[int, int]:
    """Return the numbers of accesses that these ACLs would newly deny and newly allow."""
    judge = StandardAuthorizer(store=AclStore(acls))
    found: Counter[bool] = Counter()
    for (principal, host, name), allowed in accesses.items():
        action = Action(Operation.READ, ResourceType.TOPIC, name)
        if judge.decide_uncached(Actor(principal, host), action).allowed != allowed:
            found[allowed] += 1
    return found[True], found[False]


SIZES: dict[str, Callable[[Path, argparse.Namespace], Size]] = {
    "files": denials_of_files,
    "large denials": denials_of_file,
    "large what-breaks": what_breaks,
    "large unused-acls": unused_acls,
    "large least-acls": least_acls,
}
HEAD = "| job | trace | elapsed | processor time | memory | limit |\n|---|---|---|---|---|---|"
