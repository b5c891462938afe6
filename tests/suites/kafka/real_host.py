"""The Java process that starts and stops real brokers for Kafka's own tests."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites.cache import SuiteError
from tests.suites.kafka import jars

STOP_SECONDS = 30


class RealHost:
    """Runs java/host/RealHost.java, which exits when its standard input ends."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="kafka-suite-")
        log = Path(self._folder.name) / "log"
        path = f"{jars.classes(jars.HOST)}:{jars.libraries()}/*"
        options = ["-Xmx1g", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
        with log.open("wb") as errors:
            self._child = subprocess.Popen(
                ["java", *options, "-cp", path, "RealHost"],
                cwd=self._folder.name,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self._child.stdout is not None
        port = self._child.stdout.readline().decode().strip()
        if not port:
            self.close()
            raise SuiteError(f"the host of real brokers did not start:\n{log.read_text()[-2000:]}")
        self.address = f"http://127.0.0.1:{port}"

    @property
    def processor_seconds(self) -> float:
        """Return the user and system time of the process so far."""
        fields = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._folder.cleanup()
