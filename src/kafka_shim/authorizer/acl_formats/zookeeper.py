"""The format `zookeeper`: nodes by path, as brokers with ZooKeeper store ACLs (KIP-11, KIP-290).

    {"/kafka-acl/Topic/orders": {"version": 1, "acls": [
        {"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}]}}

Prefixed patterns are below `/kafka-acl-extended/prefixed`. A path may begin with a chroot.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafka_shim.authorizer.acl_formats.documents import listed, mapping, text_of
from kafka_shim.authorizer.acl_formats.fields import PlacedAcl, acl_of, at_line
from kafka_shim.authorizer.acl_formats.json_lines import load_json
from kafka_shim.authorizer.acl_formats.lines import line_of, line_under
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import PatternType

_VERSION = 1
_PATH = re.compile(
    r"(?:/[^/]+)*?/kafka-acl(?:-extended/(?P<pattern>\w+))?/(?P<type>\w+)/(?P<name>.+)", re.DOTALL
)
_CHANGES = re.compile(r"/kafka-acl(-extended)?-changes(/|$)")
"""Messages between brokers, not ACLs."""


def read(text: str) -> list[PlacedAcl]:
    """Return the ACLs of nodes with JSON; AclTextError names the node."""
    nodes = mapping(load_json(text), "the nodes")
    found: list[PlacedAcl] = []
    for path, node in nodes.items():
        if not _CHANGES.search(path):
            line = line_under(nodes, path)
            with at_line(line):
                found += _read_node(path, node, line)
    return found


def write(acls: Iterable[Acl]) -> str:
    """Return each node with its JSON."""
    nodes: dict[str, dict[str, Any]] = {}
    for acl in acls:
        node = nodes.setdefault(_path(acl), {"version": _VERSION, "acls": []})
        node["acls"].append(
            {
                "principal": acl.principal,
                "permissionType": camel_case(acl.permission),
                "operation": camel_case(acl.operation),
                "host": acl.host,
            }
        )
    return json.dumps(nodes, indent=2, ensure_ascii=False) + "\n"


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AclTextError(f"{where} is not JSON: {error}") from error


def _read_node(path: str, value: Any, line: int) -> Iterator[PlacedAcl]:
    """Yield the ACLs of a node's data: an object, or ZooKeeper's text;
    `line` is where it begins.
    """
    found = _PATH.fullmatch(path)
    if found is None:
        raise AclTextError(
            f"`{path}` is not a path of ACLs; expected one such as /kafka-acl/Topic/orders"
        )
    node: Mapping[str, Any] = mapping(
        _parsed(value, path) if isinstance(value, str) else value, path
    )
    if node.get("version") != _VERSION:
        raise AclTextError(f"{path}: version {node.get('version')} is not {_VERSION}")
    what = (found["type"], found["name"], found["pattern"] or "LITERAL")
    for item in listed(node, "acls", path):
        with at_line(line_of(item)):
            entry = mapping(item, path)
            who = (text_of(entry, "principal", path), text_of(entry, "host", path))
            rest = (text_of(entry, "operation", path), text_of(entry, "permissionType", path))
            yield acl_of((*who, *what, *rest), path), line_of(item) or line


def _path(acl: Acl) -> str:
    if not all(part not in ("", ".", "..") for part in acl.resource_name.split("/")):
        raise AclTextError(f"ZooKeeper cannot have a node named `{acl.resource_name}`")
    prefixed = acl.pattern_type is PatternType.PREFIXED
    root = "/kafka-acl-extended/prefixed" if prefixed else "/kafka-acl"
    return f"{root}/{camel_case(acl.resource_type)}/{acl.resource_name}"
