"""Compare copies of the shim that lie with the test vectors of real brokers."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kafka_shim
from tests.mutants.mutant import Mutant, MutantError, plant_bug

_ROOT = Path(__file__).parents[2]
_TIMEOUT_S = 900


def diagnosis_or_none(mutant: Mutant) -> str | None:
    """Return the first vector that differs; None if the bug survives all of its files.

    Raise MutantError if the copy does not start.
    """
    assert kafka_shim.__file__ is not None
    with tempfile.TemporaryDirectory(prefix="kafka-shim-mutant-") as folder:
        copy = plant_bug(mutant, Path(kafka_shim.__file__).parent, Path(folder))
        for file in mutant.cases:
            done = subprocess.run(
                [sys.executable, "-m", "tests.mutants.first_difference", file],
                env=os.environ | {"PYTHONPATH": os.pathsep.join((str(copy), str(_ROOT)))},
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
            if done.stdout:
                return done.stdout.strip()
            if done.returncode:
                last_line = done.stderr.strip().rpartition("\n")[2]
                raise MutantError(f"`{mutant.name}`: the vectors cannot be run: {last_line}")
    return None
