"""Lets a client driver make a row of calls: `python calls.py DRIVER ...`, servers by variables."""

import json
import os
import subprocess
import sys

PLAINTEXT = os.environ["KAFKA_BOOTSTRAP_SERVERS_PLAINTEXT"]
SASL = os.environ["KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"]
READ = {"name": "orders", "principal": "User:alice", "host": "*", "operation": "READ"}
ACL = READ | {"resource_type": "TOPIC", "pattern_type": "PREFIXED", "permission": "ALLOW"}
ANY = {"name": None, "principal": None, "host": None, "operation": "ANY"}
FILTER = ANY | {"resource_type": "ANY", "pattern_type": "ANY", "permission": "ANY"}
CALLS = (
    ("create_topic", None, {"topic": "orders"}),
    ("create_acls", None, {"acls": [ACL]}),
    ("list_acls", None, {"filter": FILTER}),
    ("list_acls", None, {"filter": FILTER | {"pattern_type": "MATCH", "name": "orders-eu"}}),
    ("cluster_operations", None, {}),
    ("group_operations", None, {"group": "billing"}),
    ("produce", None, {"topic": "orders", "values": ["a", "b"], "idempotent": True}),
    ("consume", None, {"topic": "orders", "group": "g", "count": 2, "seconds": 15}),
    ("create_topic", "alice", {"topic": "denied"}),
    ("create_acls", "alice", {"acls": [ACL]}),
    ("delete_acls", None, {"filters": [FILTER]}),
)


def main() -> int:
    lines = [
        json.dumps(
            {"call": call, "servers": SASL if user else PLAINTEXT, "user": user, "arguments": more}
        )
        for call, user, more in CALLS
    ]
    done = subprocess.run(sys.argv[1:], input="\n".join(lines), text=True, check=False, timeout=120)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
