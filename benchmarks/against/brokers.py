"""The compared brokers, each in processes of its own, with their processor time."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.oracle.real_kafka import RealKafka

RELEASE = "4.4.0"
"""Of the real broker."""
MODULE = "github.com/twmb/franz-go"
_SCHEDULED = 2
"""With a process id before it: the clock of its processor time (Linux, clock_getcpuclockid)."""
_KFAKE = Path(__file__).with_name("kfake")
PASSWORDS = {"admin": "admin-secret", "alice": "alice-secret"}


class Broker:
    """A running broker: its SASL PLAIN address, its processes, and the seconds until they were
    ready.
    """

    def __init__(
        self, name: str, address: str, pids: list[int], version: str = "", start_s: float = 0.0
    ) -> None:
        host, _, port = address.rpartition(":")
        self.name = name
        self.address = (host, int(port))
        self.version = version
        self.start_s = start_s
        self._pids = pids

    def processor_s(self) -> float:
        """Return the processor time so far of all threads, in seconds."""
        return processor_s(self._pids)

    def resident_mib(self) -> float:
        """Return the resident memory of its processes."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids)
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_s(pids: Iterable[int]) -> float:
    """Return the processor time of these processes so far, in seconds.

    Threads that have ended count too, such as those that handle large requests.
    """
    return sum(time.clock_gettime(~pid << 3 | _SCHEDULED) for pid in pids)


@contextlib.contextmanager
def shim(
    name: str = "shim", *options: str, under: Sequence[str] = (), path: str = ""
) -> Iterator[Broker]:
    """Start the shim, from the package in the folder `path` if one is given; `under` is the
    command of a tool that runs the shim, and sees it end by itself.
    """
    environment = os.environ | ({"PYTHONPATH": path} if path else {})
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        command = [sys.executable, "-P", "-m", "kafka_shim", "serve", "--ready-file", str(ready)]
        command += ["--listener", "SASL_PLAINTEXT://127.0.0.1:0", "--super-user", "User:admin"]
        for user, password in PASSWORDS.items():
            command += ["--user", f"{user}:{password}"]
        began = time.perf_counter()
        child = subprocess.Popen(
            [*under, *command, *options], stdout=subprocess.DEVNULL, env=environment
        )
        try:
            while not ready.exists():
                assert child.poll() is None, "the shim has ended"
                time.sleep(0.02)
            start_s = time.perf_counter() - began
            found = dict(line.split("=") for line in ready.read_text().split())
            yield Broker(name, found["SASL_PLAINTEXT"], [child.pid], start_s=start_s)
        finally:
            child.send_signal(signal.SIGTERM if under else signal.SIGKILL)
            child.wait()


@contextlib.contextmanager
def shim_with_history() -> Iterator[Broker]:
    """Start the shim like the pytest fixture, with the control API's history of requests."""
    with shim("history", "--control", "127.0.0.1:0") as broker:
        yield broker


class KfakeProcess(NamedTuple):
    """A running kfake: its addresses, version, process, and seconds until it printed them."""

    addresses: list[str]
    version: str
    pid: int
    start_s: float


@contextlib.contextmanager
def kfake() -> Iterator[Broker]:
    with kfake_process() as found:
        yield Broker("kfake", found.addresses[0], [found.pid], found.version, found.start_s)


@contextlib.contextmanager
def kfake_process(*arguments: str) -> Iterator[KfakeProcess]:
    """Build and start the newest kfake that the Go proxy has, with the newest franz-go."""
    with tempfile.TemporaryDirectory() as folder:
        for path in _KFAKE.iterdir():
            shutil.copy(path, folder)
        for wanted in (f"{MODULE}/pkg/kfake@latest", f"{MODULE}@latest"):
            subprocess.run(["go", "get", wanted], cwd=folder, check=True, capture_output=True)
        program = Path(folder) / "against"
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=folder, check=True)
        asked = ["go", "list", "-m", f"{MODULE}/pkg/kfake"]
        said = subprocess.run(asked, cwd=folder, check=True, capture_output=True, text=True)
        version = said.stdout.split()[-1]
        began = time.perf_counter()
        child = subprocess.Popen([str(program), *arguments], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        try:
            addresses = child.stdout.readline().split()
            yield KfakeProcess(addresses, version, child.pid, time.perf_counter() - began)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


@contextlib.contextmanager
def real() -> Iterator[Broker]:
    began = time.perf_counter()
    with RealKafka(RELEASE) as kafka:
        start_s = time.perf_counter() - began
        yield Broker("real", kafka.sasl, kafka.pids, kafka.release, start_s)


OPENED: dict[str, Callable[[], contextlib.AbstractContextManager[Broker]]] = {
    "shim": shim,
    "history": shim_with_history,
    "kfake": kfake,
    "real": real,
}


def on_core(core: int) -> None:
    """Restrict this process, and those that it starts, to one core."""
    os.sched_setaffinity(0, {core})
