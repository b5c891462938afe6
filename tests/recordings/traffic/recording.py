"""A run of many clients on a real broker, recorded by a proxy, a capture and the broker's logs.

`python -m tests.recordings traffic 4.3.1` records it again; it needs Java, Maven and tcpdump. Six
principals use librdkafka, kafka-python and Kafka's own tools through `kafka-shim proxy`. A
recording has the proxy's trace, a capture of the traffic between proxy and broker, the broker's
request log, and its authorizer's log at TRACE.
"""

import io
import lzma
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.client.client import connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_acls import CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.shim.config import SecurityProtocol
from tests.recordings.audit.recording import AuditedKafka
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings
from tests.recordings.traffic import by_java
from tests.recordings.traffic.grants import PASSWORDS, TOPICS, USERS, acls
from tests.traces.captures.live import capturing

RUN = "run"
"""The name of the only scenario."""
PROXY, CAPTURE, REQUEST_LOG, AUDIT_LOG = "proxy", "capture.pcap", "requests.log", "audit.log"
LISTENER = "SASL_PLAINTEXT"
SETTLE_S = 2.0
_PROGRAMS = ("by_administrator", "by_librdkafka", "by_kafka_python")
_REQUESTS = """log4j.logger.kafka.request.logger=DEBUG, requests
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.file=requests.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class LoggingKafka(AuditedKafka):
    """A real broker that also logs requests and denied probes."""

    level = "TRACE"
    loggers = _REQUESTS


def _start(release: str, mode: str, settings: Mapping[str, str]) -> LoggingKafka:
    return LoggingKafka(release, mode, settings, users=PASSWORDS)


def played(name: str, kafka: LoggingKafka) -> dict[str, bytes]:
    """Return the files of a recording by their paths."""
    capture, trace = kafka.folder / CAPTURE, kafka.folder / PROXY
    with capturing(capture, [str(kafka.sasl_port)]), proxy(kafka.sasl, trace) as address:
        _set_up(address)
        for program in _PROGRAMS:
            _run(program, address)
        by_java.play(kafka.release, address, kafka.folder)
        _run(_PROGRAMS[0], address)
    files = {f"{PROXY}/{path.name}": path.read_bytes() for path in trace.iterdir()}
    files[CAPTURE] = capture.read_bytes()
    for log, sign in ((REQUEST_LOG, f'"listener":"{LISTENER}"'), (AUDIT_LOG, "Principal = ")):
        lines = (kafka.folder / log).read_text().splitlines(keepends=True)
        files[log] = "".join(line for line in lines if sign in line and _is_ours(line)).encode()
    return files


def _run(program: str, address: str) -> None:
    command = [sys.executable, "-m", f"tests.recordings.traffic.{program}", address]
    subprocess.run(command, check=True, timeout=600)


def _is_ours(line: str) -> bool:
    """Return whether a log line is about a principal of the run; the broker is ANONYMOUS."""
    return any(f"User:{user}" in line for user in USERS)


@contextmanager
def proxy(upstream: str, trace: Path) -> Iterator[str]:
    command = [sys.executable, "-P", "-m", "kafka_shim", "proxy", "--upstream", upstream]
    command += ["--listener", LISTENER, "--record", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            yield said.split(" on ")[1].split(",")[0]
        finally:
            process.terminate()


def _set_up(address: str) -> None:
    """Create the topics and the ACLs as a super user."""
    login = Login("PLAIN", "admin", PASSWORDS["admin"])
    with connect(address, ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)) as admin:
        topics = [CreatableTopic(name, num_partitions=1, replication_factor=1) for name in TOPICS]
        request = CreateTopicsRequest(topics=topics, timeout_ms=10_000)
        made = admin.send_request(ApiKey.CREATE_TOPICS, request)
        assert {topic.error_code for topic in made.topics} == {0}
        created = admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(acls()))
        assert {result.error_code for result in created.results} == {0}
    time.sleep(SETTLE_S)


class Archives(Recordings):
    """Recordings that are archives of files."""

    def files(self, release: str) -> dict[str, bytes]:
        """Return the files of a recording by their paths."""
        with tarfile.open(self._path(release), "r:xz") as archive:
            files = {name: archive.extractfile(name) for name in archive.getnames()}
            return {name: file.read() for name, file in files.items() if file is not None}

    def extract(self, release: str, folder: Path) -> None:
        """Write the files of a recording into a folder."""
        for name, content in self.files(release).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    @staticmethod
    def pack(responses: Mapping[str, Any]) -> bytes:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for name, file in sorted(responses[RUN].items()):
                member = tarfile.TarInfo(name)
                member.size = len(file)
                archive.addfile(member, io.BytesIO(file))
        return lzma.compress(content.getvalue(), preset=9 | lzma.PRESET_EXTREME)

    @staticmethod
    def unpack(content: bytes) -> dict[str, msgspec.Raw]:
        """Return nothing, since the files contain no responses."""
        return {RUN: msgspec.Raw(b"null")} if content else {}


ARCHIVES = Archives(Path(__file__).parent / "recorded", ".tar.xz")
KIND = Kind(
    ARCHIVES,
    lambda release: [RUN],
    played,
    mode="authorizer",
    start=_start,
    connect=nullcontext,
)
