"""The format `zookeeper`: nodes by path, as brokers with ZooKeeper store ACLs (KIP-11, KIP-290).

    {"/kafka-acl/Topic/orders": {"version": 1, "acls": [
        {"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}]}}

Prefixed patterns are below `/kafka-acl-extended/prefixed`. A path may begin with a chroot.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.documents import (
    line_of_key,
    line_of_mapping,
    list_under_key_rejecting_null,
    load_json_with_lines,
    require_mapping,
    text_under_key,
)
from kafka_shim.policy.formats.fields import (
    AclWithLine,
    add_line_to_errors,
    parse_acl_texts,
)
from kafka_shim.protocol.enums import PatternType
from kafka_shim.text.data_text import json_text

_VERSION = 1
_PATH = re.compile(
    r"(?:/[^/]+)*?/kafka-acl(?:-extended/(?P<pattern>\w+))?/(?P<type>\w+)/(?P<name>.+)", re.DOTALL
)
_PARENT = re.compile(r"(?:/[^/]+)*?/kafka-acl(?:-extended(?:/\w+)?)?(?:/\w+)?")
_CHANGES = re.compile(r"/kafka-acl(-extended)?-changes(/|$)")
"""Messages between brokers, not ACLs."""


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs of nodes with JSON. Raise AclTextError, which names the node, if that
    fails.
    """
    nodes = require_mapping(load_json_with_lines(text), "the nodes")
    acls: list[AclWithLine] = []
    for path, node in nodes.items():
        is_parent = not node and _PARENT.fullmatch(path) is not None
        if not is_parent and not _CHANGES.search(path):
            line = line_of_key(nodes, path)
            with add_line_to_errors(line):
                acls += _parse_acls_of_node(path, node, line)
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    """Return each node with its JSON."""
    nodes: dict[str, dict[str, Any]] = {}
    for acl in acls:
        node = nodes.setdefault(_node_path_of_pattern(acl), {"version": _VERSION, "acls": []})
        node["acls"].append(
            {
                "principal": acl.principal,
                "permissionType": camel_case(acl.permission),
                "operation": camel_case(acl.operation),
                "host": acl.host,
            }
        )
    return json_text(nodes) + "\n"


def _parse_node_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AclTextError(f"{where} is not JSON: {error}") from error


def _parse_acls_of_node(path: str, value: Any, line: int) -> Iterator[AclWithLine]:
    """Yield the ACLs of a node's data: an object, or ZooKeeper's text;
    `line` is where it begins.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise AclTextError(
            f"`{path}` is not a path of ACLs; expected one such as /kafka-acl/Topic/orders"
        )
    node: Mapping[str, Any] = require_mapping(
        _parse_node_json(value, path) if isinstance(value, str) else value, path
    )
    if node.get("version") != _VERSION:
        raise AclTextError(f"{path}: version {node.get('version')} is not {_VERSION}")
    if "acls" not in node:
        raise AclTextError(f"{path}: the key `acls` is missing")
    what = (match["type"], match["name"], match["pattern"] or "LITERAL")
    for item in list_under_key_rejecting_null(node, "acls", path):
        with add_line_to_errors(line_of_mapping(item)):
            entry = require_mapping(item, path)
            principal_and_host = (
                text_under_key(entry, "principal", path),
                text_under_key(entry, "host", path),
            )
            rest = (
                text_under_key(entry, "operation", path),
                text_under_key(entry, "permissionType", path),
            )
            yield (
                parse_acl_texts((*principal_and_host, *what, *rest), path),
                line_of_mapping(item) or line,
            )


def _node_path_of_pattern(acl: Acl) -> str:
    if not all(part not in ("", ".", "..") for part in acl.resource_name.split("/")):
        raise AclTextError(f"ZooKeeper cannot have a node named `{acl.resource_name}`")
    prefixed = acl.pattern_type is PatternType.PREFIXED
    root = "/kafka-acl-extended/prefixed" if prefixed else "/kafka-acl"
    return f"{root}/{camel_case(acl.resource_type)}/{acl.resource_name}"
