"""ACLs as commands, JSON or YAML that other commands take."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from authorizer.acl_formats.kafka_commands import write
from authorizer.acl_formats.objects import to_objects
from authorizer.acl_formats.rules import to_rules
from authorizer.model import Acl


def _commands(acls: list[Acl]) -> str:
    return write(acls, bootstrap="HOST:PORT")


def _text(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    text = _commands(acls) or "# no acl is needed\n"
    if optional:
        text += "\n# without these, answers only list or say less:\n"
        text += "".join(
            f"# {line}\n" for line in write(optional, bootstrap="HOST:PORT").splitlines()
        )
    return text


def _json(acls: list[Acl], optional: list[Acl], facts: Mapping[str, Any]) -> str:
    found = {"acls": to_objects(acls), "optional": to_objects(optional), **facts}
    return json.dumps(found, indent=2) + "\n"


def _yaml(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    import yaml  # noqa: PLC0415 - it takes a while to import

    text = str(yaml.safe_dump({"acls": to_rules(acls)}, sort_keys=False))
    if optional:
        text += "# without these, answers only list or say less:\n"
        rules = yaml.safe_dump(to_rules(optional), sort_keys=False)
        text += "".join(f"# {line}\n" for line in rules.splitlines())
    return text


FORMS: dict[str, Callable[[list[Acl], list[Acl], Mapping[str, Any]], str]] = {
    "text": _text,
    "json": _json,
    "yaml": _yaml,
}
"""How to print: the needed ACLs, the optional ones, and facts about the runs (JSON only)."""
