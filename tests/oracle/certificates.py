"""Record principals of certificates: `python -m tests.oracle.certificates 4.4.0`.

How Java writes subjects, and what Kafka maps them to. Writes subjects_recorded.json.gz and
rules_recorded.json in tests/shim/tls. Needs Java 17 and Maven.
`--java DIR` compares the subjects that another Java writes with the recorded ones.
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.oracle.real_kafka import fetched
from tests.recordings.store import write_file
from tests.shim.tls import rules, subjects

JAVA = Path(__file__).parent / "java"
DIFFERENT = 3


def subjects_by_java(certificates: list[bytes], java: str = "") -> list[str | None]:
    """Return Java's text of each subject; None where it rejects the certificate."""
    lines = "\n".join(base64.b64encode(certificate).decode() for certificate in certificates)
    return [_decoded(line) for line in _run("Subjects", lines, java=java)]


def principals_by_kafka(release: str) -> list[list[str | None] | None]:
    """Return what a release maps NAMES to by each of RULES; None where it rejects the rules."""
    name = f"kafka-clients-{release}"
    libs = fetched(name, [("org.apache.kafka", "kafka-clients", release)])
    lines = "\n".join("\t".join(map(_encoded, [text, *rules.NAMES])) for text in rules.RULES)
    return [
        None if line == "!" else [_decoded(text) for text in line.split("\t")]
        for line in _run("PrincipalRules", lines, f"{libs}/*")
    ]


def _run(program: str, lines: str, libs: str = "", java: str = "") -> list[str]:
    folder = f"{java}/bin/" if java else ""
    with tempfile.TemporaryDirectory() as classes:
        path = f"{classes}:{libs}"
        source = str(JAVA / f"{program}.java")
        subprocess.run([f"{folder}javac", "-d", classes, "-cp", path, source], check=True)
        command = [f"{folder}java", "-cp", path, program]
        done = subprocess.run(command, input=lines, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _decoded(text: str) -> str | None:
    return None if text == "-" else base64.b64decode(text[1:]).decode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", help="release whose mapping of names is recorded")
    parser.add_argument("--java", default="", help="compare with the Java in this directory")
    arguments = parser.parse_args()
    if arguments.java:
        return _compare(arguments.java)
    names = subjects.random_subjects()
    texts = subjects_by_java([subjects.certificate_with(*name) for name in names])
    rows = [[name.hex(), form, text] for (name, form), text in zip(names, texts, strict=True)]
    write_file(subjects.RECORDED, json.dumps(rows, separators=(",", ":")).encode())
    pairs = zip(rules.RULES, principals_by_kafka(arguments.release), strict=True)
    lines = ",\n".join(json.dumps([text, mapped]) for text, mapped in pairs)
    rules.RECORDED.write_text(f"[\n{lines}\n]\n")
    return 0


def _compare(java: str) -> int:
    before = subjects.recorded()
    texts = subjects_by_java([row.certificate for row in before], java)
    differing = [pair for pair in zip(before, texts, strict=True) if pair[0].text != pair[1]]
    for row, text in differing[:20]:
        sys.stdout.write(f"recorded {row.text!r}\nnow      {text!r}\n")
    sys.stdout.write(f"{len(differing)} of {len(texts)} differ\n")
    return DIFFERENT if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
