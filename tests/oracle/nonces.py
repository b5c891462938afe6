"""Record which final nonces releases accept in SCRAM: `python -m tests.oracle.nonces 3.7.1 4.4.0`.

Adds them to tests/shim/sasl/nonces_recorded.json, by Kafka's own server class. Needs Java 17 and
Maven.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.oracle.real_kafka import fetched
from tests.shim.sasl.test_scram import NONCES, RECORDED_NONCES

PROGRAM = Path(__file__).parent / "java" / "ScramNonces.java"


def main(releases: list[str]) -> None:
    recorded = json.loads(RECORDED_NONCES.read_text()) if RECORDED_NONCES.exists() else {}
    for release in releases:
        name = f"kafka-clients-{release}"
        libs = fetched(name, [("org.apache.kafka", "kafka-clients", release)])
        with tempfile.TemporaryDirectory() as classes:
            path = f"{classes}:{libs}/*"
            subprocess.run(["javac", "-d", classes, "-cp", path, str(PROGRAM)], check=True)
            command = ["java", "-cp", path, "ScramNonces", *NONCES]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        pairs = [line.split() for line in done.stdout.splitlines()]
        recorded[release] = [kind for kind, accepted in pairs if accepted == "true"]
    lines = [f'  "{release}": {json.dumps(recorded[release])}' for release in sorted(recorded)]
    RECORDED_NONCES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
