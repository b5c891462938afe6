"""The time to start and to reset a broker, and its memory when idle.

python -m benchmarks.start [--rounds 15] [--json] [--check]

`start_ms` depends on the processor, so it has no goal of its own: a bare interpreter's time times
START_TIMES_MAX is the limit.
"""

import contextlib
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE
from typing import IO
from urllib.request import urlopen

from benchmarks.broker import ask_versions
from benchmarks.command import finish_below, parse_arguments
from kafka_shim.testing.broker_start import start

START_TIMES_MAX = 2.0
CONTROL_TIMES_MAX = 2.8
"""Goal: a multiple of the processor time in which a bare interpreter imports asyncio. Elapsed time
would depend on the machine's other load."""
RESET_MS_MAX = 1.0
"""Goal for a reset over the control API, as a fixture does it between tests."""
ACLS_MS_MAX = 250.0
"""Goal for the processor time, so that a command takes clearly less than half a second."""
RESIDENT_MIB_MAX = 28.0
CONTROL_RESIDENT_MIB_MAX = 70.0
IN_PROCESS_MIB_MAX = 2.0
GOALS = {
    "start_processor_times": START_TIMES_MAX,
    "start_with_control_processor_times": CONTROL_TIMES_MAX,
    "acls_processor_ms": ACLS_MS_MAX,
    "reset_ms": RESET_MS_MAX,
    "resident_mib": RESIDENT_MIB_MAX,
    "resident_with_control_mib": CONTROL_RESIDENT_MIB_MAX,
    "in_process_mib": IN_PROCESS_MIB_MAX,
}

SERVE = [
    *(sys.executable, "-P", "-m", "kafka_shim", "serve"),
    *("--listener", "PLAINTEXT://127.0.0.1:0", "--super-user", "User:ANONYMOUS"),
]
BARE = [sys.executable, "-P", "-c", "import asyncio"]
CONTROL = ["--control", "127.0.0.1:0"]
_SHOW_IMPORTS = ["-X", "importtime"]
_IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \| +(\S+)")
"""A line of Python about an imported module: microseconds without its own imports, and the name."""
RESETS = 200
_IN_PROCESS = 50


def bare_ms() -> tuple[float, float]:
    """Return the time of an interpreter that only imports asyncio: elapsed, and processor time."""
    began = time.perf_counter()
    child = subprocess.Popen(BARE)
    processor = processor_ms(child)
    return (time.perf_counter() - began) * 1000, processor


