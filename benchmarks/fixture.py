"""The time until the first test of a pytest session with the fixture begins, and of `--help`.

    python -m benchmarks.fixture [--rounds 10] [--json] [--check]

All figures are processor time: of pytest until the test's body runs, and of the broker that the
fixture has started. Other pytest plugins are off.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.command import finish_below, parse_arguments
from benchmarks.start import BARE, processor_ms

FIRST_TEST_MS_MAX = 300.0
HELP_TIMES_MAX = 1.5
"""Goal: a multiple of the processor time of a bare interpreter that imports asyncio."""
HELP = [sys.executable, "-P", "-m", "kafka_shim", "--help"]
PYTEST = [
    *(sys.executable, "-P", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"),
    *("-p", "kafka_shim.testing.pytest_plugin"),
]

TEST = """import os
import time
from pathlib import Path


def processor_ms(task):
    return int((task / "schedstat").read_text().split()[0]) / 1e6


def of_children():
    own = str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == own:
                yield sum(processor_ms(task) for task in (process / "task").iterdir())
        except OSError:
            continue


def test_first({fixture}):
    session_ms = time.process_time() * 1000
    Path("taken").write_text(f"{{session_ms}} {{sum(of_children())}}")
"""
"""A test that writes the processor time of its own process and of the broker, in ms."""


def first_test_ms(fixture: str) -> tuple[float, float]:
    """Return the processor time of pytest and of the broker when the first test begins."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "test_first.py").write_text(TEST.format(fixture=fixture))
        subprocess.run(
            PYTEST,
            cwd=name,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        session, broker = (Path(name) / "taken").read_text().split()
        return float(session), float(broker)


def command_ms(command: list[str]) -> float:
    return processor_ms(subprocess.Popen(command, stdout=subprocess.DEVNULL))


def measure(rounds: int) -> dict[str, float]:
    """Return the best of the rounds; each round measures everything once."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # use bytecode, as in an installed package
    bare, helps, without, within, brokers, sums = [], [], [], [], [], []
    for _ in range(rounds + 1):
        bare.append(command_ms(BARE))
        helps.append(command_ms(HELP))
        without.append(first_test_ms("")[0])
        session, broker = first_test_ms("kafka_broker")
        within.append(session)
        brokers.append(broker)
        sums.append(session + broker)
    return {
        "pytest_without_ms": min(without),
        "pytest_with_fixture_ms": min(within),
        "its_broker_ms": min(brokers),
        "first_test_ms": min(sums),
        "bare_ms": min(bare),
        "help_ms": min(helps),
        "help_times": min(helps) / min(bare),
    }


def main() -> int:
    options = parse_arguments(__doc__, rounds=(10, "number of rounds"))
    goals = {"first_test_ms": FIRST_TEST_MS_MAX, "help_times": HELP_TIMES_MAX}
    return finish_below(options, measure(options.rounds), goals)


if __name__ == "__main__":
    sys.exit(main())
