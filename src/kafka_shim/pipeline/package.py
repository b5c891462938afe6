"""`python -m kafka_shim.pipeline.package FILE.zip`: pack this project for a cluster's workers.

    spark-submit --archives FILE.zip#kafka-shim --conf spark.executorEnv.PYTHONPATH=kafka-shim \
        src/kafka_shim/pipeline/submit.py what-breaks TRACE --acls candidate.yaml

The workers' Python also needs pyarrow, msgspec and crc32c, compiled for its platform.
"""

import sys
import zipfile
from pathlib import Path

PACKAGES = ("text", "schemas", "protocol", "trace_format", "authorizer", "policy", "pipeline")
"""The rooms that the pipeline imports, and itself."""
_KEPT = {".py", ".json", ".css", ".properties"}


def write_worker_packages(target: Path) -> None:
    """Write the packages that the workers need into a zip archive."""
    house = Path(__file__).parents[1]
    files = [*house.glob("*.py")]
    for package_name in PACKAGES:
        files += (path for path in (house / package_name).rglob("*") if path.suffix in _KEPT)
    names = sorted(path.relative_to(house.parent) for path in files)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.write(house.parent / name, str(name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m kafka_shim.pipeline.package FILE.zip")
    write_worker_packages(Path(sys.argv[1]))
