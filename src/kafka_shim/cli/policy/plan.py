"""`kafka-shim policy plan`: print, save or apply the changes that give a cluster other ACLs."""

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from kafka_shim.cli.connection_options import connect_with_options
from kafka_shim.cli.policy_options import (
    add_cluster_and_rule_arguments,
    policy_of_cluster,
    policy_of_files,
    policy_without_acls,
    set_default_bootstrap_server,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.usage import UsageError
from kafka_shim.client.acls import send_acl_changes
from kafka_shim.client.client import Client, ClientError
from kafka_shim.policy.acl_files import read_accepted_located_acls
from kafka_shim.policy.plan import StepGroup, inverse_requests
from kafka_shim.policy.plan_file import interim_text, plan_object, write_plan
from kafka_shim.policy.plan_formats import (
    PLAN_FORMATS,
    command_lines,
    format_commands,
    format_stages,
)
from kafka_shim.policy.planned_change import COMMANDS, PlannedChange, plan_change
from kafka_shim.policy.policy import Policy
from kafka_shim.text.data_text import json_text
from kafka_shim.text.input_files import place_text

DESCRIPTION = """\
Print kafka-acls commands that turn OLD into NEW. With --bootstrap-server, OLD is what the cluster
has. The order is safe: after each command, every access that both sets allow is still allowed, and
every access that both deny is still denied. Where no order of commands is safe, a comment says what
changes for how long; --out and --apply put ACLs on the same names into one request.

  kafka-shim policy plan old.yaml new.yaml
  kafka-shim policy plan acls/ --bootstrap-server 127.0.0.1:9092 --out plan.json
  kafka-shim policy plan acls/ --bootstrap-server 127.0.0.1:9092 --apply
  kafka-shim policy plan old.yaml new.yaml --format strimzi --stage 1

--out saves the plan for a review, and `policy apply` carries it out later. --apply makes the
changes now, after a confirmation; if one fails, all are undone. If neither an option nor the
broker tells whether allow.everyone.if.no.acl.found is true, comments cover both cases.

With --format, the output is for a declarative tool, in two stages: stage 1 adds the new ACLs, and
stage 2 removes the old ones. Without --stage, both are printed, after a comment for each resource
whose access depends on the order in which the tool applies the ACLs of a stage.

Exit codes: 0 done or nothing to do, 3 with --detailed-exitcode: there are changes, 2 usage error,
1 the broker failed or the confirmation was no.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.usage = (
        "%(prog)s [OPTION ...] OLD NEW\n"
        "       %(prog)s [OPTION ...] NEW [NEW ...] --bootstrap-server HOST:PORT"
    )
    add = parser.add_argument
    add(
        "files",
        nargs="+",
        metavar="FILE",
        help="OLD and NEW; with --bootstrap-server only NEW, one or more files",
    )
    add("--out", type=Path, metavar="FILE", help="Save the plan for `policy apply`")
    add("--apply", action="store_true", help="Make the changes in the cluster")
    add("--yes", "-y", action="store_true", help="With --apply: do not ask for confirmation")
    add(
        "--accept-interim-changes",
        action="store_true",
        help="With --apply: go on although access is lost or opened between requests",
    )
    add("--detailed-exitcode", action="store_true", help="Exit with 3 if there are changes, else 0")
    add(
        "--format",
        choices=PLAN_FORMATS,
        default=COMMANDS,
        metavar="FORMAT",
        help=f"Format of the plan: {', '.join(PLAN_FORMATS)}; all but commands are for declarative"
        " tools and have two stages (default: commands, for kafka-acls)",
    )
    add("--stage", type=int, choices=(1, 2), help="Print only this stage")
    add("--json", action="store_true", help="Print the plan as JSON, as --out writes it")
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    cluster = None
    old_files, new_files = args.files[:1], args.files[1:]
    if len(args.files) != 2 or args.bootstrap_server:
        if not set_default_bootstrap_server(args):
            raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
        cluster, new_files = policy_of_cluster(args), args.files
    elif args.apply:
        raise UsageError("--apply requires --bootstrap-server")
    _check_option_combination(args)
    with ProgressBar("planning", 0, delay_s=1.0) as progress:
        numbers = count(1)

        def report_item() -> None:
            progress(next(numbers))

        plan = _make_plan(args, cluster, old_files, new_files, report_item)
        text = _plan_text(args, plan, report_item)
    print(text, end="")
    if args.out:
        write_plan(args.out, plan_object(plan.saved, plan.interim_between_requests))
    if args.apply and plan.steps:
        return _apply_plan(args, plan)
    return EXIT_MISMATCH if args.detailed_exitcode and plan.steps else 0


def _make_plan(
    args: argparse.Namespace,
    cluster: Policy | None,
    old_files: Sequence[str],
    new_files: Sequence[str],
    report_progress: Callable[[], object],
) -> PlannedChange:
    if cluster is None:
        rules = policy_without_acls(args)
        written = read_accepted_located_acls(old_files, rules.release)
        old_acl_places = {each.acl: place_text(each.path, each.line) for each in written}
        old = msgspec.structs.replace(rules, acls=list(old_acl_places), source=old_files[0])
    else:
        old = cluster
        old_acl_places = dict.fromkeys(old.acls, "")
    new = policy_of_files(args, new_files, old)
    acl_format = None if args.json else args.format
    return plan_change(old, new, old_acl_places, acl_format, report_progress)


def _plan_text(
    args: argparse.Namespace, plan: PlannedChange, report_progress: Callable[[], object]
) -> str:
    if args.json:
        content = plan_object(plan.saved, plan.interim_between_requests)
        return json_text(content) + "\n"
    if args.format == COMMANDS:
        return format_commands(plan, args.bootstrap_server, report_progress)
    try:
        return format_stages(plan, args.format, args.stage)
    except AclTextError as error:
        raise UsageError(f"--format {args.format}: {error}") from error


def _check_option_combination(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined."""
    is_staged = args.format != COMMANDS
    if is_staged and (args.apply or args.json or args.out):
        raise UsageError(
            f"--format {args.format} prints a plan for that tool; leave out --apply, --json, --out"
        )
    if args.stage and not is_staged:
        raise UsageError("--stage requires a --format of a declarative tool, such as terraform")


def _apply_plan(args: argparse.Namespace, plan: PlannedChange) -> int:
    if plan.interim_between_requests and not args.accept_interim_changes:
        texts = "; ".join(interim_text(each) for each in plan.interim_between_requests)
        raise UsageError(
            f"access changes between the requests of this plan ({texts}); to apply it anyway, add"
            " --accept-interim-changes"
        )
    if not args.yes and not _confirm_on_stdin(f"{plan.counts_text} in {args.bootstrap_server}?"):
        print("nothing was changed", file=sys.stderr)
        return EXIT_FAILURE
    with connect_with_options(args) as client:
        attempted: list[StepGroup] = []
        try:
            for request in plan.saved.requests:
                attempted.append(request)
                send_acl_changes(client, request)
        except ClientError as error:
            _roll_back_requests(client, attempted, error)
            raise
    print(f"done: {plan.counts_text}", file=sys.stderr)
    return 0


def _roll_back_requests(client: Client, attempted: Sequence[StepGroup], cause: ClientError) -> None:
    """Undo the requests in reverse order; a failed one may have been done in part."""
    undoing = inverse_requests(attempted)
    try:
        for request in undoing:
            send_acl_changes(client, request)
    except ClientError as error:
        lines = "\n".join(command_lines(undoing))
        raise ClientError(
            f"{cause}; taking the changes back failed too ({error}); to do so:\n{lines}"
        ) from error
    print("kafka-shim policy plan: a change failed; all were taken back", file=sys.stderr)


def _confirm_on_stdin(question: str) -> bool:
    print(f"{question} (y/n)", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() == "y"
    except (EOFError, RuntimeError):
        raise UsageError(
            "standard input is closed, so nobody can confirm; use --yes to apply without asking"
        ) from None
