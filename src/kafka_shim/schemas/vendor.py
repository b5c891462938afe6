"""Regenerate schemas/kafka/ and codes.json from the pinned jars, or prove that they are theirs.

`python -m kafka_shim.schemas.vendor` fetches the pinned jars by their Maven coordinates and
rewrites the definitions and codes. `--check` compares instead: always the checksums in
manifest.json with the files and the pins, and, when the jars are at hand, every definition and code
with what the jars give.
`--jar PATH` (may be repeated) uses a jar that is already there. Exits 1 when something does not
match.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from kafka_shim.schemas import schemas_folder
from kafka_shim.schemas.facts import (
    Definition,
    read_enum_codes_of_jar,
    read_jar_definitions,
    render_message_definition,
)
from kafka_shim.schemas.merge import merge_definitions
from kafka_shim.schemas.pins import Jar, Pins, read_pins, sha256_of

KAFKA = schemas_folder() / "kafka"
CODES = KAFKA.parent / "codes.json"
MANIFEST = KAFKA.parent / "manifest.json"
LOCAL_REPOSITORY = Path.home() / ".m2" / "repository"


def definition_file_texts(pins: Pins, jars: list[Path]) -> dict[str, str]:
    """Return the text of every vendored file by its name, from the pinned jars in order."""
    merged: dict[str, Definition] = {}
    for jar, path in zip(pins.jars, jars, strict=True):
        for name, definition in read_jar_definitions(path, jar).items():
            merged[name] = (
                merge_definitions(merged[name], definition) if name in merged else definition
            )
    return {
        f"{name}.json": render_message_definition(merged[name])
        for name in sorted(merged.keys() - pins.without)
    }


def codes_text(jars: list[Path]) -> str:
    """Return the text of codes.json: a later jar has the name of a code, an older one may add."""
    merged: dict[str, dict[int, str]] = {}
    for path in jars:
        for enum, constants in read_enum_codes_of_jar(path).items():
            merged.setdefault(enum, {}).update({code: name for name, code in constants.items()})
    by_name = {
        enum: {name: code for code, name in sorted(names.items())} for enum, names in merged.items()
    }
    return json.dumps(by_name, indent=1) + "\n"


def manifest_text(pins: Pins, files: dict[str, str], codes: str) -> str:
    """Say which jars gave which files and codes, with the SHA-256 of each."""
    sums = {name: _sha256(text) for name, text in files.items()}
    jars = {jar.artifact: jar.sha256 for jar in pins.jars}
    return json.dumps({"jars": jars, "codes": _sha256(codes), "files": sums}, indent=1) + "\n"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def find_jar(jar: Jar, candidates: list[Path]) -> Path | None:
    """Return where the jar lies: among those given, or in Maven's local repository."""
    for path in [*candidates, LOCAL_REPOSITORY / jar.repository_path]:
        if path.name == jar.file_name and path.exists():
            if sha256_of(path) != jar.sha256:
                raise ValueError(f"`{path.name}` does not have the pinned sha256")
            return path
    return None


def fetch_jar(jar: Jar, candidates: list[Path]) -> Path:
    """Return the jar, letting Maven bring it when it is not there yet."""
    if (path := find_jar(jar, candidates)) is None:
        maven = shutil.which("mvn")
        if maven is None:
            raise FileNotFoundError(
                f"no mvn to fetch `{jar.artifact}` with: install it or use --jar"
            )
        command = [maven, "-q", "-B", "dependency:get", f"-Dartifact={jar.artifact}"]
        subprocess.run([*command, "-Dtransitive=false"], check=True)  # noqa: S603 - from our own pins
        path = find_jar(jar, candidates)
    if path is None:
        raise FileNotFoundError(f"`{jar.artifact}` was not found: use --jar PATH")
    return path


def check_vendored_files(pins: Pins, candidates: list[Path]) -> list[str]:
    """Return what does not match, empty when all is well."""
    present = {path.name: path.read_text() for path in sorted(KAFKA.glob("*.json"))}
    codes = CODES.read_text() if CODES.exists() else ""
    if not MANIFEST.exists() or MANIFEST.read_text() != manifest_text(pins, present, codes):
        return ["schemas/manifest.json does not match the pins, schemas/kafka and codes.json"]
    paths = [find_jar(jar, candidates) for jar in pins.jars]
    jars = [path for path in paths if path is not None]
    if len(jars) < len(pins.jars):
        sys.stdout.write("schemas: checksums match; the pinned jars are not at hand to compare\n")
        return []
    expected = definition_file_texts(pins, jars)
    names = sorted(expected.keys() | present.keys())
    stale = [f"kafka/{name}" for name in names if expected.get(name) != present.get(name)]
    if codes != codes_text(jars):
        stale.append("codes.json")
    return [f"schemas/{name} is not what the pinned jars give" for name in stale]


def write_vendored_files(files: dict[str, str], codes: str, manifest: str) -> None:
    KAFKA.mkdir(exist_ok=True)
    for stale in {path.name for path in KAFKA.glob("*.json")} - files.keys():
        (KAFKA / stale).unlink()
    for name, text in files.items():
        (KAFKA / name).write_text(text)
    CODES.write_text(codes)
    MANIFEST.write_text(manifest)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m kafka_shim.schemas.vendor", description=__doc__
    )
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--jar", action="append", default=[], type=Path, metavar="PATH")
    options = parser.parse_args(arguments)
    pins = read_pins()
    if options.check:
        problems = check_vendored_files(pins, options.jar)
        sys.stderr.writelines(
            f"{problem}: run python -m kafka_shim.schemas.vendor\n" for problem in problems
        )
        return 1 if problems else 0
    jars = [fetch_jar(jar, options.jar) for jar in pins.jars]
    files, codes = definition_file_texts(pins, jars), codes_text(jars)
    write_vendored_files(files, codes, manifest_text(pins, files, codes))
    sys.stdout.write(f"schemas: {len(files)} definitions written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
