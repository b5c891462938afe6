"""Record the commands again with the real kafka-acls.sh and a broker without ACLs.

    python -m tests.cli.record_acl_commands PATH/kafka-acls.sh HOST:PORT

To add a command, add an entry with it to the file, and run this.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.printed import complaint, normal

FILE = Path(__file__).parent / "recorded_acl_commands.json"


def main(tool: str, bootstrap: str) -> None:
    recorded = []
    for entry in json.loads(FILE.read_text()):
        done = subprocess.run(
            [tool, "--bootstrap-server", bootstrap, *entry["command"].split()],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        failed = done.returncode != 0
        recorded.append(
            {
                "command": entry["command"],
                "code": done.returncode,
                "output": [] if failed else normal(done.stdout),
                # the error message without the stack trace below it
                "complaint": complaint(done.stderr or done.stdout) if failed else "",
            }
        )
    FILE.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
