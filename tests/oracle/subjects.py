"""Record how Java writes the subjects of certificates: `python -m tests.oracle.subjects`.

Writes tests/shim/tls/subjects_recorded.json.gz. Needs Java 17; `--java DIR` names another one, whose
texts are then only compared with the recorded ones.
"""

import argparse
import base64
import json
import subprocess
import tempfile
from pathlib import Path

from tests.recordings.store import write_file
from tests.shim.tls.subjects import RECORDED, certificate_with, random_subjects, recorded

PROGRAM = Path(__file__).parent / "java" / "Subjects.java"
DIFFERENT = 3


def subjects_by_java(certificates: list[bytes], java: str = "") -> list[str | None]:
    """Return Java's text of each subject; None where it rejects the certificate."""
    folder = f"{java}/bin/" if java else ""
    lines = "\n".join(base64.b64encode(certificate).decode() for certificate in certificates)
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([f"{folder}javac", "-d", classes, str(PROGRAM)], check=True)
        command = [f"{folder}java", "-cp", classes, "Subjects"]
        done = subprocess.run(command, input=lines, check=True, capture_output=True, text=True)
    return [
        None if line == "-" else base64.b64decode(line[1:]).decode()
        for line in done.stdout.splitlines()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--java", default="", help="compare with the Java in this directory")
    arguments = parser.parse_args()
    if not arguments.java:
        subjects = random_subjects()
        texts = subjects_by_java([certificate_with(*subject) for subject in subjects])
        rows = [[name.hex(), form, text] for (name, form), text in zip(subjects, texts, strict=True)]
        write_file(RECORDED, json.dumps(rows, separators=(",", ":")).encode())
        return 0
    rows_before = recorded()
    texts = subjects_by_java([row.certificate for row in rows_before], arguments.java)
    differing = [
        (row, text) for row, text in zip(rows_before, texts, strict=True) if row.text != text
    ]
    for row, text in differing[:20]:
        print(f"{row.certificate.hex()}\n  recorded {row.text!r}\n  now      {text!r}")
    print(f"{len(differing)} of {len(texts)} differ")
    return DIFFERENT if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
