"""Programs started by a suite end with it."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# the program sleeps, so that the runner waits for it
RUNNER = """
import sys
from pathlib import Path
from tests.suites.cache import end_all_on_sigterm, run_to_file

end_all_on_sigterm()
folder = Path(sys.argv[1])
words = ["sh", "-c", "echo $$ > own; sleep 60 & echo $! > child; sleep 0.5; mv child started; wait"]
run_to_file(words, folder, {}, folder / "output", 60)
"""
SECONDS = 10


def test_sigterm_ends_the_suite_and_its_programs(tmp_path: Path) -> None:
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path)])
    try:
        _wait((tmp_path / "started").exists)
        runner.terminate()
        assert runner.wait(SECONDS) == 128 + 15
    finally:
        runner.kill()
        runner.wait()
    started = [int((tmp_path / name).read_text()) for name in ("own", "started")]
    _wait(lambda: not any(_runs(process) for process in started))


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
