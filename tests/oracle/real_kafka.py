"""A real Apache Kafka of any release on loopback, from the jars in Maven's registry.

One node with a PLAINTEXT listener (the anonymous user is a super user) and a SASL_PLAINTEXT
listener (PLAIN: admin, a super user, and alice, bob, carol; password NAME-secret). 3.0 and later
run with KRaft, older releases with ZooKeeper; 3.0 and 3.1 run with KRaft, but keep their ACLs in
ZooKeeper. Needs Java 17 and Maven.
"""

import base64
import contextlib
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

USERS = ("admin", "alice", "bob", "carol")
PASSWORDS = MappingProxyType({name: f"{name}-secret" for name in USERS})
MODES = ("authorizer", "open", "none")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kafka-shim" / "jars"
START_SECONDS = 180
PORTS = range(15_000, 32_000)
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>oracle</groupId><artifactId>jars</artifactId><version>1</version>
<dependencies>{}</dependencies></project>"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)
_ZOOKEEPER_FROM = "2.7.2"
"""The Kafka release whose ZooKeeper is used for all old brokers."""


def missing_tools() -> str:
    """Return the tools that must be installed to start a broker, empty if none is missing."""
    return " and ".join(tool for tool in ("java", "mvn") if shutil.which(tool) is None)


def numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def jars(release: str) -> Path:
    """Return the folder with a release's jars, which are downloaded once."""
    scala = "2.13" if numbers(release) >= (2, 4) else "2.12"
    wanted = [("org.apache.kafka", f"kafka_{scala}", release)]
    if numbers(release) >= (3,):
        wanted.append(("org.apache.kafka", "kafka-tools", release))
    if numbers(release) < (2, 4):  # part of Java up to 8
        wanted += [("javax.xml.bind", "jaxb-api", "2.3.1")]
        wanted += [("javax.activation", "javax.activation-api", "1.2.0")]
    if (2,) <= numbers(release) < (2, 4):  # their own cannot parse addresses in Java 17's form
        wanted.append(("org.apache.zookeeper", "zookeeper", "3.4.10"))
    if numbers(release) >= (2, 2):
        wanted.append(("org.slf4j", "slf4j-nop", "1.7.36"))
    return fetched(f"kafka-{release}", wanted)


def fetched(name: str, wanted: Sequence[tuple[str, str, str]]) -> Path:
    """Return the folder with artifacts (group, name, version) and their dependencies."""
    folder = CACHE / name
    if (folder / "complete").exists():
        return folder / "libs"
    folder.mkdir(parents=True, exist_ok=True)
    dependencies = "".join(_DEPENDENCY.format(*artifact) for artifact in wanted)
    (folder / "pom.xml").write_text(_POM.format(dependencies))
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs"]
    subprocess.run(command, cwd=folder, check=True, timeout=600)
    (folder / "complete").touch()
    return folder / "libs"


def settings_of(release: str) -> dict[str, str]:
    """Return the settings that all real brokers here have in common."""
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "delete.topic.enable": "true",
    }
    if numbers(release) >= (4, 2):
        settings["group.streams.initial.rebalance.delay.ms"] = "0"
    if numbers(release) >= (4, 3):  # by default assignments are at least a second apart
        for kind in ("consumer", "share", "streams"):
            settings[f"group.{kind}.assignment.interval.ms"] = "0"
    if numbers(release) >= (4, 4):  # else another thread assigns, maybe after the response
        for kind in ("consumer", "share", "streams"):
            settings[f"group.{kind}.assignor.offload.enable"] = "false"
    if numbers(release) >= (3, 6):  # earlier KRaft brokers reject the key
        settings["delegation.token.secret.key"] = "secret"
    if numbers(release) >= (3,):
        return settings | {
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
        }
    return settings | {
        "delegation.token.master.key": "secret",
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.num.partitions": "5",
    }


def free_ports(count: int) -> list[int]:
    """Return unused ports, since a broker's ports must be known before it starts.

    They are below the range of ephemeral ports, which another program could take before the broker
    binds them.
    """
    found: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        if len(found) == count:
            break
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            found.append(port)
    return found


