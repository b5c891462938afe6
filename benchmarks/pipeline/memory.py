"""The cost of a command: elapsed seconds, and the maximum memory of all its processes together."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.pipeline.ratio import process_tree, processor_seconds

LOOK_S = 0.25
HEAP_OF_A_SMALL_MACHINE = {"SPARK_DRIVER_MEMORY": "2g"}
"""Half of 4 GiB, which a job takes there by itself. Java fills what it is given, needed or not."""


class Taken(msgspec.Struct):
    """The cost of a command, and the JSON object that it printed."""

    seconds: float
    processor_seconds: float
    mib: float
    printed: dict[str, Any]


def run_job(*words: str) -> Taken:
    """Run `kafka-shim pipeline` on two cores and with the heap that a machine of 4 GiB has, in its
    own process with its own Spark.
    """
    command = [sys.executable, "-P", "-m", "kafka_shim", "pipeline", *words]
    begin, used, most = time.perf_counter(), 0.0, 0
    with (
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile() as said,
    ):  # a pipe could fill up
        with subprocess.Popen(
            [*command, "--json", "--master", "local[2]"],
            stdout=printed,
            stderr=said,
            env={**os.environ, **HEAP_OF_A_SMALL_MACHINE},
        ) as running:
            while running.poll() is None:
                most = max(most, sum(map(_proportional_kib, process_tree(running.pid))))
                used = max(used, processor_seconds(running.pid))
                time.sleep(LOOK_S)
        seconds = time.perf_counter() - begin
        printed.seek(0)
        said.seek(0)
        if running.returncode:
            raise RuntimeError(f"{' '.join(words)}: {said.read().decode().strip()}")
        return Taken(seconds, used, most / 1024, json.loads(printed.read()))


def _proportional_kib(pid: int) -> int:
    """Return the memory of a process, with its share of shared pages."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # the process has just ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
