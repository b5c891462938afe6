"""`python -m tests.mutants.first_difference FILE`: print the first vector that a shim differs in.

The shim is the `kafka_shim` on PYTHONPATH, which may be a copy with a bug.
"""

import sys

from kafka_shim.conformance.vectors.runner import VectorOutcome, VectorResult, VectorRunner
from kafka_shim.conformance.vectors.vector_files import read_vector_file
from tests.recordings.test_vectors import shim_of
from tests.recordings.vectors import FOLDER


class DifferenceError(Exception):
    """The broker differs in a vector."""


def raise_if_not_equal(result: VectorResult) -> None:
    if result.outcome is not VectorOutcome.EQUAL:
        outcome = result.outcome.value
        raise DifferenceError(f"{result.vector.id} {outcome}: {result.reason}")


def main() -> None:
    vectors = read_vector_file(FOLDER / sys.argv[1])
    with shim_of(vectors) as addresses:
        runner = VectorRunner(addresses)
        try:
            runner.run_file(vectors, raise_if_not_equal)
        except DifferenceError as difference:
            sys.stdout.write(f"{difference}\n")
        finally:
            runner.close()


if __name__ == "__main__":
    main()
