"""`kafka-shim policy apply`: carry out a saved plan exactly as it was reviewed."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from kafka_shim.cli.connection_options import connect_with_options
from kafka_shim.cli.policy_options import (
    add_cluster_arguments,
    read_cluster_policy,
    set_default_bootstrap_server,
)
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.usage import UsageError
from kafka_shim.client.acls import send_acl_changes
from kafka_shim.client.client import ClientError
from kafka_shim.policy.plan_file import (
    SavedPlan,
    acls_sha256,
    plan_object,
    read_plan,
    write_plan,
)
from kafka_shim.text.message_text import count_with_noun

DESCRIPTION = """\
Carry out a plan that `policy plan --out` saved: exactly its requests, in their order. The cluster
must have the ACLs from which the plan starts. If these ACLs have changed, nothing is done. If a run
was interrupted, the same command continues after the last request. Next to the plan, a file that
ends in .undo.json has the plan that undoes the changes.

  kafka-shim policy apply plan.json --bootstrap-server 127.0.0.1:9092
  kafka-shim policy apply plan.undo.json --bootstrap-server 127.0.0.1:9092

Exit codes: 0 done, 3 the cluster has other ACLs than the plan expects, 2 usage error, 1 the broker
failed or the run was interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("plan", metavar="PLAN", help="File of `policy plan --out`")
    parser.add_argument(
        "--accept-interim-changes",
        action="store_true",
        help="Apply a plan although access is lost or opened between its requests",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="Only check whether the plan can be applied"
    )
    add_cluster_arguments(parser)


def run(args: argparse.Namespace) -> int:
    plan = read_plan(args.plan)
    if not set_default_bootstrap_server(args):
        raise UsageError("a plan is applied to a cluster: add --bootstrap-server HOST:PORT")
    if plan.interim_texts and not args.accept_interim_changes:
        print("\n".join(plan.interim_texts))
        raise UsageError(
            "access changes between the requests of this plan; to apply it anyway, add"
            " --accept-interim-changes"
        )
    with _hold_lock_file(Path(f"{args.plan}.lock")):
        position = plan.position(read_cluster_policy(args).acls)
        if position is None:
            print("the cluster has other ACLs than the plan starts from; make a new plan")
            return EXIT_MISMATCH
        total = len(plan.requests)
        if position.done == total:
            print("nothing to do: the cluster has the ACLs of the plan")
            return 0
        if position.done or position.is_within_request:
            print(f"going on after request {position.done} of {total}")
        if args.dry_run:
            print(f"can be applied: {count_with_noun(total - position.done, 'request')}")
            return 0
        write_plan(_undo_path(args.plan), plan_object(plan.inverse()))
        return _send_remaining_requests(args, plan, position.done)


def _undo_path(path: str) -> Path:
    return Path(path).with_suffix(".undo.json")


def _send_remaining_requests(args: argparse.Namespace, plan: SavedPlan, done: int) -> int:
    total = len(plan.requests)
    advice = f"run the command again to go on, or apply {_undo_path(args.plan)} to undo"
    try:
        with connect_with_options(args) as client, ProgressBar("applying", total) as progress:
            for request in plan.requests[done:]:
                send_acl_changes(client, request)
                done += 1
                progress(done)
    except ClientError as error:
        raise ClientError(f"{error}; {done} of {total} requests are done: {advice}") from error
    except KeyboardInterrupt:
        print(f"stopped after request {done} of {total}; {advice}", file=sys.stderr)
        return EXIT_FAILURE
    acls = read_cluster_policy(args).acls
    if acls_sha256(acls) != plan.new_sha256:
        print("all requests are done, but the cluster has other ACLs: somebody else changed them")
        return EXIT_MISMATCH
    steps = sum(map(len, plan.requests))
    print(f"done: {count_with_noun(steps, 'step')} in {count_with_noun(total, 'request')}")
    return 0


@contextmanager
def _hold_lock_file(path: Path) -> Iterator[None]:
    """Hold a lock file. Raise UsageError if another run has it."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        raise UsageError(
            f"{path} exists: another run applies this plan; if none does, remove the file"
        ) from None
    try:
        os.write(descriptor, f"{os.getpid()}\n".encode())
        os.close(descriptor)
        yield
    finally:
        path.unlink(missing_ok=True)
