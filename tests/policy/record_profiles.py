"""Run Kafka Streams and Kafka Connect on a real broker with the ACLs that a profile requires.

    python -m tests.policy.record_profiles RELEASE

Each application runs once with all of these ACLs, and once without each of them. Every run uses
its own names.
"""

import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.client.acls import create_acls, delete_acls
from kafka_shim.client.client import connect
from kafka_shim.client.config import read_client_config
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.api_versions import parse_minor_release
from tests.clients.broker import Bootstrap
from tests.clients.driver import ClientError, Driver, started
from tests.clients.toolchains import java_tools_driver
from tests.oracle.real_kafka import RealKafka, fetched, free_ports

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


RECORDED = Path(__file__).with_name("recorded_profiles.json")
USER = "alice"
WORDS = ("to be or", "not to be")
STREAMS: Mapping[str, Mapping[str, str]] = {
    "streams": {},
    "streams-new-protocol": {"group_protocol": "streams"},
    "streams-exactly-once": {"guarantee": "exactly_once_v2"},
}
"""Settings of the word count for each profile."""
Run = Callable[[str], str]
"""Runs an application under a name; returns the error, empty on success."""


def names_for(profile: str, name: str) -> dict[str, Any]:
    """Return the names in an expectation about an application of this name."""
    if profile == "connect":
        return {"topic": f"{name}-*", "group": [name, f"connect-{name}-sink"]}
    return {"application-id": name, "input": "in", "output": "out"}


def wanted(profile: str, name: str, release: str) -> list[Acl]:
    """Return the ACLs that make the expectation hold, starting from none."""
    entry = {"principal": f"User:{USER}", "can": profile, **names_for(profile, name)}
    expectation = parse_expectation(entry, profile, parse_minor_release(release))
    judge = ExpectationChecker(StandardAuthorizer(store=AclStore()))
    return [step.acl for step in judge.check_expectation(expectation).steps]


def runs(profile: str, run: Run, kafka: RealKafka) -> Iterator[dict[str, str]]:
    count = len(wanted(profile, "name", kafka.release))
    for left_out in (None, *range(count)):
        name = f"{profile}-{'all' if left_out is None else left_out}"
        acls = wanted(profile, name, kafka.release)
        without = "" if left_out is None else format_acl_rule(acls.pop(left_out))
        with connect(kafka.plain, read_client_config(None)) as client:
            create_acls(client, acls)
            begun = time.monotonic()
            failure = run(name)
            delete_acls(client, [acl.to_exact_filter() for acl in acls])
        took = time.monotonic() - begun
        said = f"{profile} without {without or 'none'}: {failure or 'ran'} ({took:.0f} s)\n"
        sys.stderr.write(said)
        yield {"name": name, "without": without, "failure": failure}


def word_count(driver: Driver, settings: Mapping[str, str]) -> Run:
    def run(name: str) -> str:
        try:
            found = driver.count_words("in", "out", name, 6, USER, **settings)
        except ClientError as error:
            return str(error)
        return "" if sum(found.values()) == 6 else f"counted {found}"

    return run


def record(release: str) -> None:
    found = {}
    with RealKafka(release) as kafka, tempfile.TemporaryDirectory() as folder:
        bootstrap = Bootstrap(kafka.plain, kafka.sasl)
        command = java_tools_driver(Path(folder))
        with started(command, bootstrap, Path(folder)) as driver:
            for topic in ("in", "out"):
                driver.create_topic(topic)
            driver.produce("in", WORDS, None)
            for profile, settings in STREAMS.items():
                found[profile] = list(runs(profile, word_count(driver, settings), kafka))
        worker = ConnectWorker(kafka.sasl, USER, Path(folder))
        found["connect"] = list(runs("connect", worker.copies_lines, kafka))
    content = {"release": release, "runs": found}
    RECORDED.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1])
