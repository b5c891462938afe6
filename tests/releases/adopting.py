"""Writes the certain facts about a new release into the project's tables.

These are the pins of the jars, the files generated from them, and the versions of APIs. A person
reviews the changes with `git diff`.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafka_shim.protocol.codec.message_spec import snake_case
from kafka_shim.schemas.pins import PYPROJECT, read_pins, sha256_of
from kafka_shim.schemas.releases import Release, features, minor_release, settings
from kafka_shim.schemas.releases.extract import JARS, MANIFEST, fact_file_texts, manifest_text
from tests.oracle.real_kafka import jars, numbers
from tests.releases.snapshot import Range, Snapshot

VERSIONS = Path("src/kafka_shim/protocol/api_versions.py")
GENERATORS = (
    "kafka_shim.schemas.vendor",
    "kafka_shim.protocol.generate",
    "kafka_shim.shim.state.settings.generate_definitions",
)


def registry_checksum(jar: Path) -> str:
    """Return the SHA-256 of a downloaded jar; ValueError unless its SHA-1 is the published one."""
    group, version = "org/apache/kafka", jar.stem.rpartition("-")[2]
    name = jar.stem.removesuffix(f"-{version}")
    published = Path.home() / ".m2" / "repository" / group / name / version / f"{jar.name}.sha1"
    content = jar.read_bytes()
    if hashlib.sha1(content, usedforsecurity=False).hexdigest() != published.read_text().split()[0]:
        raise ValueError(f"`{jar.name}` does not have the sha1 that the registry published")
    return sha256_of(jar)


def pinned(text: str, checksums: Mapping[str, str], release: str) -> str:
    """Return pyproject.toml with the newest release's jars replaced by those of `release`.

    Jars of older releases, which have versions that later ones dropped, stay.
    """
    newest = read_pins().newest
    for name, checksum in checksums.items():
        text = re.sub(
            rf'(artifact = "org\.apache\.kafka:{name}:){re.escape(newest)}("[^\n]*\nsha256 = ")\w+',
            rf"\g<1>{release}\g<2>{checksum}",
            text,
        )
    return text


def adopt_jars(release: str) -> None:
    """Pin the jars of a release, and write the files generated from them."""
    names = {jar.artifact.split(":")[1] for jar in read_pins().jars}
    checksums = {
        name: registry_checksum(jars(release) / f"{name}-{release}.jar") for name in sorted(names)
    }
    PYPROJECT.write_text(pinned(PYPROJECT.read_text(), checksums, release))
    for module in GENERATORS:
        subprocess.run([sys.executable, "-m", module], check=True)


def adopt_facts(new: Snapshot) -> None:
    """Pin the jars that settings and features are read from, and add them to the history."""
    pins = json.loads(JARS.read_text())
    known = {version: release_at(minor_release(version)) for version in pins["releases"]}
    if minor_release(new.release) in map(minor_release, known):
        return
    newest = pins["releases"][max(known, key=numbers)]
    found = artifacts(newest, jars(new.release))
    pins["releases"][new.release] = sorted(found)
    pins["sha256"] = dict(sorted((pins["sha256"] | found).items()))
    JARS.write_text(json.dumps(pins, indent=1) + "\n")
    for path, text in fact_file_texts(known | {new.release: new.facts}).items():
        path.write_text(text)
    MANIFEST.write_text(manifest_text())


def release_at(name: str) -> Release:
    """Return the facts about a minor release that is in the history."""
    found: Release = {}
    for kind, names in {**settings(), **features()}.items():
        for subject, history in names.items():
            begun = [fact for since, fact in history.items() if numbers(since) <= numbers(name)]
            if begun and begun[-1] is not None:
                found.setdefault(kind, {})[subject] = begun[-1]
    return found


def artifacts(before: Iterable[str], libs: Path) -> dict[str, str]:
    """Return the coordinates of the same artifacts in a newer release, with their SHA-256."""
    found = {}
    for artifact in before:
        group, name, _ = artifact.split(":")
        for path in libs.glob(f"{name}-[0-9]*.jar"):
            version = path.stem.removeprefix(f"{name}-")
            found[f"{group}:{name}:{version}"] = sha256_of(path)
    return found


def with_versions(text: str, old: Snapshot, new: Snapshot) -> str:
    """Return protocol/api_versions.py with the versions of the newer release.

    Entries are added where the jars of the two releases differ. The lowest version of an API stays
    as in the table, which may be higher than in the jars.
    """
    name = minor_release(new.release)
    if f'"{name}"' in text:
        return text
    text = _with_release(text, minor_release(old.release), name)
    for api, offered in new.apis.items():
        before = old.apis.get(api)
        if before == offered:
            continue
        key = snake_case(api).upper()
        if before is None:
            text = _with_api(text, key, f"{name}:{offered}")
        else:
            text = _with_entry(text, key, name, before, offered)
    return text


def _with_release(text: str, old: str, new: str) -> str:
    is_major = old.partition(".")[0] != new.partition(".")[0]
    added = f'"{old}"),\n    *("{new}",)' if is_major else f'"{old}", "{new}")'
    return text.replace(f'"{old}")', added, 1)


def _with_api(text: str, key: str, entry: str) -> str:
    """Add a row at the end of the table of advertised versions."""
    start = text.index("_ADVERTISED")
    end = text.index("\n}\n", start)
    return f'{text[:end]}\n    ApiKey.{key}: "{entry}",{text[end:]}'


def _with_entry(text: str, key: str, name: str, before: Range, offered: Range) -> str:
    """Add an entry at the end of a row, which may have several lines."""
    start = text.index(f"    ApiKey.{key}: ")
    end = text.index(",\n    ApiKey.", start)
    row = text[start:end]
    last = re.findall(r"(\d+)-\d+", row)[-1]
    low = offered.low if offered.low != before.low else int(last)
    at = row.rindex('"')
    return f"{text[:start]}{row[:at]} {name}:{low}-{offered.high}{row[at:]}{text[end:]}"
