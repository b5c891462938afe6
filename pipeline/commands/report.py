"""`report`: the jobs together as one HTML page with plots."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands import command_of
from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import ACL_FORMATS, TABLE_FORMATS
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.intervals import observed_interval
from kafka_shim.pipeline.report.outcome import Outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Source


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument("--acls", metavar="FILE", help=f"judge these ACLs as well: {ACL_FORMATS}")
    job.add_argument("--from", dest="present", metavar="RELEASE", help="readiness: the present one")
    job.add_argument("--to", dest="target", metavar="RELEASE", help="and the one to come")


def _check(args: argparse.Namespace) -> None:
    if args.csv or args.parquet:
        raise PipelineError("a report has many tables; use --html FILE or --json")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    head = source.observation(args).head
    parts = [
        command_of(part.job).run(part, source) for part in _parts(args, observed_interval(head))
    ]
    return Outcome("report", [], [], [], head, [], parts=parts)


def _parts(args: argparse.Namespace, interval: str) -> list[argparse.Namespace]:
    """The jobs of a report, each with its options: as many as there is something to compare."""
    jobs: dict[str, dict[str, object]] = {
        "timeline": {"interval": interval},
        "clients": {},
        "denials": {"interval": None, "acls": None},
        "least-acls": {"over_grant": None, "against": None, "to": None},
        "damage": {},
    }
    if args.acls:
        jobs |= {"what-breaks": {"baseline": None}, "unused-acls": {}}
    if args.present and args.target:
        jobs |= {"readiness": {"acls": None}}
    given = vars(args) | {"fail": False, "parquet": None, "table_format": TABLE_FORMATS[0]}
    return [argparse.Namespace(**(given | options | {"job": job})) for job, options in jobs.items()]


COMMAND = Command("the jobs together as one HTML page with plots", _add_options, _run, check=_check)
