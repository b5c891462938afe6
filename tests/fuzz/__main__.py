"""`python -m tests.fuzz`: send random frames to the broker; keep failing ones in found/."""

import argparse
import secrets
import sys

from kafka_shim.protocol.api_versions import RELEASES
from tests.fuzz.judging import fuzz


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "--frames", type=int, default=100_000, help="number of frames (default: 100000)"
    )
    parser.add_argument("--seed", default=None, help="repeat the frames of an earlier run")
    parser.add_argument(
        "--release", action="append", help="a release of Kafka (repeatable; default: all)"
    )
    given = parser.parse_args()
    seed = given.seed or secrets.token_hex(4)
    sys.stdout.write(f"seed {seed}\n")
    sys.stdout.flush()
    report = fuzz(seed, given.release or list(RELEASES), given.frames)
    for failure in report.failures[:20]:
        sys.stderr.write(f"{failure.save()}: {failure.why}\n")
    sys.stdout.write("\n".join(report.lines()) + "\n")
    return 0 if report.is_clean else 3


if __name__ == "__main__":
    sys.exit(main())
