"""ACLs from a file in any form that people have them in: YAML, JSON, or what kafka-acls lists."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from authorizer.acl_names import AclTextError
from authorizer.acl_text import parse_list, parse_objects, parse_short
from authorizer.model import Acl
from shim.errors import ConfigError

_HEADINGS = ("Current ACLs for", "ACLs for principal", "Adding ACLs for")


def read_acls(path: str, option: str = "--acls") -> list[Acl]:
    """The ACLs of a file, each once; ConfigError, beginning with `option`, if that cannot be."""
    text = read_text(path, option)
    try:
        if text.lstrip().startswith(_HEADINGS):
            found = parse_list(text)
        else:
            found = parse_rules(load_yaml(text, f"{option} {path}"))
    except AclTextError as error:
        raise ConfigError(f"{option} {path}: {error}") from error
    return list(dict.fromkeys(found))


def parse_rules(content: Any) -> list[Acl]:
    """A list of rules in the short form or of objects, or a mapping that has it under `acls`.

    Raises AclTextError.
    """
    if isinstance(content, Mapping):
        if "acls" not in content:
            raise AclTextError("there is no key `acls`; expected a list of acls, or that key")
        content = content["acls"]
    if content is None:
        return []
    if not isinstance(content, list):
        raise AclTextError("acls must be a list of rules: `- {principal: User:x, allow: Read, ...`")
    found: list[Acl] = []
    for number, rule in enumerate(content, start=1):
        if isinstance(rule, Mapping) and "resource_type" in rule:
            found += parse_objects([rule])
        else:
            found += parse_short(rule, f"acl {number}")
    return found


def read_text(path: str, option: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{option} {path}: not a text file in UTF-8") from error


def load_yaml(text: str, where: str) -> Any:
    """What a YAML or JSON text says; ConfigError, beginning with `where`, if it is neither."""
    import yaml  # noqa: PLC0415 - most commands need no YAML, and it takes a while to import

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{where}: not YAML{line}: {problem}") from error
