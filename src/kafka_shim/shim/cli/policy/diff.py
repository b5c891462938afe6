"""`kafka-shim policy diff`: which access each principal gains and loses, over all names."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.policy.access_changes import AccessChange, access_changes
from kafka_shim.authorizer.policy.checked_accesses import InexactReleaseError
from kafka_shim.shim.cli import EXIT_MISMATCH
from kafka_shim.shim.cli.policy.acl_files import read_accepted_acls
from kafka_shim.shim.cli.policy.authorizer_options import (
    add_authorizer_arguments,
    add_cluster_arguments,
    authorizer_with_options,
    read_cluster_acls,
    release_of_options_or_cluster,
    set_default_bootstrap_server,
)
from kafka_shim.shim.cli.policy.descriptions import (
    access_change_object,
    access_change_text,
    without_implied_changes,
)
from kafka_shim.shim.cli.policy.used_access import count_allowed_accesses_in_trace
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
    add_cluster_arguments(parser)
    add_authorizer_arguments(parser)


def run(args: argparse.Namespace) -> int:
    changes, release = _access_changes_and_release(args)
    use_counts = _uses_of_lost_access(args.used_by, changes) if args.used_by else None
    if args.json:
        print(
            json.dumps(_changes_object(changes, release, use_counts), indent=2, ensure_ascii=False)
        )
    else:
        for change in without_implied_changes(changes):
            count = use_counts.get(change, 0) if use_counts is not None else 0
            print(access_change_text(change) + (USED.format(count=count) if count else ""))
        if not changes:
            print("no difference: both sets decide every access alike")
    is_wanted = {"gain": (True,), "loss": (False,), "any": (True, False), None: ()}[args.fail_on]
    return EXIT_MISMATCH if any(change.gained in is_wanted for change in changes) else 0


def _access_changes_and_release(args: argparse.Namespace) -> tuple[Sequence[AccessChange], str]:
    cluster_acls = None
    if len(args.files) == 2 and not args.bootstrap_server:
        old_files, new_files = args.files[:1], args.files[1:]
    elif set_default_bootstrap_server(args):
        old_files, new_files, cluster_acls = [], args.files, read_cluster_acls(args)
    else:
        raise UsageError("give two files (OLD and NEW), or one file and --bootstrap-server")
    release = release_of_options_or_cluster(args, cluster_acls)
    old = cluster_acls.acls if cluster_acls is not None else read_accepted_acls(old_files, release)
    new = read_accepted_acls(new_files, release)
    sides = [authorizer_with_options(args, acls, release) for acls in (old, new)]
    try:
        return access_changes(sides[0], sides[1], release), release
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {release}: {error}") from error


def _uses_of_lost_access(trace: Path, changes: Sequence[AccessChange]) -> dict[AccessChange, int]:
    """Return how often the trace used each lost access."""
    losses = [change for change in changes if not change.gained]
    use_counts: dict[AccessChange, int] = {}
    for (actor, action), count in count_allowed_accesses_in_trace(trace).items():
        for change in losses:
            if change.affects_access(actor, action):
                use_counts[change] = use_counts.get(change, 0) + count
    return use_counts


def _changes_object(
    changes: Sequence[AccessChange], release: str, use_counts: dict[AccessChange, int] | None
) -> dict[str, Any]:
    objects = [access_change_object(change) for change in changes]
    if use_counts is not None:
        for change, change_row in zip(changes, objects, strict=True):
            change_row["used"] = use_counts.get(change, 0)
    return {"release": release, "changes": objects}
