"""`kafka-shim policy lint`: find ACLs that are probably mistakes."""

import argparse

import msgspec

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    add_cluster_and_rule_arguments,
    policy_of_options,
    policy_without_acls,
    write_assumption_notes,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.policy.acl_files import read_located_acls
from kafka_shim.policy.lint import (
    FINDING_KINDS,
    LocatedAcl,
    find_probable_mistakes,
    finding_object,
    finding_sarif_result,
    lint_report_lines,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.text.data_text import json_text
from kafka_shim.text.line_findings import sarif_log
from kafka_shim.text.message_text import (
    sanitize_result_line,
)

_KIND_LINES = "\n".join(f"  {name:12} {said}" for name, said in FINDING_KINDS.items())
DESCRIPTION = f"""\
Report ACLs that are probably mistakes, each with its file and line:

{_KIND_LINES}

Removing any one ACL that is reported as shadowed, redundant or ineffective changes no decision.
Another one may then be needed: lint again before you remove it, or take those that `policy compact`
leaves out.

  kafka-shim policy lint acls/ --ignore redundant
  kafka-shim policy lint --bootstrap-server 127.0.0.1:9092

Exit codes: 0 nothing found, 3 something found, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument
    add(
        "files", nargs="*", metavar="FILE", help="File or folder with ACLs (default: the cluster's)"
    )
    add(
        "--ignore",
        action="append",
        default=[],
        choices=list(FINDING_KINDS),
        metavar="KIND",
        help="Kind of finding to leave out, such as redundant (repeatable)",
    )
    add("--github", action="store_true", help="Also print annotations for GitHub Actions")
    add(
        "--format",
        choices=("text", "json", "sarif"),
        default="text",
        help="sarif: for the code scanning of GitHub and GitLab (default: text)",
    )
    add("--json", action="store_const", const="json", dest="format", help="Print JSON")
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    written, rules = _lint_input(args)
    release = rules.release
    with ProgressBar("checking ACLs", len(written), delay_s=1.0) as progress:
        all_findings = list(find_probable_mistakes(written, rules.authorizer(), release, progress))
    findings = [finding for finding in all_findings if finding.kind not in args.ignore]
    if args.format == "json":
        print(json_text(list(map(finding_object, findings))))
    elif args.format == "sarif":
        log = sarif_log(map(finding_sarif_result, findings), FINDING_KINDS)
        print(json_text(log))
    else:
        for line in lint_report_lines(findings, len(written), release, github=args.github):
            print(sanitize_result_line(line))
    return EXIT_MISMATCH if findings else 0


def _lint_input(args: argparse.Namespace) -> tuple[list[LocatedAcl], Policy]:
    """Return the ACLs with their places, and a policy without them."""
    if args.files and not args.bootstrap_server:
        return read_located_acls(args.files), policy_without_acls(args)
    policy = policy_of_options(args)
    write_assumption_notes(policy)
    written = [LocatedAcl(acl, policy.source, 0) for acl in policy.acls]
    return written, msgspec.structs.replace(policy, acls=())
