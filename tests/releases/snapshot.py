"""The contents of a Kafka release, read from its jars."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kafka_shim.schemas.facts import Definition, read_enum_codes_of_jar, read_jar_definitions
from kafka_shim.schemas.merge import parse_versions
from kafka_shim.schemas.pins import Jar
from kafka_shim.schemas.releases import Fact, Release
from kafka_shim.schemas.releases.extract import FEATURE, extract_facts
from tests.authorizer.record_asked_by_brokers import asked
from tests.oracle.real_kafka import jars, numbers
from tests.releases.bytecode import Calls, methods

SCALA = "2.13"


class Range(msgspec.Struct, frozen=True):
    """Versions of an API that brokers offer to clients."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


class Snapshot(msgspec.Struct, frozen=True):
    """The facts about a release that its jars contain.

    `methods` has the calls of each method that handles requests.
    """

    release: str
    definitions: Mapping[str, Definition]
    codes: Mapping[str, Mapping[str, int]]
    facts: Release
    asked: Mapping[str, frozenset[str]]
    methods: Mapping[str, Calls]

    @property
    def features(self) -> dict[str, Fact]:
        return self.facts.get(FEATURE, {})

    @property
    def settings(self) -> dict[str, Fact]:
        """Return the definition of each setting by its kind and name: `topic retention.ms`."""
        return {
            f"{kind} {name}": fact
            for kind, facts in self.facts.items()
            for name, fact in facts.items()
            if kind != FEATURE
        }

    @property
    def unstable(self) -> set[str]:
        """Return the names of requests whose newest version is hidden."""
        rows = self.definitions.items()
        return {name for name, row in rows if row.get("latestVersionUnstable")}

    @property
    def apis(self) -> dict[str, Range]:
        """Return the versions that a broker offers clients, by API, without unstable ones."""
        return {
            name.removesuffix("Request"): offered
            for name, definition in self.definitions.items()
            if definition["type"] == "request" and "broker" in definition.get("listeners", [])
            if (offered := _offered(definition)) is not None
        }


def _offered(definition: Definition) -> Range | None:
    versions = parse_versions(definition["validVersions"])
    high = versions.stop - 1 - bool(definition.get("latestVersionUnstable"))
    return Range(versions.start, high) if high >= versions.start else None


def snapshot(release: str) -> Snapshot:
    """Read a release; download its jars if they are missing."""
    libs = jars(release)
    clients = clients_jar(release)
    core = libs / f"kafka_{SCALA}-{release}.jar"
    return Snapshot(
        release=release,
        definitions=read_jar_definitions(clients, Jar(clients.stem, "", frozenset())),
        codes=read_enum_codes_of_jar(clients),
        facts=extract_facts(sorted(libs.glob("*.jar"))),
        asked={
            api: frozenset(questions)
            for api, questions in asked(core, is_kraft=numbers(release) >= (3,)).items()
        },
        methods=methods(core),
    )


def clients_jar(release: str) -> Path:
    """Return the jar with the message definitions."""
    return jars(release) / f"kafka-clients-{release}.jar"
