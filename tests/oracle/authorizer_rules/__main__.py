"""Record the rules of the test kit for authorizers: `python -m tests.oracle.authorizer_rules`.

Kafka's own authorizers of several releases answer each case, in the Java program of
`packages/authorizer-tck`, and the answers are written to its file of rules. They must agree with
the recorded responses of real brokers to the same rules. Needs Java 17 and Maven.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.docs.shown import ROOT
from tests.oracle.authorizer_rules.direct_cases import direct_cases
from tests.oracle.authorizer_rules.questions import Json, recorded_cases
from tests.oracle.authorizer_rules.rule_table import NAMED_RULES
from tests.oracle.real_kafka import jars

PACKAGE: Final = ROOT / "packages" / "authorizer-tck"
FILE: Final = PACKAGE / "src/main/resources/io/github/kafkashim/tck/rules.json"
STANDARD: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
IN_ZOOKEEPER: Final = "kafka.security.authorizer.AclAuthorizer"
AUTHORIZERS: Final = {
    "2.8": [("2.8.2", IN_ZOOKEEPER)],
    "3.9": [("3.9.1", STANDARD), ("3.9.1", IN_ZOOKEEPER)],
    "4.3": [("4.3.1", STANDARD)],
    "4.4": [("4.4.0", STANDARD)],
}
"""Kafka's authorizers by the release whose rules they show; each is right where they differ."""


def kit_command(authorizer: str, release: str, *options: str) -> list[str]:
    """Return the command that tests a class with the jars of a release."""
    zookeeper = ["--zookeeper"] if authorizer == IN_ZOOKEEPER else []
    command = ["java", "-jar", str(kit_jar()), "--class", authorizer, *zookeeper]
    return [*command, "--classpath", f"{jars(release)}/*", *options]


def kit_jar() -> Path:
    """Return the jar of the package, which is built if a source is newer."""
    target = PACKAGE / "target"
    sources = [PACKAGE / "pom.xml", *(PACKAGE / "src").rglob("*.*")]
    built = next(target.glob("kafka-authorizer-tck-*.jar"), None)
    if built is None or built.stat().st_mtime < max(each.stat().st_mtime for each in sources):
        command = ["mvn", "-B", "-ntp", "-q", "-DskipTests", "package"]
        subprocess.run(command, cwd=PACKAGE, check=True, timeout=600)
        [built] = target.glob("kafka-authorizer-tck-*.jar")
    return built


def unanswered_cases() -> list[Json]:
    cases: list[Json] = []
    for rule, made in recorded_cases():
        releases = [name for name, both in AUTHORIZERS.items() if rule.exists_in(both[0][0])]
        cases.append(made if len(releases) == len(AUTHORIZERS) else made | {"releases": releases})
    return [*cases, *direct_cases()]


def write(cases: Sequence[Json]) -> None:
    """Write the file of rules, a case in each line."""
    rules = [{"name": each.name, "text": each.text, "source": each.source} for each in NAMED_RULES]
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    head = json.dumps({"releases": list(AUTHORIZERS), "rules": rules}, indent=1)[:-2]
    FILE.write_text(f'{head},\n "cases": [\n{lines}\n]}}\n', encoding="utf-8")


def recorded(authorizer: str, release: str, profile: str) -> list[list[Any]]:
    """Return the answers of a class to all steps of all cases; the first is about the ACLs."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        options = ["--record", file.name, "--release", profile]
        subprocess.run(kit_command(authorizer, release, *options), check=True, timeout=1200)
        answers: list[list[Any]] = json.loads(Path(file.name).read_text(encoding="utf-8"))
    return answers


def answered(case: Json, by_release: dict[str, list[list[Any]]]) -> Json:
    """Return a case with the answers of all releases in which it exists."""
    releases = [
        name
        for name in case.get("releases", by_release)
        if all(row[0] is None for row in by_release[name])
    ]
    assert releases, case
    steps = []
    for at, step in enumerate(case["steps"], 1):
        answers = {
            name: [
                json.loads(each)
                for each in {json.dumps(row[at]): None for row in by_release[name]}
                if each != "null"
            ]
            for name in releases
        }
        values = [value for each in answers.values() for value in each]
        is_same = all(answers.values()) and all(value == values[0] for value in values)
        steps.append(step | {"is": values[0] if is_same else answers})
    kept = {key: value for key, value in case.items() if value != {}}
    if releases != list(AUTHORIZERS):
        kept["releases"] = releases
    return kept | {"steps": steps}


def main() -> int:
    cases = unanswered_cases()
    write(cases)
    by_release = {
        profile: [recorded(name, release, profile) for release, name in authorizers]
        for profile, authorizers in AUTHORIZERS.items()
    }
    write(
        [
            answered(case, {name: [row[at] for row in rows] for name, rows in by_release.items()})
            for at, case in enumerate(cases)
        ]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