class RealKafka:
    """`with RealKafka("4.3.1") as kafka:` starts a broker at `kafka.plain` and `kafka.sasl`.

    `settings` are further broker settings; settings for TLS add the listener `kafka.ssl`.
    `users` (name, password) log in with PLAIN, and with `scram` (3.5 and later) also with SCRAM.
    `classpath` has additional classes that settings name, and `libs` is a folder with other jars
    than those of the release.
    """

    def __init__(
        self,
        release: str,
        mode: str = "authorizer",
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        users: Mapping[str, str] = PASSWORDS,
        scram: bool = False,
        libs: Path | None = None,
        classpath: str = "",
    ) -> None:
        assert mode in MODES
        self.release = release
        self.mode = mode
        self._settings = settings
        self._users = users
        self._scram = scram
        self._classpath = classpath
        self._libs = libs
        self._has_ssl = any(key.startswith("ssl.") for key in settings)
        self.is_kraft = numbers(release) >= (3,)
        # the first KRaft releases have no StandardAuthorizer
        self._has_acls_in_zookeeper = mode != "none" and (3,) <= numbers(release) < (3, 2)
        self.plain_port, self.sasl_port, self.ssl_port, *others = free_ports(5)
        self._controller_port, self._zookeeper_port = others
        cluster_id = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        self._cluster_id = f"a{cluster_id[1:]}"
        self.plain = f"127.0.0.1:{self.plain_port}"
        self.sasl = f"127.0.0.1:{self.sasl_port}"
        self.ssl = f"127.0.0.1:{self.ssl_port}"
        self.zookeeper = f"127.0.0.1:{self._zookeeper_port}"  # before 3.0
        self.folder = Path(tempfile.mkdtemp(prefix=f"kafka-{release}-"))
        self._children: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        libs = self._libs or jars(self.release)
        try:
            self._write_settings()
            if self._has_acls_in_zookeeper or not self.is_kraft:
                self._start_zookeeper()
            if self.is_kraft:
                self._format(libs)
            self._start(libs)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the broker and its ZooKeeper."""
        return [child.pid for child in self._children]

    def stop(self) -> None:
        """Stop the broker and its ZooKeeper, and remove their files."""
        for child in reversed(self._children):
            child.send_signal(signal.SIGKILL)
            child.wait(30)
        self._children.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, libs: Path) -> None:
        self._java(libs, "kafka.Kafka", "server.properties", *self._old_java())
        for address in self.listeners().values():
            self._wait(int(address.rpartition(":")[2]))

    def _write_settings(self) -> None:
        users = " ".join(f'user_{name}="{secret}"' for name, secret in self._users.items())
        modules = [f"plain.PlainLoginModule required {users};"]
        if self._scram:
            modules.append("scram.ScramLoginModule required;")
        package = "org.apache.kafka.common.security"
        logins = " ".join(f"{package}.{module}" for module in modules)
        (self.folder / "jaas.conf").write_text(f"KafkaServer {{ {logins} }};\n")
        settings = self._common() | (self._kraft() if self.is_kraft else self._with_zookeeper())
        if self.mode != "none":
            settings |= {
                "authorizer.class.name": self._authorizer(),
                "super.users": "User:ANONYMOUS;User:admin",
                "allow.everyone.if.no.acl.found": str(self.mode == "open").lower(),
            }
        if self._has_acls_in_zookeeper:
            settings["authorizer.zookeeper.url"] = self.zookeeper
        settings |= self._settings
        lines = [f"{key}={value}\n" for key, value in settings.items()]
        (self.folder / "server.properties").write_text("".join(lines))

    def listeners(self) -> dict[str, str]:
        """Return the addresses of the listeners for clients, by name."""
        found = {"PLAINTEXT": self.plain, "SASL_PLAINTEXT": self.sasl}
        if self._has_ssl:
            found["SSL"] = self.ssl
        return found

    def _common(self) -> dict[str, str]:
        listeners = ",".join(f"{name}://{address}" for name, address in self.listeners().items())
        return {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "log.dirs": str(self.folder / "logs"),
            **settings_of(self.release),
        }

    def _kraft(self) -> dict[str, str]:
        controller = f"127.0.0.1:{self._controller_port}"
        node_id = self._settings.get("node.id", "1")
        return {
            "listeners": self._common()["listeners"] + f",CONTROLLER://{controller}",
            "process.roles": "broker,controller",
            "node.id": node_id,
            "controller.quorum.voters": f"{node_id}@{controller}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,"
                "CONTROLLER:PLAINTEXT"
            ),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
        }

    def _with_zookeeper(self) -> dict[str, str]:
        return {
            "broker.id": "1",
            "zookeeper.connect": self.zookeeper,
        }

    def _authorizer(self) -> str:
        if self.is_kraft and not self._has_acls_in_zookeeper:
            return "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        if numbers(self.release) >= (2, 4):
            return "kafka.security.authorizer.AclAuthorizer"
        return "kafka.security.auth.SimpleAclAuthorizer"

    def _format(self, libs: Path) -> None:
        command = ["java", "-Xmx256m", "-cp", f"{libs}/*", "kafka.tools.StorageTool", "format"]
        command += ["-t", self._cluster_id, "-c", "server.properties"]
        for name, secret in self._users.items() if self._scram else ():
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                command += ["--add-scram", f"{mechanism}=[name={name},password={secret}]"]
        subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, timeout=START_SECONDS
        )

    def _start_zookeeper(self) -> None:
        (self.folder / "zookeeper.properties").write_text(
            f"dataDir={self.folder}/zookeeper\nclientPort={self._zookeeper_port}\n"
            "clientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n"
        )
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        self._java(jars(_ZOOKEEPER_FROM), main, "zookeeper.properties")
        self._wait(self._zookeeper_port)

    def _old_java(self) -> list[str]:
        """Return the options with which releases before 2.4 run on Java 17."""
        if numbers(self.release) >= (2, 4):
            return []
        opened = ("java.lang", "java.nio", "sun.nio.ch")
        options = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
        return ["-Djava.specification.version=1.8", *options]

    def _java(self, libs: Path, main: str, argument: str, *options: str) -> None:
        command = ["java", *options, "-Xmx1g", "-Dzookeeper.sasl.client=false"]
        command += ["-Djava.security.auth.login.config=jaas.conf"]
        if JWKS_URL in self._settings:  # since 4.0 every URL must be allowed explicitly
            allowed = self._settings[JWKS_URL]
            command += [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={allowed}"]
        own = f":{self._classpath}" if self._classpath else ""
        command += ["-cp", f"{libs}/*{own}", main]
        log = (self.folder / f"{main}.log").open("wb")
        with log:
            child = subprocess.Popen(
                [*command, argument], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )
        self._children.append(child)

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._children and self._children[-1].poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.2)
            else:
                return
        logs = "\n".join(path.read_text()[-2000:] for path in self.folder.glob("*.log"))
        raise RuntimeError(f"kafka {self.release} did not come up on port {port}:\n{logs}")
