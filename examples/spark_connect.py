"""A Spark Connect server on this machine, for `kafka-shim pipeline JOB ... --remote sc://...`.

    python examples/spark_connect.py [PYTHON]

It prints its address and ends with Ctrl-C or SIGTERM. PYTHON is that of its workers, which needs
pyarrow, pandas, msgspec and crc32c; kafka-shim's own packages are sent along with each job.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

SPARK = Path(pyspark.__file__).parent
PATIENCE_S = 300
SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@contextlib.contextmanager
def server(
    folder: Path, python: str = sys.executable, settings: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The address of a server that runs meanwhile; its log is in the folder."""
    port = _free_port()
    given = SETTINGS | {"spark.connect.grpc.binding.port": str(port)} | dict(settings or {})
    command = [str(SPARK / "bin" / "spark-submit")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    for name, value in given.items():
        command += ["--conf", f"{name}={value}"]
    variables = os.environ | {"PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    variables |= {"SPARK_HOME": str(SPARK)}
    variables.pop("PYTHONPATH", None)
    log = folder / "server.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [*command, "spark-internal"], stdout=output, stderr=output, env=variables, cwd=folder
        )
    try:
        _wait_for(port, child, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int, child: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"the server did not start:\n{log.read_text()[-2000:]}")


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), python) as address:
        print(address, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
