"""`kafka-shim policy test`: check expectations against ACLs."""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.authorizer_settings import (
    ClusterAcls,
    authorizer_with_options,
    read_cluster_acls,
    release_of_options_or_cluster,
    settings_of_options_or_cluster,
    write_note_on_assumed_settings,
)
from kafka_shim.cli.input_error import InputError
from kafka_shim.cli.policy.accepted_acls import read_accepted_acls
from kafka_shim.cli.policy.authorizer_options import (
    add_authorizer_arguments,
    add_cluster_arguments,
)
from kafka_shim.cli.policy.coverage import PolicyCoverage, empty_coverage
from kafka_shim.cli.policy.expectation_files import ExpectationFile, read_expectation_file
from kafka_shim.cli.policy.sarif import sarif_log
from kafka_shim.cli.policy.verdicts import (
    SARIF_RULES,
    JudgedExpectation,
    junit_report,
    verdict_annotation,
    verdict_lines,
    verdict_object,
    verdict_sarif_result,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.policy.profiles import PROFILES, name_keys_of_profile
from kafka_shim.text.message_text import text_of_escaped_result_lines

QUIET_FAILURES_MAX = 10
"""Failures that --quiet prints."""
HELP = "Check expectations, such as `bob may not read payments`, against ACLs"
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
    add_cluster_arguments(parser)
    add_authorizer_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.coverage and args.format != "text":
        raise UsageError("--coverage is printed as text only")
    coverage = empty_coverage() if args.coverage else None
    judged = _judge_expectations(args, coverage)
    failed = sum(found.has_failed_or_expired_exception for found in judged)
    if args.junit:
        args.junit.write_text(junit_report(judged), encoding="utf-8")
    if args.format != "text":
        content: object = (
            sarif_log(map(verdict_sarif_result, _failed(judged)), SARIF_RULES)
            if args.format == "sarif"
            else [verdict_object(found) for found in judged]
        )
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return EXIT_MISMATCH if failed else 0
    shown = _failed(judged)[:QUIET_FAILURES_MAX] if args.quiet else judged
    for judged_expectation in shown:
        print(text_of_escaped_result_lines(verdict_lines(judged_expectation)))
    if args.quiet and failed > len(shown):
        print(f"and {failed - len(shown)} more failures")
    if args.github:
        for judged_expectation in _failed(judged):
            print(verdict_annotation(judged_expectation))
    releases = dict.fromkeys(found.verdict.expectation.release for found in judged)
    excepted = sum(found.is_excepted for found in judged)
    held = len(judged) - failed - excepted
    more = f", {excepted} excepted" if excepted else ""
    print(f"{held} of {len(judged)} expectations hold in Kafka {', '.join(releases)}{more}")
    if coverage is not None:
        print(text_of_escaped_result_lines(coverage.report_lines()))
    return EXIT_MISMATCH if failed else 0


def _failed(judged: Sequence[JudgedExpectation]) -> list[JudgedExpectation]:
    return [found for found in judged if found.has_failed_or_expired_exception]


def _judge_expectations(
    args: argparse.Namespace, coverage: PolicyCoverage | None
) -> list[JudgedExpectation]:
    """Check all expectations, and add them to the coverage."""
    cluster_acls = None
    if not args.acls and args.bootstrap_server:
        cluster_acls = read_cluster_acls(args)
    release = release_of_options_or_cluster(args, cluster_acls)
    files = _read_expectation_files(args.files, release)
    if cluster_acls is not None:
        options = _with_super_users(args, [user for each in files for user in each.super_users])
        settings = settings_of_options_or_cluster(options, cluster_acls)
        write_note_on_assumed_settings(settings.assumed_settings)
    judged = []
    total = sum(len(each.expectations) for each in files)
    with ProgressBar("checking expectations", total, delay_s=1.0) as progress:
        for expectation_file in files:
            acls = _acls_to_judge(args, expectation_file, release, cluster_acls)
            checkers: dict[str, ExpectationChecker] = {}
            if coverage is not None:
                coverage.acls |= dict.fromkeys(acls)
            for located in expectation_file.expectations:
                of_release = located.expectation.release
                if of_release not in checkers:
                    options = _with_super_users(args, expectation_file.super_users)
                    checkers[of_release] = _create_expectation_checker(
                        options, acls, of_release, cluster_acls
                    )
                verdict = checkers[of_release].check_expectation(located.expectation)
                judged.append(JudgedExpectation(located, verdict))
                if coverage is not None:
                    coverage.add_expectation(located, checkers[of_release])
                progress(len(judged))
    return judged


def _read_expectation_files(paths: Sequence[str], release: str) -> list[ExpectationFile]:
    """Read all files; raise one InputError with all their errors."""
    files: list[ExpectationFile] = []
    messages: list[str] = []
    for path in paths:
        try:
            files.append(read_expectation_file(path, release))
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return files


def _with_super_users(args: argparse.Namespace, super_users: Iterable[str]) -> argparse.Namespace:
    options = argparse.Namespace(**vars(args))
    options.super_user = [*args.super_user, *super_users]
    return options


def _create_expectation_checker(
    options: argparse.Namespace,
    acls: Iterable[Acl],
    release: str,
    cluster_acls: ClusterAcls | None,
) -> ExpectationChecker:
    try:
        return ExpectationChecker(authorizer_with_options(options, acls, release, cluster_acls))
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {release}: {error}") from error


def _acls_to_judge(
    args: argparse.Namespace,
    expectation_file: ExpectationFile,
    release: str,
    cluster_acls: ClusterAcls | None,
) -> Sequence[Acl]:
    """Return the ACLs of the options, or by default those named in the file."""
    if cluster_acls is not None:
        return cluster_acls.acls
    paths = args.acls or expectation_file.acl_paths
    if not paths:
        raise UsageError(
            "no ACLs given: add --acls FILE, --bootstrap-server HOST:PORT, or `acls:` in the"
            " expectations"
        )
    return read_accepted_acls(paths, release)
