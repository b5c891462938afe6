"""`kafka-shim policy plan`: print or apply the changes that give a cluster the ACLs of files."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from kafka_shim.authorizer.acl_formats.json_objects import acls_to_objects
from kafka_shim.authorizer.acl_formats.kafka_commands import format_command
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.plan import steps_safe_at_every_point
from kafka_shim.authorizer.remedy import Step
from kafka_shim.protocol.enums import Operation
from kafka_shim.shim.cli import EXIT_FAILURE
from kafka_shim.shim.cli.connection_options import connect_with_options
from kafka_shim.shim.cli.policy.acl_files import read_accepted_acls, read_accepted_located_acls
from kafka_shim.shim.cli.policy.authorizer_options import (
    ClusterAcls,
    add_cluster_arguments,
    read_cluster_acls,
    release_of_options_or_cluster,
    set_default_bootstrap_server,
)
from kafka_shim.shim.cli.policy.descriptions import count_with_noun
from kafka_shim.shim.cli.policy.input_error import file_and_line
from kafka_shim.shim.cli.policy.plan_formats import PLAN_FORMATS, format_two_stages, join_stages
from kafka_shim.shim.cli.usage import UsageError
from kafka_shim.shim.client.acls import create_acls, delete_acls
from kafka_shim.shim.client.client import Client, ClientError

HELP = "print the changes that give a cluster the ACLs of files; --apply makes them"
DESCRIPTION = """\
Print kafka-acls commands that turn OLD into NEW. With --bootstrap-server, OLD is what the cluster
has. The order is safe: after each command, every access that both sets allow is still allowed, and
every access that both deny is still denied. --apply makes the changes in the cluster after a
confirmation; if one fails, all are undone.

  kafka-shim policy plan old.yaml new.yaml
  kafka-shim policy plan acls/ --bootstrap-server 127.0.0.1:9092 --apply
  kafka-shim policy plan old.yaml new.yaml --format strimzi --stage 1

With --format, the output is for a declarative tool, in two stages: stage 1 adds the new ACLs, and
stage 2 removes the old ones. Without --stage, both are printed.

