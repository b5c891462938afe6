"""`watch`: report denials as they are recorded, by the present ACLs or by other ones."""

import argparse
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import ACL_FORMATS, add_every
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source


def _add_options(job: argparse.ArgumentParser) -> None:
    text = "report what these ACLs would newly deny (default: report recorded denials)"
    job.add_argument("--acls", metavar="FILE", help=f"{text}; {ACL_FORMATS}")
    text = "begin with existing entries (default: report only new ones)"
    job.add_argument("--from-start", action="store_true", help=text)
    job.add_argument("--once", action="store_true", help="stop after the existing entries")
    job.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_every(job, "2 seconds")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.acls.acl_set import read_acls
    from kafka_shim.pipeline.jobs.watch import Watcher, watch, watch_line

    options = source.options
    acls = None if args.acls is None else read_acls(args.acls)
    watcher = Watcher(acls, options["release"], args.super_user, lists=args.lists)
    told = 0

    def tell(rows: list[dict[str, Any]]) -> None:
        nonlocal told
        told += len(rows)
        for row in rows:
            print(watch_line(row, as_json=args.json), flush=True)

    if not (args.from_start or args.once):
        options = options | {"startingOffsets": "latest"}
    watch(source.spark, args.trace, options, watcher, tell, None if args.once else args.every)
    return Outcome("watch", [], [], [], {"told": told}, [], text="")


COMMAND = Command(
    "report denials as they are recorded, or what other ACLs would deny",
    _add_options,
    _run,
    is_stream=True,
)
