"""A worker of Kafka Connect whose connectors copy the lines of a file to a topic and back."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.oracle.real_kafka import fetched, free_ports

RELEASE = "4.3.1"
"""The last release whose Kafka Connect is in the Maven registry."""
LINES = "to be\nor not\n"
START_SECONDS = 60
COPY_SECONDS = 30
_PACKAGE = "org.apache.kafka.connect"


class ConnectWorker:
    """Starts one worker for each run; its topics and group are named after the run."""

    def __init__(self, servers: str, user: str, folder: Path) -> None:
        self._servers, self._user, self._folder = servers, user, folder

    def copies_lines(self, name: str) -> str:
        """Run the connectors; return the error, empty if the lines were copied."""
        [port] = free_ports(1)
        folder = self._folder / name
        folder.mkdir()
        (folder / "in.txt").write_text(LINES)
        settings = self._worker(name, port)
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        (folder / "worker.properties").write_text(lines)
        group = "org.apache.kafka"
        wanted = [(group, "connect-runtime", RELEASE), (group, "connect-file", RELEASE)]
        libs = fetched(f"connect-{RELEASE}", [*wanted, ("org.slf4j", "slf4j-simple", "1.7.36")])
        command = ["java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-cp", f"{libs}/*"]
        with (folder / "log").open("w") as log:
            worker = subprocess.Popen(
                [*command, f"{_PACKAGE}.cli.ConnectDistributed", "worker.properties"],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            return self._copied(worker, port, name, folder)
        finally:
            worker.kill()
            worker.wait()

    def _copied(self, worker: subprocess.Popen[bytes], port: int, name: str, folder: Path) -> str:
        for kind, settings in self._connectors(name, folder).items():
            path = f"connectors/{name}-{kind}/config"
            failure = _put(worker, f"http://127.0.0.1:{port}/{path}", settings)
            if failure:
                return f"{failure}; {_errors(folder)}"
        deadline = time.monotonic() + COPY_SECONDS
        while time.monotonic() < deadline:
            out = folder / "out.txt"
            if out.exists() and out.read_text() == LINES:
                return ""
            time.sleep(0.2)
        return f"nothing was copied; {_errors(folder)}"

    def _worker(self, name: str, port: int) -> dict[str, str]:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        user = f'username="{self._user}" password="{self._user}-secret"'
        login = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f"{module} required {user};",
        }
        sides = ("", "producer.", "consumer.", "admin.")
        converter = f"{_PACKAGE}.storage.StringConverter"
        stores = ("config", "offset", "status")
        return {
            "bootstrap.servers": self._servers,
            "group.id": name,
            "key.converter": converter,
            "value.converter": converter,
            "listeners": f"http://127.0.0.1:{port}",
            "plugin.discovery": "only_scan",
            "offset.flush.interval.ms": "500",
            **{f"{store}.storage.topic": f"{name}-{store}" for store in stores},
            **{f"{store}.storage.replication.factor": "1" for store in stores},
            **{f"{store}.storage.partitions": "1" for store in stores[1:]},
            **{f"{side}{key}": value for side in sides for key, value in login.items()},
        }

    def _connectors(self, name: str, folder: Path) -> dict[str, dict[str, str]]:
        data = f"{name}-data"
        group = f"{_PACKAGE}.file.FileStream"
        return {
            "source": {
                "connector.class": f"{group}SourceConnector",
                "file": str(folder / "in.txt"),
                "topic": data,
                "topic.creation.default.replication.factor": "1",
                "topic.creation.default.partitions": "1",
            },
            "sink": {
                "connector.class": f"{group}SinkConnector",
                "file": str(folder / "out.txt"),
                "topics": data,
            },
        }


def _put(worker: subprocess.Popen[bytes], url: str, content: dict[str, str]) -> str:
    """Repeat a PUT until the worker accepts it; return the error, empty on success."""
    headers = {"Content-Type": "application/json"}
    body = json.dumps(content).encode()
    deadline = time.monotonic() + START_SECONDS
    said = ""
    while time.monotonic() < deadline:
        if worker.poll() is not None:
            return f"the worker ended with {worker.returncode}"
        request = urllib.request.Request(url, body, headers, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=20):
                return ""
        except (OSError, urllib.error.URLError) as error:
            said = str(error)
            time.sleep(0.2)
    return f"the worker is not ready: {said}"


def _errors(folder: Path) -> str:
    """Return the last AuthorizationException in the worker's log."""
    lines = (folder / "log").read_text().splitlines()
    found = [line for line in lines if "AuthorizationException" in line]
    return found[-1].strip() if found else "no exception about rights"
