"""Record responses of real brokers, or list the kinds of recordings.

`python -m tests.recordings` lists the kinds of scenarios and the recorded releases.
`python -m tests.recordings KIND RELEASE [SCENARIO ...]` starts a real broker of that release (with
its patch, `4.3.1`), plays the scenarios on it and stores the responses. Named scenarios replace
those in the recording. Needs Java 17 and Maven, and javac for telemetry.
"""

import argparse
import sys
from collections.abc import Iterator

from tests.recordings.kinds import KINDS
from tests.recordings.recorder import record


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.recordings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", nargs="?", choices=KINDS)
    parser.add_argument("release", nargs="?")
    parser.add_argument("scenario", nargs="*")
    options = parser.parse_args()
    if options.kind is None:
        _print(kinds())
        return
    if options.release is None:
        parser.error("a release is missing, such as 4.3.1")
    kind = KINDS[options.kind]
    known = kind.scenarios(options.release)
    if unknown := sorted(set(options.scenario) - set(known)):
        parser.error(f"unknown scenario {unknown[0]}: choose from {', '.join(known)}")
    _print(record(kind, options.release, options.scenario))


def kinds() -> Iterator[str]:
    """Yield a line for each kind: its name and the recorded releases."""
    for name, kind in KINDS.items():
        yield f"{name}: {', '.join(kind.recordings.releases())}"


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
