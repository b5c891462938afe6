"""`kafka-shim policy diff`: which access each principal gains and loses, over all names."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    SETTINGS_HELP,
    add_cluster_and_rule_arguments,
    policy_of_cluster,
    policy_of_files,
    require_known_mode,
    set_default_bootstrap_server,
    with_settings,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.trace_source import require_path_with_trace
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.diff import (
    DescribedChange,
    compared_rules,
    described_changes,
    diff_html,
    diff_lines,
    diff_markdown,
    diff_object,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.used_access import count_allowed_accesses
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import sanitize_result_lines

DESCRIPTION = """\
Print the operations on resources that principals gain (+) and lose (-) when NEW replaces OLD. Each
difference has an access as an example. The command compares the patterns of the ACLs, so the result
holds for all possible names. With --bootstrap-server, OLD is the ACLs of the cluster.

  kafka-shim policy diff old.yaml new.yaml --fail-on gain
  kafka-shim policy diff acls/ --bootstrap-server 127.0.0.1:9092 --fail-on any
  kafka-shim policy diff acls/ --old-set authorizer.class.name=none
  kafka-shim policy diff --bootstrap-server 127.0.0.1:9092 --old-set \\
      allow.everyone.if.no.acl.found=true --set allow.everyone.if.no.acl.found=false

With --set or --old-set, one set of ACLs is enough, because only the setting changes.

Exit codes: 0 done, 3 a change that --fail-on names was found, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.usage = (
        "%(prog)s [OPTION ...] OLD NEW\n"
        "       %(prog)s [OPTION ...] NEW [NEW ...] --bootstrap-server HOST:PORT\n"
        "       %(prog)s [OPTION ...] ACLS --set NAME=VALUE"
    )
    add = parser.add_argument
    add(
        "files",
        nargs="*",
        metavar="FILE",
        help="OLD and NEW; with --bootstrap-server only NEW, one or more files",
    )
    for option, side in (("--set", "NEW"), ("--old-set", "OLD")):
        add(
            option,
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"Set a broker's setting for {side} only (repeatable); {SETTINGS_HELP}",
        )
    add(
        "--fail-on",
        choices=("gain", "loss", "any"),
        help="Exit with code 3 if somebody gains access, loses access, or either",
    )
    add(
        "--used-by",
        type=Path,
        metavar="TRACE",
        help="List first what this trace used of the access that is lost, with counts",
    )
    add(
        "--format",
        choices=("text", "markdown", "html", "json"),
        default="text",
        help="markdown: a comment for a pull request (default: text)",
    )
    add("--link", metavar="URL", help="With --format markdown: where the complete list is")
    add("--json", action="store_const", const="json", dest="format", help="Print JSON")
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    old, new = _compared_policies(args)
    described = _compare_policies(old, new, args.used_by)
    if args.fail_on:
        require_known_mode(
            old, new, lambda *both: _has_failing_change(args, _compare_policies(*both))
        )
    rules = compared_rules(old, new)
    match args.format:
        case "json":
            print(json_text(diff_object(described, rules)))
        case "markdown":
            print(diff_markdown(described, rules, args.link), end="")
        case "html":
            print(diff_html(described, rules), end="")
        case _:
            print(sanitize_result_lines(diff_lines(described, rules)))
    return EXIT_MISMATCH if _has_failing_change(args, described) else 0


def _has_failing_change(args: argparse.Namespace, described: Sequence[DescribedChange]) -> bool:
    failing = {"gain": (True,), "loss": (False,), "any": (True, False), None: ()}[args.fail_on]
    return any(each.change.gained in failing for each in described)


def _compare_policies(old: Policy, new: Policy, trace: Path | None = None) -> list[DescribedChange]:
    used = None
    if trace is not None:
        used = count_allowed_accesses(require_path_with_trace(trace))
    with ProgressBar("comparing", 0, delay_s=1.0) as progress:
        return described_changes(old, new, used, progress)


def _compared_policies(args: argparse.Namespace) -> tuple[Policy, Policy]:
    """Return both policies; with --set or --old-set, one set of ACLs is both."""
    has_settings = bool(args.set or args.old_set)
    if len(args.files) == 2 and not args.bootstrap_server:
        old, new = (policy_of_files(args, [path]) for path in args.files)
    elif len(args.files) == 1 and has_settings and not args.bootstrap_server:
        old = new = policy_of_files(args, args.files)
    elif (args.files or has_settings) and set_default_bootstrap_server(args):
        old = policy_of_cluster(args)
        new = policy_of_files(args, args.files, old) if args.files else old
    else:
        raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
    old, new = with_settings(old, args.old_set, "--old-set"), with_settings(new, args.set, "--set")
    if (ALLOW_EVERYONE in old.assumed_settings) is not (ALLOW_EVERYONE in new.assumed_settings):
        raise UsageError(
            f"the broker does not return {ALLOW_EVERYONE}: set it on both sides, with --old-set and"
            " --set"
        )
    return old, new
