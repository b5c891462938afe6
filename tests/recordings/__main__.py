"""Record real brokers: `python -m tests.recordings KIND RELEASE [SCENARIO ...]`.

KIND is records, groups, telemetry or audit; RELEASE is the full one (`4.3.1`). A real broker is
started, with Java 17 and Maven (telemetry: and javac). Scenarios that are named replace those in
the recording.
"""

import argparse

from tests.recordings.kinds import KINDS
from tests.recordings.recorder import record
from tests.shim.traffic.importers import audit_recording

AUDIT = "audit"
"""Lines of an authorizer's log: they are text, and one scenario."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.recordings", description=__doc__)
    parser.add_argument("kind", choices=[*KINDS, AUDIT])
    parser.add_argument("release")
    parser.add_argument("scenario", nargs="*")
    options = parser.parse_args()
    if options.kind == AUDIT:
        if options.scenario:
            parser.error("audit has no scenarios")
        audit_recording.record(options.release)
        return
    kind = KINDS[options.kind]
    if unknown := sorted(set(options.scenario) - set(kind.scenarios)):
        parser.error(f"unknown scenario {unknown[0]}: choose from {', '.join(kind.scenarios)}")
    for line in record(kind, options.release, options.scenario):
        print(line, flush=True)  # noqa: T201 - a command for people


if __name__ == "__main__":
    main()
