"""Compare a broker with test vectors: python compare_errors.py FILE PLAINTEXT_ADDRESS SASL_ADDRESS.

This needs kafka-python, for the ACLs, and compares three APIs whose responses begin with the
throttle time and the error code. With a codec for Kafka's messages you can compare all APIs.
"""

import base64
import json
import socket
import struct
import sys
from pathlib import Path

from kafka import KafkaAdminClient, admin

# the API's key, its first flexible version, and the versions whose responses begin so
APIS = {"FindCoordinator": (10, 3, (1, 2, 3)), "InitProducerId": (22, 2, range(6))}
APIS["DescribeAcls"] = (29, 2, range(4))


def send(peer: socket.socket, key: int, version: int, body: bytes, tags: bytes = b"") -> bytes:
    request = struct.pack(">hhih", key, version, 7, 0) + tags + body
    peer.sendall(struct.pack(">i", len(request)) + request)
    (size,) = struct.unpack(">i", peer.recv(4, socket.MSG_WAITALL))
    return peer.recv(size, socket.MSG_WAITALL)[4 + len(tags) :]  # without the response's header


def log_in(address: str, user: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    peer = socket.create_connection((host, int(port)), 10)
    if user != "anonymous":
        message = f"\0{user}\0{user}-secret".encode()
        send(peer, 17, 1, struct.pack(">h", 5) + b"PLAIN")
        send(peer, 36, 0, struct.pack(">i", len(message)) + message)
    return peer


def acl(row: dict[str, str]) -> admin.ACL:
    pattern = admin.ACLResourcePatternType[row.get("patternType", "LITERAL")]
    kind, name = admin.ResourceType[row["resourceType"]], row["resourceName"]
    operation = admin.ACLOperation[row["operation"]]
    permission = admin.ACLPermissionType[row["permissionType"]]
    resource = admin.ResourcePattern(kind, name, pattern)
    return admin.ACL(row["principal"], row["host"], operation, permission, resource)


file, plain, sasl = sys.argv[1:]
client, equal, different = KafkaAdminClient(bootstrap_servers=plain), 0, 0
kind, pattern = admin.ResourceType.ANY, admin.ACLResourcePatternType.ANY
every = admin.ResourcePatternFilter(kind, None, pattern)
every = admin.ACLFilter(None, None, admin.ACLOperation.ANY, admin.ACLPermissionType.ANY, every)
for group in json.loads(Path(file).read_text())["groups"]:
    client.delete_acls([every])
    client.create_acls([acl(row) for row in group["given"].get("acls", [])])
    for vector in group["vectors"]:
        when, expected = vector["when"], vector["then"].get("errorCodes", [])
        key, flexible, versions = APIS.get(when["api"], (0, 0, ()))
        if when["version"] not in versions or "takes" in when or "outcome" in vector["then"]:
            continue
        with log_in(plain if when["user"] == "anonymous" else sasl, when["user"]) as peer:
            tags = b"\0" * (when["version"] >= flexible)
            body = send(peer, key, when["version"], base64.b64decode(when["body"]), tags)
        code = struct.unpack(">h", body[4:6])[0]
        if [code] == (expected or [0]):
            equal += 1
        else:
            different += 1
            print(f"{vector['id']}: expected {expected}, got {code}")
print(f"{equal} equal, {different} different")
sys.exit(1 if different else 0)
