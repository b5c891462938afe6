"""Find probable mistakes in the ACLs of files, alone and together, and describe them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.acl_requests import creation_error
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Acl,
    Decision,
    DecisionReason,
    acl_to_object,
)
from kafka_shim.authorizer.networks import unmatchable_host_reason
from kafka_shim.policy.checked_accesses import ineffective_operation_message
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.redundant_acls import (
    AclRemovalEffects,
    find_superseding_acl,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.text.input_files import place_text
from kafka_shim.text.line_findings import SarifResult, github_annotation
from kafka_shim.text.message_text import count_with_noun

FINDING_KINDS: Final = {
    "duplicate": "the same ACL is written twice",
    "release": "the release cannot express the ACL",
    "operation": "the operation does not exist for resources of this type",
    "name": "no resource, principal or host can have this name",
    "everybody": "the ACL allows everybody",
    "prefix": "the prefix ends in the middle of a word",
    "shadowed": "one broader ACL already covers it",
    "redundant": "other ACLs for the same resource, or several together, already cover it",
    "ineffective": "a DENY overrules it, or it denies what nothing allows",
}
"""What is found, by name."""
WITHOUT_EFFECT = ("shadowed", "redundant", "ineffective")
"""Kinds of ACLs of which one can be removed without a change of any decision."""

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class LocatedAcl(msgspec.Struct, frozen=True, gc=False):
    """An ACL with its place in a file."""

    acl: Acl
    path: str
    line: int


class Finding(msgspec.Struct, frozen=True):
    """A finding in words, with the ACLs that cause it."""

    kind: str
    located_acl: LocatedAcl
    message: str
    causes: tuple[LocatedAcl, ...] = ()


def find_probable_mistakes(
    located_acls: Sequence[LocatedAcl],
    empty_authorizer: StandardAuthorizer,
    release: str,
    report_checked_count: Callable[[int], object] = int,
) -> Iterator[Finding]:
    """Return all findings, in the order of the ACLs, which are added to the empty authorizer.

    If one shadowed, redundant or ineffective ACL is removed, no decision changes.
    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """
    first: dict[Acl, LocatedAcl] = {}
    rejections: dict[Acl, str] = {}
    for each in located_acls:
        refusal = creation_error(each.acl, acl_rules_of_release(release))
        if refusal is None:
            empty_authorizer.store.add(each.acl)
        else:
            rejections[each.acl] = refusal.message or refusal.error.name
        first.setdefault(each.acl, each)
    among = _CrossAclChecks(empty_authorizer, release, first)
    for number, each in enumerate(located_acls):
        report_checked_count(number)
        if first[each.acl] is not each:
            yield Finding("duplicate", each, "written before", (first[each.acl],))
        elif each.acl in rejections:
            yield Finding("release", each, f"Kafka {release} refuses it: {rejections[each.acl]}")
        else:
            alone = list(_find_own_mistakes(each, release))
            yield from alone
            if not any(finding.kind in ("operation", "name") for finding in alone):
                yield from among.find_mistakes(each)


def _find_own_mistakes(located_acl: LocatedAcl, release: str) -> Iterator[Finding]:
    """Yield findings that do not depend on other ACLs."""
    acl = located_acl.acl
    message = ineffective_operation_message(acl, release)
    if message is not None:
        yield Finding("operation", located_acl, message)
    host_networks = acl_rules_of_release(release).host_networks
    for message in (
        _doubtful_name_message(acl),
        _wildcard_in_principal_message(acl),
        unmatchable_host_reason(acl.host, host_networks=host_networks),
    ):
        if message:
            yield Finding("name", located_acl, message)
    if acl.principal == ANY_USER and acl.permission is Permission.ALLOW:
        yield Finding("everybody", located_acl, "everybody is allowed")
    if acl.pattern_type is PatternType.PREFIXED and acl.resource_name[-1:].isalnum():
        stem = acl.resource_name
        message = f"the prefix ends within a word: it also covers `{stem}x`"
        yield Finding("prefix", located_acl, message)


def _doubtful_name_message(acl: Acl) -> str | None:
    name = acl.resource_name
    if acl.pattern_type is PatternType.LITERAL:
        if name.endswith(WILDCARD) and name != WILDCARD:
            return f"only `{name}` itself matches; did you mean the prefix `{name[:-1]}`?"
        if (
            acl.resource_type is ResourceType.TOPIC
            and name != WILDCARD
            and not _is_valid_topic_name(name)
        ):
            return f"no topic can have the name `{name}`"
    elif acl.resource_type is ResourceType.TOPIC and name and not _is_valid_topic_name(name):
        return f"no topic's name can begin with `{name}`"
    return None


def _is_valid_topic_name(name: str) -> bool:
    return _TOPIC.fullmatch(name) is not None and name not in (".", "..")


def _wildcard_in_principal_message(acl: Acl) -> str | None:
    if acl.principal.endswith(WILDCARD) and acl.principal != ANY_USER:
        return f"only `{acl.principal}` itself matches: principals have no patterns"
    return None


def _is_describe_of_shorthand(acl: Acl, covering_acl: Acl) -> bool:
    """Return whether it is Describe beside Read or Write, as
    `--producer` and `--consumer` add it.
    """
    return (
        acl.resource_type in (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)
        and acl.operation is Operation.DESCRIBE
        and covering_acl.operation in (Operation.READ, Operation.WRITE)
        and msgspec.structs.replace(covering_acl, operation=acl.operation) == acl
    )


class _CrossAclChecks:
    """Findings that depend on the other ACLs."""

    def __init__(
        self, authorizer: StandardAuthorizer, release: str, places: dict[Acl, LocatedAcl]
    ) -> None:
        self._authorizer, self._release, self._places = authorizer, release, places
        self._effects = AclRemovalEffects(authorizer, release)

    def find_mistakes(self, located_acl: LocatedAcl) -> Iterator[Finding]:
        acl = located_acl.acl
        other = find_superseding_acl(acl, self._authorizer.store, self._release)
        if other is not None:
            if not _is_describe_of_shorthand(acl, other):
                yield self._covered_acl_finding(located_acl, other)
            return
        decisions = self._effects.unchanged_decisions(acl)
        if decisions is not None:
            yield self._ineffective_finding(located_acl, decisions)

    def _covered_acl_finding(self, located_acl: LocatedAcl, covering_acl: Acl) -> Finding:
        acl, because = located_acl.acl, (self._places[covering_acl],)
        if covering_acl.permission is not acl.permission:
            return Finding("ineffective", located_acl, "a DENY overrules it", because)
        if msgspec.structs.replace(covering_acl, operation=acl.operation) == acl:
            return Finding("redundant", located_acl, "another operation includes it", because)
        return Finding("shadowed", located_acl, "a broader ACL covers it", because)

    def _ineffective_finding(
        self, located_acl: LocatedAcl, decisions: Iterable[Decision]
    ) -> Finding:
        """Build the finding for an ACL without which no decision changes."""
        reasons = {decision.reason for decision in decisions}
        acls = [decision.acl for decision in decisions if decision.acl is not None]
        because = tuple(self._places[acl] for acl in dict.fromkeys(acls))
        is_allow = located_acl.acl.permission is Permission.ALLOW
        if reasons == {DecisionReason.SUPER_USER}:
            return Finding("ineffective", located_acl, "the principal is a super user")
        if is_allow and all(acl.permission is Permission.DENY for acl in acls):
            return Finding("ineffective", located_acl, "DENYs overrule it", because)
        if not is_allow and not acls:
            return Finding("ineffective", located_acl, "nothing that it denies is allowed")
        return Finding("redundant", located_acl, "other ACLs together already cover it", because)


SHOWN_MAX = 3
"""How many of the other ACLs a line names; JSON has all."""


def lint_report_lines(
    findings: Sequence[Finding], acl_count: int, release: str, *, github: bool
) -> Iterator[str]:
    """Yield the findings, with GitHub's annotations if wanted, and their number."""
    for finding in findings:
        place = place_text(finding.located_acl.path, finding.located_acl.line)
        yield f"{place}: {finding.kind}: {_finding_text(finding)}"
        if github:
            yield github_annotation(
                "warning",
                finding.located_acl.path,
                finding.located_acl.line,
                f"{finding.kind}: {_finding_text(finding)}",
            )
    totals = f"{count_with_noun(len(findings), 'finding')} in {count_with_noun(acl_count, 'ACL')}"
    yield f"{totals} for Kafka {release}"
    if sum(finding.kind in WITHOUT_EFFECT for finding in findings) > 1:
        yield (
            "remove shadowed, redundant and ineffective ACLs one at a time, and lint again: each"
            " may be needed when another is gone; `policy compact` drops all that can go together"
        )


def finding_sarif_result(finding: Finding) -> SarifResult:
    located = finding.located_acl
    return SarifResult(finding.kind, "warning", located.path, located.line, _finding_text(finding))


def _finding_text(finding: Finding) -> str:
    """Return a finding as text: the ACL, the problem, and the other ACLs that cause it."""
    acl = finding.located_acl.acl
    causes = [_cause_text(each, acl) for each in finding.causes[:SHOWN_MAX]]
    unlisted_count = len(finding.causes) - len(causes)
    if unlisted_count:
        causes.append(f"{unlisted_count} more")
    cause_list = f": {', '.join(causes)}" if causes else ""
    return f"{acl_line(acl)}: {finding.message}{cause_list}"


def _cause_text(located: LocatedAcl, acl: Acl) -> str:
    place = place_text(located.path, located.line)
    return place if located.acl == acl else f"{acl_line(located.acl)} ({place})"


def finding_object(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        **_located_acl_object(finding.located_acl),
        "said": finding.message,
        "because": [_located_acl_object(each) for each in finding.causes],
    }


def _located_acl_object(located: LocatedAcl) -> dict[str, Any]:
    return {
        "file": located.path,
        "line": located.line,
        "acl": acl_to_object(located.acl),
    }
