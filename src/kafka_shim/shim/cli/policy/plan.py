"""`kafka-shim policy plan`: print or apply the changes that give a cluster the ACLs of files."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from kafka_shim.authorizer.acl_formats.kafka_commands import command
from kafka_shim.authorizer.acl_formats.objects import to_objects
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.plan import steps_safe_at_every_point
from kafka_shim.authorizer.remedy import Step
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation
from kafka_shim.shim.cli import EXIT_FAILURE
from kafka_shim.shim.cli.connecting import connected
from kafka_shim.shim.cli.policy.input_error import placed
from kafka_shim.shim.cli.policy.inputs import (
    Live,
    add_broker_arguments,
    bootstrap_or_default,
    live_acls,
)
from kafka_shim.shim.cli.policy.plan_forms import FORMS, staged, stages
from kafka_shim.shim.cli.policy.sources import accepted_in, read_files
from kafka_shim.shim.cli.policy.words import counted
from kafka_shim.shim.cli.usage import UsageError, release_named
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
BATCH = 1000
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
        choices=FORMS,
        default="commands",
        metavar="FORMAT",
        help=f"format of the plan: {', '.join(FORMS)}; all but commands are for declarative tools"
        " and have two stages (default: commands, for kafka-acls)",
    )
    add("--stage", type=int, choices=(1, 2), help="print only this stage")
    add("--json", action="store_true", help="print JSON instead of commands")
    add(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release that the files are for (default: the broker's, else the newest)",
    )
    add_broker_arguments(parser)


def run(args: argparse.Namespace) -> int:
    live = None
    old_files, new_files = args.files[:1], args.files[1:]
    if len(args.files) != 2 or args.bootstrap_server:
        if not bootstrap_or_default(args):
            raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
        live, new_files = live_acls(args), args.files
    elif args.apply:
        raise UsageError("--apply requires --bootstrap-server")
    _check(args)
    release = release_named(args.kafka_version) or (live.release if live else RELEASES[-1])
    if live is None:
        written = accepted_in(old_files, release)
        old = {each.acl: placed(each.path, each.line) for each in written}
    else:
        old = dict.fromkeys(live.acls, "")
    steps = steps_safe_at_every_point(old, read_files(new_files, release))
    print(_text(args, steps, old), end="")
    return _apply(args, live, steps) if args.apply and steps else 0


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined."""
    is_staged = args.format != "commands"
    if is_staged and (args.apply or args.json):
        raise UsageError(
            f"--format {args.format} prints a plan for that tool; leave out --apply and --json"
        )
    if args.stage and not is_staged:
        raise UsageError("--stage requires a --format of a declarative tool, such as terraform")


def _text(args: argparse.Namespace, steps: Sequence[Step], old: Mapping[Acl, str]) -> str:
    if args.json:
        return json.dumps(_objects(steps), indent=2, ensure_ascii=False) + "\n"
    total = "" if args.stage else f"# {_total(steps)}\n"
    if args.format == "commands":
        lines = _commands(steps, args.bootstrap_server)
        return "".join(f"{line}\n" for line in lines) + total
    try:
        return staged(stages(steps, old, args.format), args.stage) + total
    except AclTextError as error:
        raise UsageError(f"--format {args.format}: {error}") from error


def _apply(args: argparse.Namespace, live: Live | None, steps: Sequence[Step]) -> int:
    assert live is not None, "checked before"
    if not args.yes and not _confirmed(f"{_total(steps)} in {args.bootstrap_server}?"):
        print("nothing was changed", file=sys.stderr)
        return EXIT_FAILURE
    with connected(args) as client:
        begun: list[Step] = []
        try:
            for batch in _batches(steps):
                begun += batch
                _do(client, batch)
        except ClientError as error:
            _roll_back(client, begun, error)
            raise
    print(f"done: {_total(steps)}", file=sys.stderr)
    return 0


def _roll_back(client: Client, begun: Sequence[Step], cause: ClientError) -> None:
    """Undo the steps in reverse order; a failed batch may have been done in part."""
    try:
        for batch in _batches([_undone(step) for step in reversed(begun)]):
            _do(client, batch)
    except ClientError as error:
        lines = "\n".join(_commands([_undone(step) for step in reversed(begun)], None))
        raise ClientError(
            f"{cause}; taking the changes back failed too ({error}); to do so:\n{lines}"
        ) from error
    print("kafka-shim policy plan: a change failed; all were taken back", file=sys.stderr)


def _do(client: Client, batch: Sequence[Step]) -> None:
    acls = [step.acl for step in batch]
    if batch[0].is_addition:
        create_acls(client, acls)
    else:
        delete_acls(client, [acl.exactly() for acl in acls])


def _undone(step: Step) -> Step:
    return msgspec.structs.replace(step, is_addition=not step.is_addition)


def _batches(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Group steps, in order, so that one request can do each group."""
    for _, group in groupby(steps, key=lambda step: step.is_addition):
        alike = list(group)
        for at in range(0, len(alike), BATCH):
            yield alike[at : at + BATCH]


def _confirmed(question: str) -> bool:
    print(f"{question} (y/n)", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() == "y"
    except (EOFError, RuntimeError):
        raise UsageError(
            "standard input is closed, so nobody can confirm; use --yes to apply without asking"
        ) from None


def _commands(steps: Iterable[Step], bootstrap: str | None) -> Iterator[str]:
    """Yield one command for each principal and resource, with all operations added or removed."""
    for (is_addition, _), group in groupby(steps, key=_rule):
        verb = "--add" if is_addition else "--remove --force"
        yield command(verb, *(step.acl for step in group), bootstrap=bootstrap)


def _rule(step: Step) -> tuple[bool, object]:
    return step.is_addition, msgspec.structs.replace(step.acl, operation=Operation.ALL)


def _total(steps: Sequence[Step]) -> str:
    added = sum(step.is_addition for step in steps)
    return f"{counted(added, 'ACL')} to add, {len(steps) - added} to remove"


def _objects(steps: Iterable[Step]) -> list[dict[str, object]]:
    return [
        {"action": "add" if step.is_addition else "remove", "acl": to_objects([step.acl])[0]}
        for step in steps
    ]
