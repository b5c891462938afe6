"""The findings of `policy lint` as text, JSON, SARIF and GitHub annotations."""

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_shim.authorizer.model import Acl, acl_to_object
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.lint import WITHOUT_EFFECT, Finding, LocatedAcl
from kafka_shim.text.input_files import place_text
from kafka_shim.text.line_findings import SarifResult, github_annotation
from kafka_shim.text.message_text import count_with_noun

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
