"""Runs the commands that are to start fast, the broker's among them; prints imported modules.

python start_commands.py FOLDER
"""

import sys
from pathlib import Path

from kafka_shim.cli import main

acls = Path(sys.argv[1], "acls.yaml")
acls.write_text("acls: [{principal: User:alice, allow: Read, topic: orders}]")
access = ["--principal", "User:alice", "--operation", "Read", "--resource", "topic:orders"]
ask = [sys.executable, "-m", "kafka_shim", "acls", "--list"]
for command in (
    ["acls", "--acls", str(acls), "--format", "csv"],
    ["explain", "--acls", str(acls), *access],
    ["run", "--control", "127.0.0.1:0", "--acls", str(acls), "--", *ask],
):
    assert main(command) == 0, command
specs = filter(None, (getattr(each, "__spec__", None) for each in [*sys.modules.values()]))
named = {spec.name: spec.origin or "" for spec in specs if not spec.name.startswith("sitecustom")}
text = "".join(f"{name}\t{origin}\n" for name, origin in named.items())
Path(sys.argv[1], "imported.txt").write_text(text)
