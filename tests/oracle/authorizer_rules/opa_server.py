"""A policy server for Open Policy Agent's plug-in, which decides by the ACLs that it was sent last.

The plug-in has no ACLs of its own. With this server it gets those of each case, so that what the
plug-in adds can be tried: its requests, its cache and its super users.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


def _authorizer(lines: str) -> StandardAuthorizer:
    acls = [
        Acl(
            ResourceType[row["resource_type"]],
            row["resource_name"],
            PatternType[row["pattern_type"]],
            row["principal"],
            row["host"],
            Operation[row["operation"]],
            Permission[row["permission"]],
        )
        for row in map(json.loads, lines.splitlines())
    ]
    return StandardAuthorizer(rules=acl_rules_of_release("3.9"), store=AclStore(acls))


def _is_allowed(authorizer: StandardAuthorizer, asked: dict[str, Any]) -> bool:
    context, action = asked["requestContext"], asked["action"]
    principal, resource = context["principal"], action["resourcePattern"]
    actor = Actor(f"{principal['principalType']}:{principal['name']}", context["clientAddress"])
    operation, kind = Operation[action["operation"]], ResourceType[resource["resourceType"]]
    if resource["patternType"] == "PREFIXED":  # so the plug-in asks for any resource
        return authorizer.authorize_by_resource_type(actor, operation, kind).allowed
    return authorizer.authorize(actor, Action(operation, kind, resource["name"])).allowed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # else curl waits a second before it sends its body
    wbufsize = 1 << 16  # a response is one packet
    authorizer: ClassVar[StandardAuthorizer]

    def do_PUT(self) -> None:
        _Handler.authorizer = _authorizer(self._body())
        self._respond({})

    def do_POST(self) -> None:
        self._respond({"result": _is_allowed(self.authorizer, json.loads(self._body())["input"])})

    def _body(self) -> str:
        if "Content-Length" in self.headers:
            return self.rfile.read(int(self.headers["Content-Length"])).decode()
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(chunks).decode()

    def _respond(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def opa_server() -> Iterator[str]:
    """Start the server, and return its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
