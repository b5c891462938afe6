"""`kafka-shim policy test`: check expectations against ACLs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    add_cluster_and_rule_arguments,
    policy_of_cluster,
    policy_without_acls,
    write_assumption_notes,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.acl_files import read_accepted_acls
from kafka_shim.policy.expectation_files import ExpectationFile, read_expectation_files
from kafka_shim.policy.judged_expectations import (
    JudgedExpectation,
    PolicyCoverage,
    empty_coverage,
    failed_expectations,
    judge_expectations,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.profiles import PROFILES, name_keys_of_profile
from kafka_shim.policy.verdicts import (
    SARIF_RULES,
    junit_case,
    verdict_annotation,
    verdict_lines,
    verdict_object,
    verdict_sarif_result,
    verdict_summary,
)
from kafka_shim.text.data_text import json_text
from kafka_shim.text.junit_xml import junit_report, junit_start_pattern
from kafka_shim.text.line_findings import sarif_log
from kafka_shim.text.message_text import sanitize_result_lines
from kafka_shim.text.output_paths import check_output_file

QUIET_FAILURES_MAX = 10
_JUNIT_NAME = "kafka-shim policy test"
"""Failures that --quiet prints."""
_PROFILE_LINES = "\n".join(
    f"  {name:24} {', '.join(name_keys_of_profile(name))}" for name in PROFILES
)
DESCRIPTION = f"""\
Check expectations against ACLs: for all names that match a pattern, from every host, by the rules
of the chosen release. Each line of output names the ACL that decided; a failure also shows the
smallest change that would fix it.

  kafka-shim policy test policy.yaml --acls acls/
  kafka-shim policy test policy.toml --bootstrap-server 127.0.0.1:9092 --junit report.xml

Expectations in YAML (or TOML, as [[expect]] tables; see docs/guides/acls-as-code.md):

  expect:
  - {{principal: User:alice, may: Write, topic: orders}}
  - {{principal: User:bob, may-not: [Read, Write], topic: payments-*}}
  - {{principal: User:app, can: consume, topic: orders, group: app-*}}
  - {{nobody-but: [User:alice], may: Write, topic: orders}}
  - {{no-acl: {{principal: "User:*"}}}}

`can` and `cannot` stand for everything that a kind of client does, and need these keys:

{_PROFILE_LINES}

Exit codes: 0 all expectations hold, 3 one or more fail, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("files", nargs="+", metavar="EXPECTATIONS", help="YAML or TOML file with expectations")
    add(
        "--acls",
        action="append",
        default=[],
        metavar="FILE",
        help="File or folder with ACLs (repeatable; default: the `acls:` of the expectations)",
    )
    add("--junit", type=Path, metavar="FILE", help="Also write a JUnit report to this file")
    add("--github", action="store_true", help="Also print annotations for GitHub Actions")
    add(
        "--quiet",
        "-q",
        action="store_true",
        help=f"Print only failures, at most {QUIET_FAILURES_MAX}, and how many there are",
    )
    add(
        "--coverage",
        action="store_true",
        help="Also print the ACLs that no expectation is about, and the expectations to which no"
        " ACL applies",
    )
    add(
        "--format",
        choices=("text", "json", "sarif"),
        default="text",
        help="sarif: failures for the code scanning of GitHub and GitLab (default: text)",
    )
    add("--json", action="store_const", const="json", dest="format", help="Print JSON")
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.coverage and args.format != "text":
        raise UsageError("--coverage is printed as text only")
    if args.junit:
        check_output_file(args.junit, junit_start_pattern(_JUNIT_NAME))
    coverage = empty_coverage() if args.coverage else None
    judged = _check_expectations(args, coverage)
    failed = failed_expectations(judged)
    if args.junit:
        report = junit_report(_JUNIT_NAME, map(junit_case, judged))
        args.junit.write_text(report, encoding="utf-8")
    if args.format != "text":
        content: object = (
            sarif_log(map(verdict_sarif_result, failed), SARIF_RULES)
            if args.format == "sarif"
            else [verdict_object(each) for each in judged]
        )
        print(json_text(content))
        return EXIT_MISMATCH if failed else 0
    shown = failed[:QUIET_FAILURES_MAX] if args.quiet else judged
    for each in shown:
        print(sanitize_result_lines(verdict_lines(each)))
    if args.quiet and len(failed) > len(shown):
        print(f"and {len(failed) - len(shown)} more failures")
    if args.github:
        for each in failed:
            print(verdict_annotation(each))
    print(verdict_summary(judged))
    if coverage is not None:
        print(sanitize_result_lines(coverage.report_lines()))
    return EXIT_MISMATCH if failed else 0


def _check_expectations(
    args: argparse.Namespace, coverage: PolicyCoverage | None
) -> list[JudgedExpectation]:
    is_cluster = not args.acls and bool(args.bootstrap_server)
    policy = policy_of_cluster(args) if is_cluster else policy_without_acls(args)
    files = read_expectation_files(args.files, policy.release)
    if is_cluster:
        super_users = [user for each in files for user in each.super_users]
        write_assumption_notes(_with_more_super_users(args, policy, super_users))
    policies = []
    for file in files:
        of_file = _with_more_super_users(args, policy, file.super_users)
        if not is_cluster:
            acls = _read_acls_to_judge(args, file, policy.release)
            of_file = msgspec.structs.replace(of_file, acls=acls)
        policies.append((file, of_file))
    total = sum(len(each.expectations) for each in files)
    with ProgressBar("checking expectations", total, delay_s=1.0) as progress:
        return judge_expectations(policies, coverage, progress)


def _with_more_super_users(
    args: argparse.Namespace, policy: Policy, super_users: Sequence[str]
) -> Policy:
    """Return the policy with those of a file and of the options, else with its own."""
    if not super_users:
        return policy
    return policy.with_super_users((*args.super_user, *super_users))


def _read_acls_to_judge(
    args: argparse.Namespace, expectation_file: ExpectationFile, release: str
) -> Sequence[Acl]:
    """Return the ACLs of the options, or by default those named in the file."""
    paths = args.acls or expectation_file.acl_paths
    if not paths:
        raise UsageError(
            "no ACLs given: add --acls FILE, --bootstrap-server HOST:PORT, or `acls:` in the"
            " expectations"
        )
    return read_accepted_acls(paths, release)
