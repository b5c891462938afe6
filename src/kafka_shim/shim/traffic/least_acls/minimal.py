"""Compute the fewest and narrowest ACLs that allow all checks: pure functions."""

from collections.abc import Iterable, Sequence

from kafka_shim.authorizer.implied import allowing
from kafka_shim.authorizer.model import WILDCARD, Acl, Action
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.shim.traffic.least_acls.learning import Question


def minimal_acls(
    questions: Iterable[Question], prefixes: Sequence[str] = (), *, optional: bool = False
) -> list[Acl]:
    """Return the ACLs for the checks; for optional ones too, if wanted.

    Names that begin with one of `prefixes` are granted by that prefix. ACLs that another one
    implies (READ includes DESCRIBE) are left out, and so are alternatives of granted ones.
    """
    asked = [question for question in questions if optional or not question.is_optional]
    granted: dict[Acl, None] = {}
    for question in sorted(asked, key=_certainty):
        if any(_is_granted(granted, question, action) for action in question.alternatives):
            continue
        granted[_acl(question.principal, _preferred(question), prefixes)] = None
    found = [acl for acl in granted if not _is_implied(acl, granted)]
    return sorted(found, key=_order)


def _certainty(question: Question) -> tuple[bool, int]:
    """Return a sort key: checks without alternatives first, as they may meet others."""
    return question.any_name, len(question.alternatives)


def _preferred(question: Question) -> Action:
    """Return the narrowest alternative; any resource of a type only if there is no other."""
    if question.any_name and len(question.alternatives) > 1:
        return question.alternatives[-2]
    return question.alternatives[-1]


def _acl(principal: str, action: Action, prefixes: Sequence[str]) -> Acl:
    name, pattern = action.resource_name, PatternType.LITERAL
    fitting = [prefix for prefix in prefixes if name.startswith(prefix)]
    if fitting and action.resource_type is not ResourceType.CLUSTER:
        name, pattern = max(fitting, key=len), PatternType.PREFIXED
    return Acl(
        action.resource_type,
        name,
        pattern,
        principal,
        WILDCARD,
        action.operation,
        Permission.ALLOW,
    )


def _is_granted(granted: Iterable[Acl], question: Question, action: Action) -> bool:
    is_any = question.any_name and action == question.alternatives[-1]
    # KIP-679: implied operations do not count for a whole type
    operations = frozenset({action.operation}) if is_any else allowing(action.operation)
    return any(
        acl.principal == question.principal
        and acl.resource_type is action.resource_type
        and acl.operation in operations
        and (is_any or _covers(acl, action.resource_name))
        for acl in granted
    )


def _covers(acl: Acl, name: str) -> bool:
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name == name


def _is_implied(acl: Acl, granted: Iterable[Acl]) -> bool:
    """Return whether a stronger ACL of the same kind includes this one."""
    stronger = allowing(acl.operation) - {acl.operation}
    return any(
        other.operation in stronger
        and (other.principal, other.resource_type) == (acl.principal, acl.resource_type)
        and (other.resource_name, other.pattern_type) == (acl.resource_name, acl.pattern_type)
        for other in granted
    )


def _order(acl: Acl) -> tuple[str, ResourceType, str, PatternType, Operation]:
    return acl.principal, acl.resource_type, acl.resource_name, acl.pattern_type, acl.operation
