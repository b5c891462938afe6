"""Read settings and features out of the jars of all releases, or prove that they are theirs.

`python -m kafka_shim.schemas.releases.extract` brings the jars that jars.json pins, by their Maven
coordinates, lets each release's own classes say what they define (Facts.java) and writes
settings.json and features.json. It needs Java 17 and Maven.
`--check` compares these files with their checksums in manifest.json; with `--jars` it also reads
every jar again (or those of the RELEASES that are named). Exits 1 when something does not match.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafka_shim.schemas.pins import Jar
from kafka_shim.schemas.releases import (
    FEATURES,
    FOLDER,
    SETTINGS,
    Facts,
    Release,
    features,
    group_facts,
    merge_releases,
    minor_release,
    render_history,
    settings,
)
from kafka_shim.schemas.vendor import fetch_jar

JARS = FOLDER / "jars.json"
MANIFEST = FOLDER / "manifest.json"
PROGRAM = FOLDER / "Facts.java"
COMMAND = "python -m kafka_shim.schemas.releases.extract"
FEATURE = "feature"


def pinned_jars() -> dict[str, list[Jar]]:
    """Return the jars of each release, from the oldest release to the newest."""
    pins = json.loads(JARS.read_text())
    return {
        version: [Jar(artifact, pins["sha256"][artifact], frozenset()) for artifact in artifacts]
        for version, artifacts in pins["releases"].items()
    }


def extract_facts(jars: Iterable[Path]) -> Release:
    """Return what the Kafka in these jars says of itself."""
    java = shutil.which("java")
    if java is None:
        raise FileNotFoundError("no java to ask the jars with: install Java 17")
    class_path = os.pathsep.join(map(str, jars))
    done = subprocess.run(  # noqa: S603 - our own program and pinned jars
        [java, "-XX:TieredStopAtLevel=1", "-cp", class_path, str(PROGRAM)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Facts.java failed: {done.stderr.strip()[:2000]}")
    return group_facts(
        json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")
    )


def fact_file_texts(releases: Mapping[str, Release]) -> dict[Path, str]:
    """Return the text of both files of facts."""
    history = merge_releases(releases)
    history_by_kind = {kind: dict(sorted(history[kind].items())) for kind in sorted(history)}
    history_by_kind.pop(FEATURE)
    return {
        SETTINGS: render_history(history_by_kind),
        FEATURES: render_history({FEATURE: history[FEATURE]}),
    }


def manifest_text() -> str:
    """Say the SHA-256 of the facts, and of what they were made from."""
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (JARS, PROGRAM, SETTINGS, FEATURES)
    }
    return json.dumps(sums, indent=1) + "\n"


def differences_from_facts(version: str, release_facts: Release, facts: Facts) -> list[str]:
    """Return what facts say otherwise of a release than its jars."""
    at = minor_release(version)
    order = [minor_release(release) for release in pinned_jars()]
    lines = []
    for kind in sorted({*facts, *release_facts}):
        for name in sorted({*facts.get(kind, {}), *release_facts.get(kind, {})}):
            changes = facts.get(kind, {}).get(name, {})
            begun = [s for s in changes if order.index(s) <= order.index(at)]
            recorded = changes[begun[-1]] if begun else None
            real = release_facts.get(kind, {}).get(name)
            if recorded != real:
                lines.append(f"{version} {kind} {name}: {recorded} is said, the jars have {real}")
    return lines


def check_fact_files(versions: list[str], *, with_jars: bool) -> list[str]:
    """Return what does not match, empty when all is well."""
    if not MANIFEST.exists() or MANIFEST.read_text() != manifest_text():
        return [f"schemas/releases/manifest.json does not match its files: run {COMMAND}"]
    facts = {**settings(), **features()}
    problems = []
    for version, jars in pinned_jars().items() if with_jars else ():
        if not versions or version in versions:
            release_facts = extract_facts(fetch_jar(jar, []) for jar in jars)
            lines = differences_from_facts(version, release_facts, facts)
            sys.stdout.write(f"{version}: {'differs' if lines else 'same'}\n")
            problems += lines
    return problems


def write_fact_files() -> None:
    releases = {}
    for version, jars in pinned_jars().items():
        releases[version] = extract_facts(fetch_jar(jar, []) for jar in jars)
        sys.stdout.write(f"{version}: {sum(map(len, releases[version].values()))} facts\n")
    for path, text in fact_file_texts(releases).items():
        path.write_text(text)
    MANIFEST.write_text(manifest_text())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--jars", action="store_true", help="with --check: read the jars again")
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="with --jars: only these")
    options = parser.parse_args(arguments)
    if (options.jars or options.releases) and not (options.check and options.jars):
        parser.error("--jars goes with --check, and RELEASES with both")
    if unknown := set(options.releases) - pinned_jars().keys():
        parser.error(f"no jars are pinned for {', '.join(sorted(unknown))}")
    if not options.check:
        write_fact_files()
        return 0
    problems = check_fact_files(options.releases, with_jars=options.jars)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
