"""Record runs of the kit, play them back without a broker, and compare what the clients said.

    python -m tests.clients.cassettes [--workload NAME] [--release 4.3.1 | --shim] [--keep DIR]
        [--packages DIR]

The workloads are those of `both_ways`, and one for each client of `suite_play`. A client ends in a
playback as it did when it was recorded: the answers of its driver are equal, and no request is
without a recorded response. A recording is kept only if the client did everything (see
`failures`), and if it then ends in a playback as it did. `--packages` plays with other versions of
Python clients, installed by `pip install --target DIR`. Exit code 3: an answer differs. Needs Java
17 and Maven, and Go, Node and Rust for their clients.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.client.client import ClientError, connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.schemas.pins import read_pins
from tests.clients import both_ways
from tests.clients.both_ways import (
    _ADDRESS,
    NAMES,
    SETTINGS,
    Workload,
    _make_topic,
    _running,
    _shim,
)
from tests.clients.kit import PLAY_SECONDS, PLAYS
from tests.clients.suite_play import STEPS, SUITE_CLIENTS
from tests.oracle.real_kafka import RealKafka
from tests.support.commands import SHIM

DIFFERENT = 3
SUITE = "suite"
WORKLOADS = both_ways.WORKLOADS | {name: Workload([name], SUITE) for name in SUITE_CLIENTS}
COORDINATOR_SECONDS = 120
_GAVE_UP = frozenset({7, -185, -192, -195})
"""REQUEST_TIMED_OUT, and librdkafka's _TIMED_OUT, _MSG_TIMED_OUT and _TRANSPORT."""
_NO_SUCH_CALL = frozenset({"KeyError", "TypeError", "no call is named transact"})
"""What drivers answer to a call that they do not have: the names or the text of their errors."""
_NUMBER = re.compile(r"\d+|(?<=/)bootstrap\b")
"""In a text: librdkafka names a broker by its id, or `bootstrap` until it knows it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only this one")
    parser.add_argument("--release", default=read_pins().newest)
    parser.add_argument("--shim", action="store_true", help="record on the shim")
    parser.add_argument("--match", default="order")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the traces there")
    parser.add_argument("--packages", type=Path, metavar="DIR", help="packages to play with")
    args = parser.parse_args()
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.workload or WORKLOADS:
            trace, said = (Path(folder, f"{name}.{suffix}") for suffix in ("ktrace", "answers"))
            is_kept = args.keep is not None and (args.keep / said.name).exists()
            if is_kept:
                for file in trace, said:
                    shutil.copy(args.keep / file.name, file)
            else:
                answers = _record(WORKLOADS[name], args, trace)
                failed = failures(WORKLOADS[name], answers)
                if failed:
                    texts = "\n".join(failed)
                    sys.stdout.write(f"{name}: not kept, since the client failed:\n{texts}\n")
                    differences += 1
                    continue
                said.write_text("\n".join(answers))
            recorded = [*map(comparable, said.read_text().splitlines())]
            began = time.monotonic()
            played, report = play(WORKLOADS[name], args, trace)
            sys.stdout.write(
                f"{name}: {report['requests']} requests, {report['mismatch_count']} mismatches,"
                f" {time.monotonic() - began:.1f} s\n"
            )
            differing = _tell(recorded, played, report)
            differences += differing
            if args.keep is not None and not is_kept and not differing:
                for file in trace, said:
                    shutil.copy(file, args.keep)
    return DIFFERENT if differences else 0


def _record(workload: Workload, args: argparse.Namespace, trace: Path) -> list[str]:
    with contextlib.ExitStack() as stack:
        if args.shim:
            upstream = stack.enter_context(_shim(args.release))
        else:
            kafka = stack.enter_context(RealKafka(args.release, settings=SETTINGS))
            upstream = kafka.plain, kafka.sasl
            _wait_for_coordinators(kafka.plain)
        options = ["--playback-mode", "all"]
        for name, address in zip(NAMES, upstream, strict=True):
            options += ["--upstream", f"{name}={address}"]
        with _cassette(trace, options) as addresses:
            if workload.replay == "member":
                _make_topic(addresses[0])
            return _answers(workload, addresses)


def failures(workload: Workload, answers: Sequence[str]) -> list[str]:
    """Return the answers that show that a client gave up: too few records, no answer, or an error
    that no broker has sent.
    """
    if workload.replay == SUITE:
        told = [json.loads(line) for line in answers]
        unopened = {
            step.client
            for step, answer in ((STEPS[answer["id"]], answer) for answer in told)
            if step.command == "open" and "ok" not in answer
        }
        return [
            line
            for line, answer in zip(answers, told, strict=True)
            if _suite_step_failed(answer, unopened)
        ]
    calls = [each for _ in workload.clients for each in PLAYS[workload.replay]]
    failed = [f"{len(answers)} answers to {len(calls)} calls"] * (len(answers) != len(calls))
    if workload.replay == "member":  # its members wait for more records than there are
        return failed
    for (name, login, arguments), line in zip(calls, answers, strict=False):
        answer = json.loads(line)
        if "result" in answer:
            is_failure = name == "consume" and len(answer["result"]) < arguments["count"]
        else:
            error = answer["error"]
            has_no_call = not _NO_SUCH_CALL.isdisjoint((error["name"], error["text"]))
            is_own = error["code"] is None and not has_no_call
            is_failure = error["code"] in _GAVE_UP or (login is None and is_own)
        if is_failure:
            failed.append(f"{name}: {line}")
    return failed


def _suite_step_failed(answer: dict[str, Any], unopened: Collection[str]) -> bool:
    """Return whether a command had an error or too few records, except of clients that are denied
    or rejected. Clients that could not be opened left no records.
    """
    step = STEPS[answer["id"]]
    if step.client in ("alice", "stranger"):
        return "error" in answer and answer["error"]["code"] in _GAVE_UP
    return "error" in answer or (
        bool(step.records) and "ok" in answer and len(answer["ok"]["values"]) < step.count(unopened)
    )


def _wait_for_coordinators(address: str) -> None:
    """Wait until groups and transactions have coordinators: some clients give up before."""
    ends = time.monotonic() + COORDINATOR_SECONDS
    while not _has_coordinators(address):
        assert time.monotonic() < ends, "there is no coordinator"
        time.sleep(0.2)


def _has_coordinators(address: str) -> bool:
    requests = (FindCoordinatorRequest("g", kind) for kind in (0, 1))
    try:
        with connect(address) as client:
            responses = [client.send_request(ApiKey.FIND_COORDINATOR, each, 3) for each in requests]
    except ClientError:  # a broker that starts can take longer to answer
        return False
    return not any(each.error_code for each in responses)


@contextlib.contextmanager
def _cassette(trace: Path, options: Sequence[str]) -> Iterator[Sequence[str]]:
    command = [*SHIM, "serve", "--playback", str(trace), *options]
    for name in NAMES:
        command += ["--listener", f"{name}://127.0.0.1:0"]
    with _running(command, "[KafkaServer") as said:
        yield _ADDRESS.findall(said)


def play(
    workload: Workload, args: argparse.Namespace, trace: Path
) -> tuple[list[str], dict[str, Any]]:
    """Return what the drivers answered, and the report of the playback."""
    report = trace.with_suffix(".json")
    options = ["--match", args.match, "--playback-report", str(report)]
    with _cassette(trace, [*options, "--user", "alice:alice-secret"]) as addresses:
        if workload.replay == "member":
            _make_topic(addresses[0])
        answers = _answers(workload, addresses, args.packages)
    return answers, json.loads(report.read_bytes())


def _answers(
    workload: Workload, addresses: Sequence[str], packages: Path | None = None
) -> list[str]:
    """Return what the drivers answered, one line per call, clients one after another."""
    variables = {f"KAFKA_BOOTSTRAP_SERVERS_{n}": a for n, a in zip(NAMES, addresses, strict=True)}
    if packages is not None:
        variables["PYTHONPATH"] = str(packages)
    children = []
    for client in workload.clients:
        children.append(
            subprocess.Popen(
                [sys.executable, "-m", *_module(workload), client],
                env=os.environ | variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        time.sleep(workload.apart_s)
    return [
        comparable(_ADDRESS.sub("ADDRESS", line))
        for child in children
        for line in child.communicate(timeout=PLAY_SECONDS)[0].splitlines()
    ]


def _module(workload: Workload) -> Sequence[str]:
    if workload.replay == SUITE:
        return ("tests.clients.suite_play",)
    return "tests.clients.kit", workload.replay


def comparable(line: str) -> str:
    """Return an answer with sorted names, since some clients return sets, and texts of errors
    without times and numbers of connections.
    """
    return json.dumps(_comparable_value("", json.loads(line)), sort_keys=True)


def _comparable_value(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _comparable_value(key, each) for key, each in value.items()}
    if isinstance(value, list):
        is_set = name != "values" and all(isinstance(each, str) for each in value)
        return sorted(value) if is_set else [_comparable_value(name, each) for each in value]
    return _NUMBER.sub("N", value) if name == "text" and value is not None else value


def _tell(recorded: list[str], played: list[str], report: dict[str, Any]) -> int:
    differences = 0
    for number in range(max(len(recorded), len(played))):
        both = [lines[number] if number < len(lines) else "nothing" for lines in (recorded, played)]
        if both[0] != both[1]:
            differences += 1
            sys.stdout.write(f"  call {number}: {both[0][:300]}\n    -> {both[1][:300]}\n")
    for mismatch in report["mismatches"][:12]:
        sys.stdout.write(f"  {mismatch}"[:700] + "\n")
    for name in ("changes", "unsent", "early", "repeated"):
        sys.stdout.write(f"  {name}: {report[name]}"[:1200] + "\n")
    sys.stdout.flush()
    return differences + int(report["mismatch_count"])


if __name__ == "__main__":
    sys.exit(main())
