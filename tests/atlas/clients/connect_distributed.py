"""Start a distributed worker of Connect, create a connector over REST, and stop on SIGTERM.

python connect_distributed.py WORKER_PROPERTIES CONNECTOR_JSON JAVA_COMMAND ...
"""

import contextlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

REST_SECONDS = 150


def main() -> int:
    worker, connector, *command = sys.argv[1:]
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with Path(worker).open("a") as file:
        file.write(f"listeners=http://{address}\n")
    process = subprocess.Popen([*command, worker])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    request = urllib.request.Request(
        f"http://{address}/connectors/lines/config",
        Path(connector).read_bytes(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    deadline = time.monotonic() + REST_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=20):
            break
        time.sleep(0.5)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
