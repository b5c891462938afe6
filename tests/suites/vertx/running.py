"""The tests of Vert.x's Kafka client, with its brokers in another process."""

import re
from pathlib import Path

from tests.suites.broker import Broker, Needs, running
from tests.suites.cache import command, fetched, need, patch, run_to_file
from tests.suites.outcome import Result, of_junit

VERSION = "5.0.7"
CLASS_SECONDS = 900
STAND_INS = Path(__file__).parent
_PACKAGE = "io.vertx.kafka.client"
_DEPENDENCIES = (
    ("io.vertx", "vertx-kafka-client", VERSION, "jar", ""),
    ("io.vertx", "vertx-kafka-client", VERSION, "jar", "test-sources"),
    ("io.vertx", "vertx-unit", VERSION, "jar", ""),
    ("io.debezium", "debezium-core", "2.7.3.Final", "jar", ""),
    ("io.debezium", "debezium-core", "2.7.3.Final", "test-jar", ""),
    ("org.apache.kafka", "kafka-clients", "3.7.1", "jar", ""),
    ("junit", "junit", "4.13.2", "jar", ""),
    ("org.awaitility", "awaitility", "4.2.0", "jar", ""),
    ("org.junit.platform", "junit-platform-console", "1.13.1", "jar", ""),
    ("org.junit.vintage", "junit-vintage-engine", "5.13.1", "jar", ""),
    ("org.slf4j", "slf4j-simple", "1.7.36", "jar", ""),
)
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>suites</groupId><artifactId>vertx</artifactId><version>1</version>
<dependencies>{}</dependencies></project>"""


def play(against: str, release: str, only: str) -> list[Result]:
    """Run the classes whose names match, each with a broker of its own."""
    need("java", "javac", "mvn")
    folder = fetched(f"vertx-kafka-client-{VERSION}", _fetch)
    sources = sorted((folder / "sources").rglob("*Test.java"))
    results = []
    for name in [path.stem for path in sources if re.search(only, path.stem)]:
        with running(against, release, Needs()) as broker:
            results += _run_class(name, broker, folder)
    return results


def _run_class(name: str, broker: Broker, folder: Path) -> list[Result]:
    output, report = folder / f"{name}.txt", folder / name / "TEST-junit-vintage.xml"
    report.unlink(missing_ok=True)
    words = ["java", "-Xmx512m", "-XX:+UseSerialGC", f"-Dsuite.broker={broker.plaintext}"]
    words += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", f"-Djava.io.tmpdir={folder}"]
    words += ["-cp", "classes:libs/*", "org.junit.platform.console.ConsoleLauncher", "execute"]
    words += ["--disable-banner", f"--reports-dir={report.parent}", "--scan-classpath=classes"]
    words += [f"--include-classname={_PACKAGE}.*[.]{name}"]
    run_to_file(words, folder, {}, output, CLASS_SECONDS)
    return [
        result._replace(name=result.name.rpartition(f"{_PACKAGE}.")[2])
        for result in of_junit(report, output)
    ]


def _fetch(folder: Path) -> None:
    fields = ("groupId", "artifactId", "version", "type", "classifier")
    dependencies = "".join(
        f"<dependency>{''.join(f'<{field}>{text}</{field}>' for field, text in pairs if text)}"
        "</dependency>"
        for pairs in (zip(fields, each, strict=True) for each in _DEPENDENCIES)
    )
    (folder / "pom.xml").write_text(_POM.format(dependencies))
    command(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs"], folder)
    [sources] = folder.glob("libs/*-test-sources.jar")
    (folder / "sources").mkdir()
    command(["jar", "-xf", str(sources)], folder / "sources")
    sources.unlink()
    address = 'BOOTSTRAP_SERVERS_CONFIG, System.getProperty("suite.broker")'
    changes = {'BOOTSTRAP_SERVERS_CONFIG, "localhost:9092"': address}
    patch(folder, "sources/io/vertx/kafka/client/tests/*.java", changes)
    parts = 'System.getProperty("suite.broker").split(":")'
    where = "sources/io/vertx/kafka/client/common/tracing/TracingTest.java"
    broker = 'System.getProperty("suite.broker") + "," + System.getProperty("suite.broker")'
    expected = '"localhost:9092,localhost:9093", "localhost", "9093"'
    patch(folder, where, {expected: f"{broker}, {parts}[0], {parts}[1]"})
    files = [*folder.glob("sources/**/*.java"), *STAND_INS.glob("*.java")]
    words = ["javac", "-nowarn", "-proc:none", "-d", "classes", "-cp", "libs/*"]
    command([*words, *map(str, files)], folder)