Exit codes: 0 done or nothing to do, 2 usage error, 1 the broker failed or the confirmation was no.
"""
BATCH_STEPS = 1000
"""Changes a request; brokers refuse more than 10,000."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    add("--apply", action="store_true", help="make the changes in the cluster")
    add("--yes", "-y", action="store_true", help="with --apply: do not ask for confirmation")
    add(
        "--format",
        choices=PLAN_FORMATS,
        default="commands",
        metavar="FORMAT",
        help=f"format of the plan: {', '.join(PLAN_FORMATS)}; all but commands are for declarative"
        " tools and have two stages (default: commands, for kafka-acls)",
    )
    add("--stage", type=int, choices=(1, 2), help="print only this stage")
    add("--json", action="store_true", help="print JSON instead of commands")
    add(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release that the files are for (default: the broker's, else the newest)",
    )
    add_cluster_arguments(parser)


def run(args: argparse.Namespace) -> int:
    cluster_acls = None
    old_files, new_files = args.files[:1], args.files[1:]
    if len(args.files) != 2 or args.bootstrap_server:
        if not set_default_bootstrap_server(args):
            raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
        cluster_acls, new_files = read_cluster_acls(args), args.files
    elif args.apply:
        raise UsageError("--apply requires --bootstrap-server")
    _check_option_combination(args)
    release = release_of_options_or_cluster(args, cluster_acls)
    if cluster_acls is None:
        written = read_accepted_located_acls(old_files, release)
        old = {each.acl: file_and_line(each.path, each.line) for each in written}
    else:
        old = dict.fromkeys(cluster_acls.acls, "")
    steps = steps_safe_at_every_point(old, read_accepted_acls(new_files, release))
    print(_format_plan(args, steps, old), end="")
    return _confirm_and_apply(args, cluster_acls, steps) if args.apply and steps else 0


def _check_option_combination(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined."""
    is_staged = args.format != "commands"
    if is_staged and (args.apply or args.json):
        raise UsageError(
            f"--format {args.format} prints a plan for that tool; leave out --apply and --json"
        )
    if args.stage and not is_staged:
        raise UsageError("--stage requires a --format of a declarative tool, such as terraform")


def _format_plan(
    args: argparse.Namespace, steps: Sequence[Step], old_acl_places: Mapping[Acl, str]
) -> str:
    if args.json:
        return json.dumps(_step_objects(steps), indent=2, ensure_ascii=False) + "\n"
    total = "" if args.stage else f"# {_added_and_removed_text(steps)}\n"
    if args.format == "commands":
        lines = _kafka_acls_commands(steps, args.bootstrap_server)
        return "".join(f"{line}\n" for line in lines) + total
    try:
        return (
            join_stages(format_two_stages(steps, old_acl_places, args.format), args.stage) + total
        )
    except AclTextError as error:
        raise UsageError(f"--format {args.format}: {error}") from error


def _confirm_and_apply(
    args: argparse.Namespace, cluster_acls: ClusterAcls | None, steps: Sequence[Step]
) -> int:
    assert cluster_acls is not None, "checked before"
    if not args.yes and not _confirm_on_terminal(
        f"{_added_and_removed_text(steps)} in {args.bootstrap_server}?"
    ):
        print("nothing was changed", file=sys.stderr)
        return EXIT_FAILURE
    with connect_with_options(args) as client:
        attempted: list[Step] = []
        try:
            for batch in _batches_for_one_request(steps):
                attempted += batch
                _apply_batch(client, batch)
        except ClientError as error:
            _roll_back_steps(client, attempted, error)
            raise
    print(f"done: {_added_and_removed_text(steps)}", file=sys.stderr)
    return 0


def _roll_back_steps(client: Client, attempted: Sequence[Step], cause: ClientError) -> None:
    """Undo the steps in reverse order; a failed batch may have been done in part."""
    try:
        for batch in _batches_for_one_request(
            [_inverse_step(step) for step in reversed(attempted)]
        ):
            _apply_batch(client, batch)
    except ClientError as error:
        lines = "\n".join(
            _kafka_acls_commands([_inverse_step(step) for step in reversed(attempted)], None)
        )
        raise ClientError(
            f"{cause}; taking the changes back failed too ({error}); to do so:\n{lines}"
        ) from error
    print("kafka-shim policy plan: a change failed; all were taken back", file=sys.stderr)


def _apply_batch(client: Client, batch: Sequence[Step]) -> None:
    acls = [step.acl for step in batch]
    if batch[0].is_addition:
        create_acls(client, acls)
    else:
        delete_acls(client, [acl.to_exact_filter() for acl in acls])


def _inverse_step(step: Step) -> Step:
    return msgspec.structs.replace(step, is_addition=not step.is_addition)


def _batches_for_one_request(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Group steps, in order, so that one request can do each group."""
    for _, group in groupby(steps, key=lambda step: step.is_addition):
        alike = list(group)
        for at in range(0, len(alike), BATCH_STEPS):
            yield alike[at : at + BATCH_STEPS]


def _confirm_on_terminal(question: str) -> bool:
    print(f"{question} (y/n)", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() == "y"
    except (EOFError, RuntimeError):
        raise UsageError(
            "standard input is closed, so nobody can confirm; use --yes to apply without asking"
        ) from None


def _kafka_acls_commands(steps: Iterable[Step], bootstrap: str | None) -> Iterator[str]:
    """Yield one command for each principal and resource, with all operations added or removed."""
    for (is_addition, _), group in groupby(steps, key=_command_group_key):
        verb = "--add" if is_addition else "--remove --force"
        yield format_command(verb, *(step.acl for step in group), bootstrap=bootstrap)


def _command_group_key(step: Step) -> tuple[bool, object]:
    return step.is_addition, msgspec.structs.replace(step.acl, operation=Operation.ALL)


def _added_and_removed_text(steps: Sequence[Step]) -> str:
    added = sum(step.is_addition for step in steps)
    return f"{count_with_noun(added, 'ACL')} to add, {len(steps) - added} to remove"


def _step_objects(steps: Iterable[Step]) -> list[dict[str, object]]:
    return [
        {"action": "add" if step.is_addition else "remove", "acl": acls_to_objects([step.acl])[0]}
        for step in steps
    ]
