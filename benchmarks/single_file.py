"""The single file and the installed package of the same Python: start, memory and size.

python -m benchmarks.single_file [--file dist/kafka-shim] [--installed .venv-binary/bin/kafka-shim]
"""

import resource
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from benchmarks.command import finish_below, parse_arguments
from benchmarks.start import ask, told_when_started

SERVE = ("serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--super-user", "User:ANONYMOUS")
CONTROL = ("--control", "127.0.0.1:0")
GOALS = {
    "start_times": 1.5,
    "start_with_control_times": 1.5,
    "start_and_stop_processor_times": 1.5,
    "size_mib": 40.0,
}


def resident_mib(pid: int) -> float:
    """Return the memory of a process and its children: the single file has two processes."""
    folder = Path("/proc") / str(pid)
    [line] = [line for line in (folder / "status").read_text().splitlines() if "VmRSS" in line]
    children = (folder / "task" / str(pid) / "children").read_text().split()
    return int(line.split()[1]) / 1024 + sum(resident_mib(int(child)) for child in children)


def processor_ms() -> float:
    """Return the processor time of ended children, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def start(program: str, *options: str) -> tuple[float, float]:
    """Return the ms from the start of the process to the first response, and MiB when idle."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [program, *SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
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


def command_ms(program: str) -> float:
    """Return the ms that `acls` needs to convert an ACL."""
    began = time.perf_counter()
    acl = "- {principal: User:alice, allow: [Read], topic: orders}"
    command = [program, "acls", "--acls", "-", "--format", "csv"]
    subprocess.run(command, input=acl, stdout=subprocess.DEVNULL, text=True, check=True)
    return (time.perf_counter() - began) * 1000


def measure(file: Path, installed: Path, rounds: int) -> dict[str, float]:
    """Return the best of rounds in which the two take turns."""
    best: dict[str, float] = {"size_mib": file.stat().st_size / 1024**2}
    for _ in range(rounds):
        for prefix, path in (("", file), ("installed_", installed)):
            program = str(path.resolve())
            used = processor_ms()
            took, resident = start(program)
            start_processor_ms = processor_ms() - used
            took_with_control, resident_with_control = start(program, *CONTROL)
            for name, value in {
                "start_ms": took,
                "start_and_stop_processor_ms": start_processor_ms,
                "start_with_control_ms": took_with_control,
                "acls_ms": command_ms(program),
                "resident_mib": resident,
                "resident_with_control_mib": resident_with_control,
            }.items():
                best[prefix + name] = min(value, best.get(prefix + name, value))
    for name in ("start", "start_and_stop_processor", "start_with_control", "acls"):
        best[f"{name}_times"] = best[f"{name}_ms"] / best[f"installed_{name}_ms"]
    return best


def main() -> int:
    options = parse_arguments(
        __doc__,
        rounds=(15, "number of rounds"),
        file=("dist/kafka-shim", "the single file"),
        installed=(".venv-binary/bin/kafka-shim", "the installed package"),
    )
    figures = measure(Path(options.file), Path(options.installed), options.rounds)
    return finish_below(options, figures, GOALS)


if __name__ == "__main__":
    sys.exit(main())
