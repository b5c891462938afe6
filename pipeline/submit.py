"""The jobs under `spark-submit`: `spark-submit pipeline/submit.py JOB TRACE ...`.

The command line is that of `kafka-shim pipeline`; where and how Spark runs is spark-submit's.
"""

import argparse
import sys

from kafka_shim.pipeline.cli import add_arguments, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="submit.py", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
