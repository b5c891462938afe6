"""An ACL set with all that a decision depends on, small enough to be sent to every worker."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from authorizer.acl_names import AclTextError
from authorizer.acl_releases import rules_of
from authorizer.acl_text import parse_list, parse_objects, parse_short
from authorizer.authorizer import StandardAuthorizer
from authorizer.model import Acl
from authorizer.store import AclStore
from pipeline.errors import PipelineError
from protocol.api_versions import RELEASES
from protocol.enums import Operation, PatternType, Permission, ResourceType

_HEADINGS = ("Current ACLs for", "ACLs for principal", "Adding ACLs for")
_RULE = re.compile(
    r"(\w+)\|(.*)\|(LITERAL|PREFIXED)\|([^|]+:.*)\|([^|]+)\|(\w+)\|(ALLOW|DENY)", re.DOTALL
)
_ENGINES: dict[str, StandardAuthorizer] = {}
_ENGINES_MAX = 4


class AclSet(msgspec.Struct, frozen=True):
    """ACLs, super users and the release whose rules decide."""

    acls: tuple[Acl, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone: bool = False
    release: str = RELEASES[-1]

    def digest(self) -> str:
        return hashlib.sha256(msgspec.msgpack.encode(self)).hexdigest()


def engine(acl_set: AclSet, digest: str) -> StandardAuthorizer:
    """The broker's own authorizer with this set; made once in each worker process."""
    found = _ENGINES.get(digest)
    if found is None:
        if len(_ENGINES) >= _ENGINES_MAX:
            _ENGINES.clear()
        found = _ENGINES[digest] = StandardAuthorizer(
            super_users=acl_set.super_users,
            allow_everyone=acl_set.allow_everyone,
            rules=rules_of(acl_set.release),
            store=AclStore(acl_set.acls),
        )
    return found


def acl_text(acl: Acl) -> str:
    """An ACL as traces have it: `TOPIC|orders|LITERAL|User:a|*|READ|ALLOW`."""
    return (
        f"{acl.resource_type.name}|{acl.resource_name}|{acl.pattern_type.name}"
        f"|{acl.principal}|{acl.host}|{acl.operation.name}|{acl.permission.name}"
    )


def parse_rule(text: str) -> Acl | None:
    """The ACL that a trace names as the rule; None for `DefaultDeny` and the like."""
    found = _RULE.fullmatch(text)
    if found is None:
        return None
    kind, name, pattern, principal, host, operation, permission = found.groups()
    return Acl(
        ResourceType[kind],
        name,
        PatternType[pattern],
        principal,
        host,
        Operation[operation],
        Permission[permission],
    )


def read_acls(path: str) -> list[Acl]:
    """ACLs from YAML, JSON or the output of kafka-acls, each once; PipelineError if not."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError(f"{path} cannot be read: {error}") from error
    try:
        if text.lstrip().startswith(_HEADINGS):
            found = parse_list(text)
        else:
            found = _parse_rules(_load(text, path))
    except AclTextError as error:
        raise PipelineError(f"{path}: {error}") from error
    return list(dict.fromkeys(found))


def _parse_rules(content: Any) -> list[Acl]:
    if isinstance(content, Mapping):
        if "acls" not in content:
            raise AclTextError("there is no key `acls`; expected a list of acls, or that key")
        content = content["acls"]
    if content is not None and not isinstance(content, list):
        raise AclTextError("acls must be a list of rules: `- {principal: User:x, allow: Read, ...`")
    found: list[Acl] = []
    for number, rule in enumerate(content or [], start=1):
        is_object = isinstance(rule, Mapping) and "resource_type" in rule
        found += parse_objects([rule]) if is_object else parse_short(rule, f"acl {number}")
    return found


def _load(text: str, path: str) -> Any:
    import yaml  # noqa: PLC0415 - workers need no YAML

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark is not None else ""
        raise PipelineError(f"{path}: not YAML{line}") from error
