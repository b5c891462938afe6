"""Record the output of kafka-acls of each release with a broker of that release.

    python -m tests.cli.record_tool_output 0.11.0.3 2.8.2 4.3.1

It needs Java 17 and Maven.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.oracle.real_kafka import RealKafka, jars, numbers

FILE = Path(__file__).parent / "recorded_tool_output.json"
MORE = (
    "--add --cluster --deny-principal User:carol --deny-host 10.0.0.1 --operation IdempotentWrite",
    "--add --transactional-id tx --allow-principal User:alice --producer --topic orders",
)
SESSION = (
    "--add --producer --topic orders --allow-principal User:p",
    "--add --producer --idempotent --transactional-id tx --topic orders --allow-principal User:i",
    "--add --consumer --topic orders --group g --allow-principal User:c",
    "--add --producer --consumer --topic both --group g --allow-principal User:b",
    "--add --cluster --allow-principal User:x --allow-host 10.0.0.1",
    "--list --topic orders",
    "--list --cluster --group g",
    "--remove --producer --topic orders --allow-principal User:p --force",
    "--remove --topic both --force",
    "--remove --consumer --topic orders --group g --allow-principal User:c --force",
    "--list",
)
"""Commands that are run in this order on a broker without ACLs: roles, lists and removals."""
PREFIXED = "--add --topic pre --allow-principal User:b --resource-pattern-type prefixed"
OPENED = ("java.lang", "java.nio", "sun.nio.ch")


def record(release: str, command: str) -> dict[str, str | dict[str, str]]:
    with RealKafka(release) as kafka:
        session = {line: kafka_acls(kafka, line) for line in SESSION}
    with RealKafka(release) as kafka:
        added = kafka_acls(kafka, command)
        for line in (*MORE, *([PREFIXED] if numbers(release) >= (2,) else [])):
            kafka_acls(kafka, line)
        return {"added": added, "listed": kafka_acls(kafka, "--list"), "session": session}


def kafka_acls(kafka: RealKafka, command: str) -> str:
    options = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    connection = ["--bootstrap-server", kafka.plain]
    if numbers(kafka.release) < (2, 4):
        options.append("-Djava.specification.version=1.8")
    if numbers(kafka.release) < (2, 1):
        connection = ["--authorizer-properties", f"zookeeper.connect={kafka.zookeeper}"]
    tool = "org.apache.kafka.tools" if numbers(kafka.release) >= (4,) else "kafka.admin"
    program = [*options, "-cp", f"{jars(kafka.release)}/*", f"{tool}.AclCommand"]
    return subprocess.run(
        ["java", *program, *connection, *command.split()],
        cwd=kafka.folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def main(releases: list[str]) -> None:
    recorded = json.loads(FILE.read_text())
    for release in releases:
        recorded["releases"][release] = record(release, recorded["command"])
    FILE.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
