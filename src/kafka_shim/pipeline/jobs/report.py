"""`report`: the results of the main jobs on one HTML page with charts."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.input_verdict import add_min_period_option
from kafka_shim.pipeline.intervals import interval_for_observation
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.summary import summary_notes

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput


def _add_options_of_optional_jobs(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--acls",
        metavar="FILE",
        help=f"The ACLs in force: also run unused-acls with them; {ACL_FORMATS}",
    )
    job.add_argument(
        "--candidate",
        metavar="FILE",
        help="New ACLs: also run what-breaks with them, compared with those of --acls if given",
    )
    job.add_argument(
        "--from-release",
        dest="present",
        metavar="RELEASE",
        help="With --to-release: also run readiness, from this release",
    )
    job.add_argument(
        "--to-release",
        dest="target",
        metavar="RELEASE",
        help="With --from-release: release to upgrade to",
    )
    add_min_period_option(job)


def _check_output_format(args: argparse.Namespace) -> None:
    if args.csv or args.parquet:
        raise PipelineError(
            "report has several tables, so --csv and --parquet do not work;"
            " use --html FILE or --json"
        )


def _run_parts(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    head = trace_input.cached_observation(args).totals_and_settings
    parts = [
        import_job(part.job).run(part, trace_input)
        for part in _jobs_of_report(args, interval_for_observation(head))
    ]
    return Outcome("report", [], [], [], head, summary_notes(parts, head), parts=parts)


def _jobs_of_report(args: argparse.Namespace, interval: str) -> list[argparse.Namespace]:
    """Return the jobs of the report, the most important first; some need --acls, or releases."""
    jobs: dict[str, dict[str, object]] = {}
    if args.candidate:
        jobs["what-breaks"] = {"acls": args.candidate, "baseline": args.acls}
    jobs["denials"] = {"interval": None}
    if args.acls:
        jobs["unused-acls"] = {}
    jobs["least-acls"] = {"over_grant": None, "against": None, "format": None}
    if args.present and args.target:
        jobs["readiness"] = {"acls": None}
    jobs |= {"timeline": {"interval": interval}, "clients": {}, "damage": {}}
    given = vars(args) | {
        "engine": None,
        "fail_on": None,
        "parquet": None,
    }
    return [argparse.Namespace(**(given | options | {"job": job})) for job, options in jobs.items()]


JOB = Job(
    "Run the main jobs and write one HTML page with charts",
    _add_options_of_optional_jobs,
    _run_parts,
    check=_check_output_format,
)
