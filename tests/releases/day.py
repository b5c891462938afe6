"""The steps on the day of a Kafka release that need no person."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

from tests.oracle.real_kafka import numbers
from tests.recordings.conformance.scenario import recordings
from tests.recordings.kinds import KINDS
from tests.releases import adopting
from tests.releases.checklist import responses
from tests.releases.differing import Finding, findings
from tests.releases.snapshot import clients_jar, snapshot

RECORDED = ("conformance", "conformance-matrix", "records", "groups", "telemetry", "audit")
"""The kinds of scenarios to record for a release."""
Say = Callable[[str], None]


def newest_recorded(before: str) -> str:
    """Return the newest release before this one with recordings of a real broker."""
    known = [name for name in recordings() if "-" not in name]
    return max((name for name in known if numbers(name) < numbers(before)), key=numbers)


def compare(old: str, new: str, say: Say, *, write: bool) -> list[Finding]:
    """Download the jars of both, return the differences, write the certain ones into the tables."""
    say(f"reading the jars of {old} and {new}")
    before, now = snapshot(old), snapshot(new)
    say(f"kafka-clients-{new}.jar: sha256 {adopting.registry_checksum(clients_jar(new))}")
    if write:
        text = adopting.VERSIONS.read_text()
        adopting.VERSIONS.write_text(adopting.with_versions(text, before, now))
        adopting.adopt_facts(now)
        adopting.adopt_jars(new)
        say("pyproject.toml, schemas/ and what is generated from them are written: see git diff")
    return findings(before, now)


def record(release: str, say: Say) -> None:
    """Record scenarios on the real broker, unless they are recorded already."""
    for kind in RECORDED:
        if release not in KINDS[kind].recordings.releases():
            say(f"recording {kind}")
            words = [sys.executable, "-m", "tests.recordings", kind, release]
            subprocess.run(words, check=True, stdout=sys.stderr)


def played(release: str, say: Say) -> list[Finding]:
    """Play the recordings against the shim, in a process with the new tables."""
    say("playing the recordings against the shim")
    words = [sys.executable, "-m", "tests.releases", "play", release]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return responses(json.loads(told).items())


def differing(release: str) -> Iterator[tuple[str, tuple[dict[str, int], int]]]:
    """Yield for each recording the number of different responses by API, and of all responses."""
    from tests.recordings.conformance.remaining import differences

    for name in recordings():
        if name.partition("-")[0] == release:
            counts, _, count = differences(name)
            yield name, (dict(counts), count)
