"""ACLs as the options of kafka-acls, one line each, and in the other forms people keep them in."""

import json
import shlex
from collections.abc import Iterable

from authorizer.acl_names import camel_case
from authorizer.acl_text import format_list, to_objects, to_short
from authorizer.model import WILDCARD, Acl
from protocol.enums import PatternType, Permission, ResourceType

FORMATS = ("yaml", "json", "list", "commands")
_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}


def kafka_acls_words(acl: Acl) -> str:
    """The options for one ACL, without the action and the broker's address."""
    verb = "allow" if acl.permission is Permission.ALLOW else "deny"
    words = [f"--{verb}-principal", acl.principal, "--operation", camel_case(acl.operation)]
    if acl.host != WILDCARD:
        words += [f"--{verb}-host", acl.host]
    option = _OPTIONS.get(acl.resource_type)
    words += ["--cluster"] if option is None else [option, acl.resource_name]
    if acl.pattern_type is PatternType.PREFIXED:
        words += ["--resource-pattern-type", "prefixed"]
    return shlex.join(words)


def as_format(acls: Iterable[Acl], form: str) -> str:
    """ACLs as a file in one of `FORMATS`, readable by every command that takes ACLs."""
    found = list(acls)
    if form == "list":
        return format_list(found)
    if form == "json":
        return json.dumps(to_objects(found), indent=2, ensure_ascii=False) + "\n"
    if form == "commands":
        return "".join(f"kafka-acls --add {kafka_acls_words(acl)}\n" for acl in found)
    lines = [json.dumps(rule, ensure_ascii=False) for rule in to_short(found)]
    return "acls:\n" + "".join(f"  - {line}\n" for line in lines) if lines else "acls: []\n"
