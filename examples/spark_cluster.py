"""A Spark cluster of two workers on this machine, and a command that is run on it.

    python examples/spark_cluster.py what-breaks TRACE --acls candidate.yaml --json

Master and workers are processes of their own on 127.0.0.1, with ports from the operating system,
and end with this one. The packages go to the workers as an archive (docs/guides/pipeline.md).
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

from kafka_shim.pipeline.package import write_worker_packages
from kafka_shim.pipeline.spark_requirements import missing_requirement

ROOT = Path(__file__).parents[1]
SPARK = Path(pyspark.__file__).parent
WORKERS = 2
PATIENCE_S = 300
_BRIEF = "-XX:TieredStopAtLevel=1"
"""The first compiler only: a third less for runs of a minute."""
SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.executor.extraJavaOptions": _BRIEF,
    "spark.sql.shuffle.partitions": str(WORKERS),
}
"""Of Spark, for a cluster as small as this one."""
_LOG = f"-Dlog4j.configurationFile={(ROOT / 'examples' / 'spark_cluster.properties').as_uri()}"


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The master's address while the cluster runs; logs and executors' folders are in `folder`."""
    local = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with contextlib.ExitStack() as children:
        children.enter_context(_daemon("master.Master", local, folder / "master.log"))
        address = _wait_for(folder / "master.log", r"Starting Spark master at (spark://\S+)")
        for number in range(1, WORKERS + 1):
            log = folder / f"worker-{number}.log"
            size = ["--cores", "1", "--memory", "640m", "--work-dir", str(folder / f"w{number}")]
            children.enter_context(_daemon("worker.Worker", [*local, *size, address], log))
        for number in range(1, WORKERS + 1):
            _wait_for(folder / f"worker-{number}.log", r"(Successfully registered with master)")
        yield address


@contextlib.contextmanager
def _daemon(name: str, options: list[str], log: Path) -> Iterator[None]:
    variables = environment() | {"SPARK_DAEMON_MEMORY": "256m"}
    variables["SPARK_DAEMON_JAVA_OPTS"] = f"{_LOG} {_BRIEF}"
    command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with log.open("wb") as output:
        child = subprocess.Popen(command, stdout=output, stderr=output, env=variables)
    try:
        yield
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def environment() -> dict[str, str]:
    """Of the cluster's processes, and of spark-submit."""
    return os.environ | {
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }


def _wait_for(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"{log} does not say `{pattern}`:\n{log.read_text()[-2000:]}")


def submit(
    address: str, folder: Path, words: list[str], settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a job of `kafka-shim pipeline` on the cluster, with further settings of Spark."""
    archive = folder / "kafka-shim.zip"
    write_worker_packages(archive)
    command = [str(SPARK / "bin" / "spark-submit"), "--master", address]
    command += ["--archives", f"{archive}#kafka-shim", "--driver-java-options", f"{_LOG} {_BRIEF}"]
    given = SETTINGS | {"spark.executorEnv.PYTHONPATH": "kafka-shim"} | dict(settings or {})
    for name, value in given.items():
        command += ["--conf", f"{name}={value}"]
    return subprocess.run(
        [*command, str(ROOT / "src" / "kafka_shim" / "pipeline" / "submit.py"), *words],
        env=environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    problem = missing_requirement()
    if problem is not None:
        sys.exit(f"spark_cluster: {problem}")
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)) as address:
        done = submit(address, Path(folder), sys.argv[1:])
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
