"""A plan for tools that are given what there should be: Strimzi, jikkou, terraform.

In two stages, the first to be applied before the second. After each, whatever both sides allow is
allowed, and nothing that neither allows.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kafka_shim.authorizer.acl_formats import jikkou, strimzi, write
from kafka_shim.authorizer.acl_formats.documents import dump_all
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.remedy import Step

FORMS = ("commands", "terraform", "terraform-confluent", "strimzi", "jikkou")
_HEADS = ("what is new", "what is not wanted any more goes")
_BY_PRINCIPAL = MappingProxyType({"strimzi": strimzi.resource_of, "jikkou": jikkou.resource_of})


def stages(steps: Sequence[Step], old: Mapping[Acl, str], form: str) -> tuple[str, str]:
    """Return the two stages as text; AclTextError for ACLs that the format cannot express.

    The old ACLs have their places in files, or an empty text.
    """
    if form in _BY_PRINCIPAL:
        return _resources(steps, set(old), form)
    added = [step.acl for step in steps if step.is_addition]
    removed = [step.acl for step in steps if not step.is_addition]
    gone = "\n".join(_placed(acl, form, old[acl]) for acl in removed)
    return (
        write(added, form) if added else "",
        f"# take these resources out:\n{gone}" if removed else "",
    )


def _placed(acl: Acl, form: str, place: str) -> str:
    """A resource in comments, below the place where it is."""
    lines = (place and f"# {place}", *write([acl], form).splitlines())
    return "".join(f"# {line}".rstrip() + "\n" for line in lines if line)


def staged(parts: tuple[str, str], only: int | None) -> str:
    """Both stages under their headings, or one alone, to be piped into the tool."""
    if only is not None:
        return parts[only - 1]
    return "".join(
        f"# stage {number} of 2: {head}\n{part}\n"
        for number, (head, part) in enumerate(zip(_HEADS, parts, strict=True), start=1)
        if part
    )


def _resources(steps: Sequence[Step], old: set[Acl], form: str) -> tuple[str, str]:
    """Whole resources of the principals that gain something, and of those that lose something."""
    added = {step.acl for step in steps if step.is_addition}
    removed = {step.acl for step in steps if not step.is_addition}
    first = _of_principals(old | added, {acl.principal for acl in added})
    then = _of_principals((old | added) - removed, {acl.principal for acl in removed})
    make = _BY_PRINCIPAL[form]
    first_text, then_text = (
        dump_all(make(principal, acls) for principal, acls in side.items()) if side else ""
        for side in (first, then)
    )
    return first_text, then_text


def _of_principals(acls: Iterable[Acl], principals: Iterable[str]) -> Mapping[str, list[Acl]]:
    found: dict[str, list[Acl]] = {principal: [] for principal in sorted(principals)}
    for acl in sorted(acls, key=lambda acl: acl.operation):
        if acl.principal in found:
            found[acl.principal].append(acl)
    return found
