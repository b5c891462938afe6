"""Kafka's own command-line tools under their usual names, run from the jars in the registry."""

import shlex
from pathlib import Path

from tests.oracle.real_kafka import jars
from tests.suites.cache import CACHE, command, fetched, need

LOGGING = "org.slf4j:slf4j-simple:1.7.36"
"""A logger, since some tools print the error in their log only."""

_TOOLS = "org.apache.kafka.tools"
MAIN_CLASSES = {
    "kafka-acls": f"{_TOOLS}.AclCommand",
    "kafka-broker-api-versions": f"{_TOOLS}.BrokerApiVersionsCommand",
    "kafka-client-metrics": f"{_TOOLS}.ClientMetricsCommand",
    "kafka-cluster": f"{_TOOLS}.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": f"{_TOOLS}.consumer.ConsoleConsumer",
    "kafka-console-producer": f"{_TOOLS}.ConsoleProducer",
    "kafka-console-share-consumer": f"{_TOOLS}.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": f"{_TOOLS}.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": f"{_TOOLS}.ConsumerPerformance",
    "kafka-delegation-tokens": f"{_TOOLS}.DelegationTokenCommand",
    "kafka-delete-records": f"{_TOOLS}.DeleteRecordsCommand",
    "kafka-e2e-latency": f"{_TOOLS}.EndToEndLatency",
    "kafka-features": f"{_TOOLS}.FeatureCommand",
    "kafka-get-offsets": f"{_TOOLS}.GetOffsetShell",
    "kafka-groups": f"{_TOOLS}.GroupsCommand",
    "kafka-leader-election": f"{_TOOLS}.LeaderElectionCommand",
    "kafka-log-dirs": f"{_TOOLS}.LogDirsCommand",
    "kafka-metadata-quorum": f"{_TOOLS}.MetadataQuorumCommand",
    "kafka-producer-perf-test": f"{_TOOLS}.ProducerPerformance",
    "kafka-reassign-partitions": f"{_TOOLS}.reassign.ReassignPartitionsCommand",
    "kafka-share-consumer-perf-test": f"{_TOOLS}.ShareConsumerPerformance",
    "kafka-share-groups": f"{_TOOLS}.consumer.group.ShareGroupCommand",
    "kafka-streams-application-reset": f"{_TOOLS}.StreamsResetter",
    "kafka-streams-groups": f"{_TOOLS}.streams.StreamsGroupCommand",
    "kafka-topics": f"{_TOOLS}.TopicCommand",
    "kafka-transactions": f"{_TOOLS}.TransactionsCommand",
    "kafka-verifiable-consumer": f"{_TOOLS}.VerifiableConsumer",
    "kafka-verifiable-producer": f"{_TOOLS}.VerifiableProducer",
    "kafka-verifiable-share-consumer": f"{_TOOLS}.VerifiableShareConsumer",
}

# for a small, short-lived JVM: the serial collector, and the first compiler tier only
JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def words(release: str, tool: str) -> list[str]:
    """Return the command of a tool, which logs errors to standard error."""
    logging = fetched("slf4j-simple", _fetch_logging)
    log = "-Dorg.slf4j.simpleLogger."
    options = [f"{log}defaultLogLevel=error", f"{log}showThreadName=false"]
    silent = "slf4j-nop-"
    path = [str(jar) for jar in jars(release).iterdir() if not jar.name.startswith(silent)]
    if (classes := _classes(release)).exists():
        options.append(f"-XX:SharedArchiveFile={classes}")
    return [*JAVA, *options, "-cp", ":".join([f"{logging}/*", *sorted(path)]), MAIN_CLASSES[tool]]


def quicken(release: str, bootstrap: str) -> None:
    """Halve the start time of the tools by a class data archive, made by one of them."""
    if not (classes := _classes(release)).exists():
        java, *rest = words(release, "kafka-consumer-groups")
        keep = f"-XX:ArchiveClassesAtExit={classes}"
        command([java, keep, *rest, "--bootstrap-server", bootstrap, "--list"], CACHE)


def _classes(release: str) -> Path:
    return CACHE / f"kafka-tools-{release}.jsa"


def _fetch_logging(folder: Path) -> None:
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
    command(["mvn", "-q", "-B", plugin, f"-Dartifact={LOGGING}", "-DoutputDirectory=."], folder)


def home(release: str) -> Path:
    """Return a folder like a Kafka distribution's, with `bin/kafka-*.sh`."""
    need("java", "mvn")
    folder = CACHE / f"kafka-{release}"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for tool in MAIN_CLASSES:
        script = folder / "bin" / f"{tool}.sh"
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words(release, tool))} "$@"\n')
        script.chmod(0o755)
    return folder
