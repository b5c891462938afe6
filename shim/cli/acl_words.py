"""ACLs in the words of kafka-acls: how it prints them, and the command that adds or removes one."""

import shlex
from collections.abc import Iterable

from authorizer.acl_names import camel_case
from authorizer.model import WILDCARD, Acl, AclFilter
from protocol.enums import PatternType, Permission, ResourceType

RESOURCE_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.CLUSTER: "--cluster",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}


def pattern_text(about: Acl | AclFilter) -> str:
    """`ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL)`."""
    return (
        f"ResourcePattern(resourceType={about.resource_type.name}, name={about.resource_name},"
        f" patternType={about.pattern_type.name})"
    )


def entry_text(acl: Acl) -> str:
    """`(principal=User:a, host=*, operation=READ, permissionType=ALLOW)`."""
    return (
        f"(principal={acl.principal}, host={acl.host}, operation={acl.operation.name},"
        f" permissionType={acl.permission.name})"
    )


def acl_text(acl: Acl) -> str:
    """Entry and pattern on one line."""
    return f"{entry_text(acl)} on {pattern_text(acl)}"


def entries_text(acls: Iterable[Acl]) -> str:
    """Entries below each other, as the tool indents them."""
    return "\n".join(f"\t{entry_text(acl)}" for acl in acls)


def command(verb: str, acl: Acl, bootstrap: str | None = None) -> str:
    """The kafka-acls command line that adds (`--add`) or removes exactly this ACL."""
    kind = "allow" if acl.permission is Permission.ALLOW else "deny"
    words = ["kafka-acls"]
    if bootstrap is not None:
        words += ["--bootstrap-server", bootstrap]
    words += [verb, f"--{kind}-principal", acl.principal]
    if acl.host != WILDCARD:
        words += [f"--{kind}-host", acl.host]
    words += ["--operation", camel_case(acl.operation), RESOURCE_OPTIONS[acl.resource_type]]
    if acl.resource_type is not ResourceType.CLUSTER:
        words.append(acl.resource_name)
    if acl.pattern_type is PatternType.PREFIXED:
        words += ["--resource-pattern-type", "prefixed"]
    return shlex.join(words)
