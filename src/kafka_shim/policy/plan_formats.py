"""A plan for tools that are given the desired state: Strimzi, jikkou, Terraform.

The plan has two stages, which are applied one after the other. In between, everything that the old
and the new ACLs both allow is allowed, and nothing that neither allows.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.formats import format_acls_losslessly, jikkou, strimzi
from kafka_shim.policy.formats.documents import dump_yaml_documents

PLAN_FORMATS = ("commands", "terraform", "terraform-confluent", "strimzi", "jikkou")
_HEADS = ("add the new ACLs", "remove the old ACLs")
_BY_PRINCIPAL = MappingProxyType(
    {"strimzi": strimzi.user_resource, "jikkou": jikkou.authorization_or_deletion_resource}
)


def format_two_stages(
    steps: Sequence[Step], old_acl_places: Mapping[Acl, str], acl_format: str
) -> tuple[str, str]:
    """Return the two stages as text. Raise AclTextError for ACLs that the format cannot express.

    `old` has the old ACLs with their places in files; the text is empty if the place is unknown.
    """
    if acl_format in _BY_PRINCIPAL:
        return _resources_of_changed_principals(steps, set(old_acl_places), acl_format)
    added = [step.acl for step in steps if step.is_addition]
    removed = [step.acl for step in steps if not step.is_addition]
    removed_text = "\n".join(
        _commented_acl_resource(acl, acl_format, old_acl_places[acl]) for acl in removed
    )
    return (
        format_acls_losslessly(added, acl_format) if added else "",
        f"# remove these resources:\n{removed_text}" if removed else "",
    )


def _commented_acl_resource(acl: Acl, acl_format: str, place: str) -> str:
    """Return the ACL's resource as comment lines, with its place first."""
    lines = (place and f"# {place}", *format_acls_losslessly([acl], acl_format).splitlines())
    return "".join(f"# {line}".rstrip() + "\n" for line in lines if line)


def join_stages(stage_texts: tuple[str, str], only_stage: int | None) -> str:
    """Return both stages with headings, or only one, which can be piped into the tool."""
    if only_stage is not None:
        return stage_texts[only_stage - 1]
    return "".join(
        f"# stage {number} of 2: {head}\n{part}\n"
        for number, (head, part) in enumerate(zip(_HEADS, stage_texts, strict=True), start=1)
        if part
    )


def _resources_of_changed_principals(
    steps: Sequence[Step], old_acls: set[Acl], acl_format: str
) -> tuple[str, str]:
    """Return whole resources: first of principals that gain ACLs, then of those that lose some."""
    added = {step.acl for step in steps if step.is_addition}
    removed = {step.acl for step in steps if not step.is_addition}
    first = _acls_by_principal(old_acls | added, {acl.principal for acl in added})
    then = _acls_by_principal((old_acls | added) - removed, {acl.principal for acl in removed})
    make = _BY_PRINCIPAL[acl_format]
    first_text, then_text = (
        dump_yaml_documents(make(principal, acls) for principal, acls in side.items())
        if side
        else ""
        for side in (first, then)
    )
    return first_text, then_text


def _acls_by_principal(acls: Iterable[Acl], principals: Iterable[str]) -> Mapping[str, list[Acl]]:
    acls_by_principal: dict[str, list[Acl]] = {principal: [] for principal in sorted(principals)}
    for acl in sorted(acls, key=lambda acl: acl.operation):
        if acl.principal in acls_by_principal:
            acls_by_principal[acl.principal].append(acl)
    return acls_by_principal
