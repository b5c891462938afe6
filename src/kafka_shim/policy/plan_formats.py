"""Plans as text: kafka-acls commands, or what tools take that are given the desired state.

For Strimzi, jikkou and Terraform, a plan has two stages, which are applied one after the other. In
between, everything that the old and the new ACLs both allow is allowed, and nothing that neither
allows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from kafka_shim.authorizer.model import ANY_USER, Acl
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.formats import format_acls_losslessly, jikkou, strimzi
from kafka_shim.policy.formats.documents import dump_yaml_documents
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.name_sets import names_covered_by_acl
from kafka_shim.policy.plan import StepGroup
from kafka_shim.policy.plan_file import interim_text, unordered_interim_text
from kafka_shim.policy.planned_change import COMMANDS, PlannedChange, steps_by_command
from kafka_shim.protocol.enums import Permission

PLAN_FORMATS = (COMMANDS, "terraform", "terraform-confluent", "strimzi", "jikkou")
_HEADS = ("add the new ACLs", "remove the old ACLs")
_BY_PRINCIPAL = MappingProxyType(
    {"strimzi": strimzi.make_user_resource, "jikkou": jikkou.make_authorization_resource}
)


def format_commands(
    plan: PlannedChange, bootstrap: str | None, report_progress: Callable[[], object] = int
) -> str:
    """Return the commands; comments before them say what changes in between for how long."""
    comments: dict[int, list[str]] = {}
    for each in plan.interim_between_commands:
        comments.setdefault(each.first, []).append(interim_text(each, "command"))
    lines = []
    for number, line in enumerate(command_lines(plan.groups, bootstrap), start=1):
        lines += [f"# interim, {text}\n" for text in comments.get(number, ())]
        lines.append(f"{line}\n")
        report_progress()
    return "".join(lines) + f"# {plan.counts_text}\n"


def command_lines(groups: Iterable[Sequence[Step]], bootstrap: str | None = None) -> Iterator[str]:
    """Yield one command for each principal and resource, with all operations added or removed."""
    for is_addition, steps in steps_by_command(groups):
        verb = "--add" if is_addition else "--remove --force"
        yield format_command(verb, *(step.acl for step in steps), bootstrap=bootstrap)


def format_stages(plan: PlannedChange, acl_format: str, only_stage: int | None = None) -> str:
    """Return both stages with headings and notes, or only one, which can be piped into the tool.

    Raise AclTextError for ACLs that the format cannot express.
    """
    stage_texts = format_two_stages(plan.steps, plan.old_acl_places, acl_format)
    if only_stage is not None:
        return stage_texts[only_stage - 1]
    stages = (
        f"# stage {number} of 2: {head}\n{part}\n"
        for number, (head, part) in enumerate(zip(_HEADS, stage_texts, strict=True), start=1)
        if part
    )
    return "".join((*_tool_order_notes(plan), *stages, f"# {plan.counts_text}\n"))


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


def _tool_order_notes(plan: PlannedChange) -> Iterator[str]:
    """Yield a comment for each resource whose access depends on the order of the tool.

    That can be the one that a DENY is for, since the tool may add or remove an ALLOW at another
    time.
    """
    texts = [
        unordered_interim_text(each.only_if_allow_everyone, each.resource_type, each.names)
        for each in plan.interim_between_commands
    ]
    texts += (
        unordered_interim_text(None, step.acl.resource_type, names_covered_by_acl(step.acl))
        for group in plan.groups
        for step in group
        if step.acl.permission is Permission.DENY and _limits_an_allow_of(group, step.acl)
    )
    yield from (f"# interim, {text}\n" for text in dict.fromkeys(texts))


def _limits_an_allow_of(group: StepGroup, deny: Acl) -> bool:
    """Return whether an ALLOW of the group can give access to a principal of the DENY."""
    allowed = {step.acl.principal for step in group if step.acl.permission is Permission.ALLOW}
    if deny.principal == ANY_USER:
        return bool(allowed)
    return not allowed.isdisjoint((deny.principal, ANY_USER))


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
