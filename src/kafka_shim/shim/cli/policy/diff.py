"""`kafka-shim policy diff`: which access each principal gains and loses, over all names."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.policy.access_changes import AccessChange, access_changes
from kafka_shim.authorizer.policy.checked_accesses import InexactReleaseError
from kafka_shim.shim.cli import EXIT_MISMATCH
from kafka_shim.shim.cli.policy.inputs import (
    add_broker_arguments,
    add_decision_arguments,
    authorizer_of,
    bootstrap_or_default,
    chosen_release,
    live_acls,
)
from kafka_shim.shim.cli.policy.sources import read_files
from kafka_shim.shim.cli.policy.uses import uses
from kafka_shim.shim.cli.policy.words import change_object, change_words, told
from kafka_shim.shim.cli.usage import UsageError

HELP = "show who gains and who loses which access between two sets of ACLs"
DESCRIPTION = """\
Print who gains (+) and who loses (-) which operations on which resources when NEW replaces OLD.
The patterns themselves are compared, so the result holds for all possible names. With
--bootstrap-server, OLD is what the cluster has.

  kafka-shim policy diff old.yaml new.yaml --fail-on gain
  kafka-shim policy diff acls/ --bootstrap-server 127.0.0.1:9092 --fail-on any

Exit codes: 0 done, 3 a change that --fail-on names was found, 2 usage error, 1 the broker failed.
"""

USED = "  (used {count} times in the trace)"


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
    add(
        "--fail-on",
        choices=("gain", "loss", "any"),
        help="exit with code 3 if somebody gains access, loses access, or either",
    )
    add(
        "--used-by",
        type=Path,
        metavar="TRACE",
        help="count how often this trace used the access that is lost",
    )
    add("--json", action="store_true", help="print JSON instead of text")
    add_broker_arguments(parser)
    add_decision_arguments(parser)


def run(args: argparse.Namespace) -> int:
    changes, release = _changes(args)
    used = _uses(args.used_by, changes) if args.used_by else None
    if args.json:
        print(json.dumps(_object(changes, release, used), indent=2, ensure_ascii=False))
    else:
        for change in told(changes):
            count = used.get(change, 0) if used is not None else 0
            print(change_words(change) + (USED.format(count=count) if count else ""))
        if not changes:
            print("no difference: both sets decide every access alike")
    is_wanted = {"gain": (True,), "loss": (False,), "any": (True, False), None: ()}[args.fail_on]
    return EXIT_MISMATCH if any(change.gained in is_wanted for change in changes) else 0


def _changes(args: argparse.Namespace) -> tuple[Sequence[AccessChange], str]:
    live = None
    if len(args.files) == 2 and not args.bootstrap_server:
        old_files, new_files = args.files[:1], args.files[1:]
    elif bootstrap_or_default(args):
        old_files, new_files, live = [], args.files, live_acls(args)
    else:
        raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
    release = chosen_release(args, live)
    old = live.acls if live is not None else read_files(old_files, release)
    new = read_files(new_files, release)
    sides = [authorizer_of(args, acls, release) for acls in (old, new)]
    try:
        return access_changes(sides[0], sides[1], release), release
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {release}: {error}") from error


def _uses(trace: Path, changes: Sequence[AccessChange]) -> dict[AccessChange, int]:
    """Return how often the trace used each lost access."""
    losses = [change for change in changes if not change.gained]
    found: dict[AccessChange, int] = {}
    for (actor, action), count in uses(trace).items():
        for change in losses:
            if change.affects_access(actor, action):
                found[change] = found.get(change, 0) + count
    return found


def _object(
    changes: Sequence[AccessChange], release: str, used: dict[AccessChange, int] | None
) -> dict[str, Any]:
    objects = [change_object(change) for change in changes]
    if used is not None:
        for change, found in zip(changes, objects, strict=True):
            found["used"] = used.get(change, 0)
    return {"release": release, "changes": objects}
