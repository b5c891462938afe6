"""Downloads Kafka's own tests with their dependencies by Maven; compiles the stand-in classes."""

import hashlib
import shutil
from pathlib import Path

from tests.suites.cache import command, fetched

VERSION = "4.3.1"
JAVA = Path(__file__).parent / "java"
STAND_INS, HOST = "standins", "host"

_KAFKA = "org.apache.kafka"
_TESTS_OF = (
    *("kafka_2.13", "kafka-clients-integration-tests", "kafka-clients", "kafka-server-common"),
    *("kafka-server", "kafka-group-coordinator", "kafka-storage", "kafka-metadata", "kafka-raft"),
)
_OTHERS = (
    (_KAFKA, "kafka_2.13", VERSION),
    (_KAFKA, "kafka-test-common-runtime", VERSION),
    (_KAFKA, "kafka-streams", VERSION),
    ("org.junit.platform", "junit-platform-console", "1.13.1"),
    ("org.junit.jupiter", "junit-jupiter", "5.13.1"),
    ("org.mockito", "mockito-core", "5.14.2"),
    ("org.hamcrest", "hamcrest", "3.0"),
    ("junit", "junit", "4.13.2"),
    ("org.bouncycastle", "bcpkix-jdk18on", "1.80"),
    ("org.slf4j", "slf4j-simple", "1.7.36"),
    # needed by classes that set up log-ins, although no test here starts a Kerberos server
    ("org.apache.directory.server", "apacheds-core-api", "2.0.0-M24"),
    ("org.apache.directory.server", "apacheds-protocol-kerberos", "2.0.0-M24"),
    ("org.apache.directory.server", "apacheds-protocol-ldap", "2.0.0-M24"),
)
_OLD_CRYPTOGRAPHY = """<exclusions><exclusion><groupId>org.bouncycastle</groupId>
<artifactId>bcprov-jdk15on</artifactId></exclusion></exclusions>"""
"""Excludes another version of the classes that create the tests' certificates."""
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>suites</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies>{}</dependencies></project>"""


def libraries() -> Path:
    """Return the folder with all jars, which are downloaded once."""
    digest = hashlib.sha256(_pom().encode()).hexdigest()[:12]
    return fetched(f"kafka-own-tests-{VERSION}-{digest}", _fetch) / "libs"


def classes(part: str) -> Path:
    """Return the folder with the classes of STAND_INS or HOST, compiled again after changes."""
    sources = sorted((JAVA / STAND_INS).rglob("*.java"))
    if part == HOST:
        own = [path for path in sources if path.name == "OutsidePrincipals.java"]
        sources = [*sorted((JAVA / HOST).rglob("*.java")), *own]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]

    def compile_into(folder: Path) -> None:
        words = ["javac", "-nowarn", "-d", str(folder), "-cp", f"{libraries()}/*"]
        try:
            command([*words, *map(str, sources)], folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    return fetched(f"kafka-own-tests-{part}-{digest}", compile_into)


def _fetch(folder: Path) -> None:
    (folder / "pom.xml").write_text(_pom())
    command(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs"], folder)


def _pom() -> str:
    wanted = [(_KAFKA, name, VERSION, "test") for name in _TESTS_OF]
    wanted += [(*artifact, "") for artifact in _OTHERS]
    return _POM.format("".join(_dependency(*artifact) for artifact in wanted))


def _dependency(group: str, name: str, version: str, classifier: str) -> str:
    fields = {"groupId": group, "artifactId": name, "version": version, "classifier": classifier}
    wanted = "".join(f"<{key}>{value}</{key}>" for key, value in fields.items() if value)
    return f"<dependency>{wanted}{_OLD_CRYPTOGRAPHY}</dependency>"
