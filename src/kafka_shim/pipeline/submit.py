"""The jobs under `spark-submit`: `spark-submit src/kafka_shim/pipeline/submit.py JOB TRACE ...`.

The options are those of `kafka-shim pipeline`; spark-submit defines where and how Spark runs.
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
