"""`python -m tests.mutants.first_difference FILE`: print the first vector that a shim differs in.

The shim is the `kafka_shim` on PYTHONPATH, which may be a copy with a bug.
"""

import sys

from kafka_shim.shim.conformance.vectors.vector_files import read_vector_file
from tests.recordings.test_vectors import shim_of, unequal
from tests.recordings.vectors import FOLDER

if __name__ == "__main__":
    vectors = read_vector_file(FOLDER / sys.argv[1])
    with shim_of(vectors) as addresses:
        differences = unequal(vectors, addresses)
    for vector_id, outcome, reason in differences[:1]:
        sys.stdout.write(f"{vector_id} {outcome}: {reason} ({len(differences)} differ)\n")
