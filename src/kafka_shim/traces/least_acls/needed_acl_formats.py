"""Formats needed and optional ACLs in any format that other commands read."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.policy.formats.kafka_commands import format_acls as write_commands
from kafka_shim.policy.formats.yaml_rules import acls_to_rules
from kafka_shim.shim.errors import ConfigError


def _kafka_acls_commands(acls: list[Acl]) -> str:
    return write_commands(acls, bootstrap="HOST:PORT")


def _as_text(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    text = _kafka_acls_commands(acls) or "# no ACL is needed\n"
    if optional:
        text += "\n# optional: without these, responses contain less:\n"
        text += "".join(f"# {line}\n" for line in _kafka_acls_commands(optional).splitlines())
    return text


def _as_json(acls: list[Acl], optional: list[Acl], facts: Mapping[str, Any]) -> str:
    objects = {"acls": acls_to_objects(acls), "optional": acls_to_objects(optional), **facts}
    return json.dumps(objects, indent=2) + "\n"


def _as_yaml(acls: list[Acl], optional: list[Acl], _facts: Mapping[str, Any]) -> str:
    import yaml  # noqa: PLC0415 - it takes a while to import

    text = str(yaml.safe_dump({"acls": acls_to_rules(acls)}, sort_keys=False))
    if optional:
        text += "# optional: without these, responses contain less:\n"
        rules = yaml.safe_dump(acls_to_rules(optional), sort_keys=False)
        text += "".join(f"# {line}\n" for line in rules.splitlines())
    return text


_WITH_OPTIONAL: dict[str, Callable[[list[Acl], list[Acl], Mapping[str, Any]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "yaml": _as_yaml,
}
"""How to format the needed ACLs, the optional ones, and facts about the runs (JSON only)."""

FORMS = tuple(dict.fromkeys((*_WITH_OPTIONAL, *FORMATS)))
"""All formats: our own, which tell the optional ones apart, and those of any ACLs."""


class FormattedAcls(NamedTuple):
    """The text, and the number of optional ACLs that are not in it."""

    text: str
    omitted_optional_count: int


def format_needed_acls(
    format_name: str, acls: list[Acl], optional: list[Acl], facts: Mapping[str, Any]
) -> FormattedAcls:
    """Format the ACLs; the optional ones only if the format tells them apart.

    Raise ConfigError if the format cannot express one of the ACLs.
    """
    if format_name in _WITH_OPTIONAL:
        return FormattedAcls(_WITH_OPTIONAL[format_name](acls, optional, facts), 0)
    try:
        return FormattedAcls(format_acls_losslessly(acls, format_name), len(optional))
    except AclTextError as error:
        raise ConfigError(f"--format {format_name}: {error}") from error
