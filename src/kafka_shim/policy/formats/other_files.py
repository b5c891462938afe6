"""Name files that are not ACL files by what they are."""

import re
from collections.abc import Mapping
from typing import Any

_DERIVING_TOOLS = {
    "a topology of JulieOps": "projects",
    "a state file of kafka-gitops": "services",
    "ACLs of kafka-gitops": "customServiceAcls",
    "users of kafka-gitops": "customUserAcls",
}
"""Files from which other tools derive ACLs, by a key that each has."""
_WITHOUT_ACLS = "it has no ACLs that are read"
_PLAY_KEYS = frozenset(("hosts", "tasks", "roles", "pre_tasks", "import_playbook"))
_TASK_KEYS = frozenset(("become", "register", "notify", "loop", "with_items", "when"))
_TASK_MODULE = re.compile(r"(?:ansible|community)\.\w+(?:\.\w+)?|include_tasks|import_tasks")
_TEXTS = {
    "a properties file": r"\A(?:\s*[#!].*\n|\s+)*[\w.-]+\s*=\s*\S*",
    "XML": r"\A\s*<[?!\w]",
    "a Dockerfile": r"\A(?:\s*#.*\n|\s+|ARG .*\n)*FROM \S+",
}
"""Patterns of texts that are neither YAML nor a known format."""


def describe_other_document(content: Any) -> str | None:
    """Return what a YAML or JSON document is, if it is known to be no list of ACLs."""
    if isinstance(content, list):
        return _describe_list(content)
    if not isinstance(content, Mapping) or "acls" in content:
        return None
    tool = next((name for name, key in _DERIVING_TOOLS.items() if key in content), None)
    if tool is not None and not is_compose_file(content):
        return f"{tool}: it derives ACLs by its own rules; give what `kafka-acls --list` shows"
    name = None
    if is_compose_file(content):
        name = "a Docker Compose file"
    elif {"apiVersion", "kind"} <= set(content):
        name = f"a Kubernetes resource of the kind {content['kind']}"
    elif "jobs" in content and not {"on", True, "name"}.isdisjoint(content):
        name = "a GitHub workflow"
    return None if name is None else f"{name}: {_WITHOUT_ACLS}"


def is_compose_file(content: Mapping[Any, Any]) -> bool:
    """Return whether there are services, none of which has a type, as those of kafka-gitops."""
    services = content.get("services")
    return isinstance(services, Mapping) and not any(
        isinstance(member, Mapping) and "type" in member for member in services.values()
    )


def describe_pathless_node(content: Mapping[Any, Any]) -> str | None:
    """Return what is missing if a document is a ZooKeeper node of ACLs without its path."""
    acls = content.get("acls")
    first = acls[0] if isinstance(acls, list) and acls else None
    is_empty_node = acls == [] and content.keys() == {"version", "acls"}
    if is_empty_node or (isinstance(first, Mapping) and "permissionType" in first):
        return (
            "a ZooKeeper node without its path, which names the resource; expected an object from"
            ' paths to nodes, such as {"/kafka-acl/Topic/orders": {"version": 1, "acls": [...]}}'
        )
    return None


def describe_foreign_text(text: str) -> str | None:
    """Return what a text is, if it is known to be no ACL file."""
    return next((name for name, sign in _TEXTS.items() if re.search(sign, text)), None)


def _describe_list(items: list[Any]) -> str | None:
    keys = {str(key) for item in items if isinstance(item, Mapping) for key in item}
    if "principal" in keys:
        return None
    if keys & _PLAY_KEYS:
        return f"an Ansible playbook: {_WITHOUT_ACLS}"
    if keys & _TASK_KEYS or any(map(_TASK_MODULE.fullmatch, keys)):
        return f"a list of Ansible tasks: {_WITHOUT_ACLS}"
    return None