def start_processor_ms(*options: str) -> float:
    """Return the processor time from the start of the process to the first response."""
    child = subprocess.Popen([*SERVE, *options], stdout=PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        port, _ = told_when_started(child.stdout)
        ask(port)
        child.kill()
        return processor_ms(child)


def told_when_started(printed: IO[str]) -> tuple[int, str | None]:
    """Return the listener's port and the control API's address from the broker's output."""
    port = int(printed.readline().rpartition(":")[2])
    control = None
    for line in iter(printed.readline, ""):
        if line.startswith("control on "):
            control = line.split()[-1]
        if line.startswith("[KafkaServer"):
            break
    return port, control


def import_ms() -> dict[str, float]:
    """Return the milliseconds of a start's imports: of the modules that a bare interpreter imports
    too, of other libraries, and of the shim.
    """
    bare = subprocess.run(_showing_imports(BARE), stderr=PIPE, text=True, check=True).stderr
    command = _showing_imports(SERVE)
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as child:
        assert child.stdout is not None
        ask(told_when_started(child.stdout)[0])
        child.terminate()
        lines = child.communicate()[1]
    of_bare = {name for _, name in _IMPORT.findall(bare)}
    found = {"imports_as_bare_ms": 0.0, "imports_of_libraries_ms": 0.0, "imports_of_shim_ms": 0.0}
    for us, name in _IMPORT.findall(lines):
        is_own = name.startswith("kafka_shim")
        of = "as_bare" if name in of_bare else "of_shim" if is_own else "of_libraries"
        found[f"imports_{of}_ms"] += int(us) / 1000
    return found


def _showing_imports(command: list[str]) -> list[str]:
    return [command[0], *_SHOW_IMPORTS, *command[1:]]


def processor_ms(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    """Wait for a child's end; return its processor time."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    return (used.ru_utime + used.ru_stime) * 1000


def start_ms(*options: str) -> tuple[float, float]:
    """Return the time from the start of the process to the first response, and MiB a moment later.

    With a control port, its first response is included, since it imports modules.
    """
    began = time.perf_counter()
    child = subprocess.Popen([*SERVE, *options], stdout=PIPE, text=True)
    assert child.stdout is not None
    try:
        port, control = told_when_started(child.stdout)
        ask(port)
        took_ms = (time.perf_counter() - began) * 1000
        if control is not None:
            assert urlopen(f"{control}/health", timeout=10).status == 200
        time.sleep(0.2)
        return took_ms, resident_mib(child.pid)
    finally:
        child.terminate()
        child.communicate()


def ask(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        ask_versions(connection)


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def in_process_mib() -> float:
    """Return the memory of each of 50 brokers in one process, after a first one."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(start(in_process=True))
        before = resident_mib(os.getpid())
        for _ in range(_IN_PROCESS):
            stack.enter_context(start(in_process=True))
        return (resident_mib(os.getpid()) - before) / _IN_PROCESS


def reset_ms() -> float:
    """Return the median time of a test's reset over the control API."""
    took = []
    with start(topics={"orders": 3}, users={"alice": "secret"}) as broker:
        for _ in range(RESETS):
            broker.topics.create("used")
            broker.acls.add(principal="alice", allow="Write", topic="used")
            began = time.perf_counter()
            broker.reset()
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def acls_processor_ms(rounds: int) -> float:
    """Return the best processor time of `kafka-shim acls --list` with a running broker."""
    with start() as broker:
        broker.acls.add(principal="alice", allow="Write", topic="orders")
        where = ["--bootstrap-server", broker.bootstrap_servers, "--list"]
        command = [sys.executable, "-P", "-m", "kafka_shim", "acls", *where]
        return min(
            processor_ms(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            for _ in range(rounds)
        )


def measure(rounds: int) -> dict[str, float]:
    """Return the best of the rounds, each with a bare interpreter and with a broker."""
    bare, plain, control, resident, resident_control = [], [], [], [], []
    imports = []
    bare_processor, start_processor, control_processor = [], [], []
    bare_ms(), start_ms(), start_ms(*CONTROL)  # compile modules
    for _ in range(rounds):
        imports.append(import_ms())
        clock, processor = bare_ms()
        bare.append(clock)
        bare_processor.append(processor)
        start_processor.append(start_processor_ms())
        control_processor.append(start_processor_ms(*CONTROL))
        took, held = start_ms()
        plain.append(took)
        resident.append(held)
        took, held = start_ms(*CONTROL)
        control.append(took)
        resident_control.append(held)
    return {
        "bare_processor_ms": min(bare_processor),
        "start_processor_ms": min(start_processor),
        "start_processor_times": min(start_processor) / min(bare_processor),
        "start_with_control_processor_ms": min(control_processor),
        "start_with_control_processor_times": min(control_processor) / min(bare_processor),
        "bare_ms": min(bare),
        "start_ms": min(plain),
        "start_times": min(plain) / min(bare),
        "start_with_control_ms": min(control),
        "start_with_control_times": min(control) / min(bare),
        **min(imports, key=lambda found: sum(found.values())),
        "acls_processor_ms": acls_processor_ms(rounds),
        "reset_ms": reset_ms(),
        "resident_mib": max(resident),
        "resident_with_control_mib": max(resident_control),
        "in_process_mib": in_process_mib(),
    }


def main() -> int:
    options = parse_arguments(__doc__, rounds=(15, "number of rounds"))
    return finish_below(options, measure(options.rounds), GOALS)


if __name__ == "__main__":
    sys.exit(main())
