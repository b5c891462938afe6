"""How long a broker takes to start and to be reset, and how much memory it holds when idle.

python benchmarks/start.py [--rounds 15] [--json] [--check]
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from protocol import codecs
from protocol.enums import ApiKey
from protocol.headers import RequestHeader, write_request_header
from protocol.messages.api_versions_request import ApiVersionsRequest
from shim.testing import start

START_TIMES_MAX = 3.5
"""Of the processor time that a bare interpreter takes to import asyncio: that of the clock is the
same where nothing else runs, and says little where much does."""
RESET_MS_MAX = 5.0
RESIDENT_MIB_MAX = 70.0

SERVE = [sys.executable, "-P", "-m", "shim", "serve", "--listener", "PLAINTEXT://127.0.0.1:0"]
BARE = [sys.executable, "-P", "-c", "import asyncio"]
RESETS = 200


def bare_ms() -> tuple[float, float]:
    """An interpreter that imports asyncio and ends: by the clock, and processor time."""
    began = time.perf_counter()
    child = subprocess.Popen(BARE)
    processor = processor_ms(child)
    return (time.perf_counter() - began) * 1000, processor


def start_processor_ms() -> float:
    """Processor time from the start of the process to the first answer."""
    child = subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        port = int(child.stdout.readline().rpartition(":")[2])
        ask_api_versions(port)
        child.kill()
        return processor_ms(child)


def processor_ms(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    """What a child has used when it ends; waits for that."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    return (used.ru_utime + used.ru_stime) * 1000


def start_ms(*options: str) -> tuple[float, float]:
    """From the start of the process to the first answer, and MiB resident a moment later."""
    began = time.perf_counter()
    child = subprocess.Popen([*SERVE, *options], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        line = child.stdout.readline()
        if options:  # the control port opens after the listeners
            while not child.stdout.readline().startswith("[KafkaServer"):
                pass
        port = int(line.rpartition(":")[2])
        ask_api_versions(port)
        took_ms = (time.perf_counter() - began) * 1000
        time.sleep(0.2)
        return took_ms, resident_mib(child.pid)
    finally:
        child.terminate()
        child.communicate()


def ask_api_versions(port: int) -> None:
    request = ApiVersionsRequest(client_software_name="start", client_software_version="1")
    frame = write_request_header(RequestHeader(ApiKey.API_VERSIONS, 3, 1, "start"))
    frame += codecs.write_request(request, 3)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(len(frame).to_bytes(4, "big") + frame)
        assert len(connection.recv(65536)) > 100


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def reset_ms() -> float:
    """What a test's reset takes through the fixture's own process; the median."""
    took = []
    with start(topics={"orders": 3}, users={"alice": "secret"}) as broker:
        for _ in range(RESETS):
            broker.topics.create("used")
            broker.acls.add(principal="alice", allow="Write", topic="used")
            began = time.perf_counter()
            broker.reset()
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def measure(rounds: int) -> dict[str, float]:
    """Best of the rounds, in which bare interpreter and broker take turns."""
    bare, plain, control, resident, resident_control = [], [], [], [], []
    bare_processor, start_processor = [], []
    with tempfile.TemporaryDirectory() as folder:
        bare_ms(), start_ms()  # what is compiled once
        for number in range(rounds):
            clock, processor = bare_ms()
            bare.append(clock)
            bare_processor.append(processor)
            start_processor.append(start_processor_ms())
            took, held = start_ms()
            plain.append(took)
            resident.append(held)
            ready = str(Path(folder) / str(number))
            took, held = start_ms("--control", "127.0.0.1:0", "--ready-file", ready)
            control.append(took)
            resident_control.append(held)
    return {
        "bare_processor_ms": min(bare_processor),
        "start_processor_ms": min(start_processor),
        "start_processor_times": min(start_processor) / min(bare_processor),
        "bare_ms": min(bare),
        "start_ms": min(plain),
        "start_times": min(plain) / min(bare),
        "start_with_control_ms": min(control),
        "start_with_control_times": min(control) / min(bare),
        "reset_ms": reset_ms(),
        "resident_mib": max(resident),
        "resident_with_control_mib": max(resident_control),
    }


def missed(found: dict[str, float]) -> list[str]:
    """The goals that are not met."""
    goals = {
        "start_processor_times": START_TIMES_MAX,
        "reset_ms": RESET_MS_MAX,
        "resident_mib": RESIDENT_MIB_MAX,
        "resident_with_control_mib": RESIDENT_MIB_MAX,
    }
    return [f"{name} is {found[name]:.2f}, goal {goal}" for name, goal in goals.items()
            if not found[name] < goal]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    args = parser.parse_args()
    found = measure(args.rounds)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name.replace('_', ' '):28} {value:8.2f}")
    failures = missed(found)
    for text in failures:
        print(f"goal missed: {text}", file=sys.stderr)
    return 3 if args.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
