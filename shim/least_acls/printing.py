"""ACLs as commands, JSON or YAML that other commands take."""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

from authorizer.acl_names import camel_case
from authorizer.acl_text import to_objects, to_short
from authorizer.model import Acl
from protocol.enums import PatternType, ResourceType

_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}


def as_commands(acls: Iterable[Acl]) -> str:
    """One `kafka-acls --add` for each principal and resource."""
    lines = []
    for (principal, kind, name, pattern), entries in groupby(acls, key=_resource):
        words = ["kafka-acls", "--bootstrap-server", "HOST:PORT", "--add"]
        words += ["--allow-principal", principal]
        for acl in entries:
            words += ["--operation", camel_case(acl.operation)]
        words += ["--cluster"] if kind is ResourceType.CLUSTER else [_OPTIONS[kind], name]
        if pattern is PatternType.PREFIXED:
            words += ["--resource-pattern-type", "prefixed"]
        lines.append(shlex.join(words))
    return "".join(f"{line}\n" for line in lines)


def _resource(acl: Acl) -> tuple[str, ResourceType, str, PatternType]:
    return acl.principal, acl.resource_type, acl.resource_name, acl.pattern_type


def _text(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    text = as_commands(acls) or "# no acl is needed\n"
    if optional:
        text += "\n# without these, answers only list or say less:\n"
        text += "".join(f"# {line}\n" for line in as_commands(optional).splitlines())
    return text


def _json(acls: list[Acl], optional: list[Acl], facts: Mapping[str, Any]) -> str:
    found = {"acls": to_objects(acls), "optional": to_objects(optional), **facts}
    return json.dumps(found, indent=2) + "\n"


def _yaml(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    import yaml  # noqa: PLC0415 - it takes a while to import

    text = str(yaml.safe_dump({"acls": to_short(acls)}, sort_keys=False))
    if optional:
        text += "# without these, answers only list or say less:\n"
        rules = yaml.safe_dump(to_short(optional), sort_keys=False)
        text += "".join(f"# {line}\n" for line in rules.splitlines())
    return text


FORMS: dict[str, Callable[[list[Acl], list[Acl], Mapping[str, Any]], str]] = {
    "text": _text,
    "json": _json,
    "yaml": _yaml,
}
"""How to print: the needed ACLs, the optional ones, and facts about the runs (JSON only)."""
