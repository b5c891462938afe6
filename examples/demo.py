"""Start a broker with demo users and ACLs, show one allowed and one denied client, and serve on.

`make run` starts it. Options are those of `kafka-shim serve`; Ctrl-C ends the broker.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).parent
SHIM = [sys.executable, "-m", "kafka_shim"]
PAGE = """
  A Kafka broker for tests, with users and ACLs.

    {PLAINTEXT}   PLAINTEXT        no authentication, everything allowed
    {SASL_PLAINTEXT}   SASL_PLAINTEXT   users admin, alice, bob, carol; passwords NAME-secret

  Their ACLs and the topics are in examples/demo.yaml. Your own file: kafka-shim serve --state FILE

  Two clients have just sent a record to the topic orders:

{clients}

  Why was carol denied, and what allows it?

    $ .venv/bin/kafka-shim {explain}
{reason}

  Try in another terminal:

    .venv/bin/kafka-shim acls --bootstrap-server {PLAINTEXT} --list
    .venv/bin/kafka-shim who-can Read topic:orders-eu --bootstrap-server {PLAINTEXT}
    .venv/bin/python examples/denied.py {SASL_PLAINTEXT}

  Any Kafka client can connect: kafka-acls.sh, kcat, your own program. Ctrl-C stops the broker.
"""


def main(options: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready")
        command = [*SHIM, "serve", *options, "--ready-file", str(ready), "--stop-with-stdin"]
        broker = subprocess.Popen(command, stdin=subprocess.PIPE)
        try:
            while not ready.exists() and broker.poll() is None:
                time.sleep(0.02)
            if broker.poll() is None:
                show_two_clients(dict(line.split("=", 1) for line in ready.read_text().split()))
            return broker.wait()
        except KeyboardInterrupt:
            return broker.wait()


def show_two_clients(addresses: dict[str, str]) -> None:
    denied = run([sys.executable, str(EXAMPLES / "denied.py"), addresses["SASL_PLAINTEXT"]])
    explain = (
        f"explain --bootstrap-server {addresses['PLAINTEXT']}"
        " --principal User:carol --operation Write --resource topic:orders"
    )
    reason = run([*SHIM, *explain.split()])
    page = PAGE.format(**addresses, clients=denied, explain=explain, reason=reason)
    print(page, flush=True)


def run(command: list[str]) -> str:
    """Return the indented output of a command."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "\n".join(f"    {line}" for line in (done.stdout + done.stderr).splitlines())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
