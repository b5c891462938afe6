"""`report`: the results of the main jobs on one HTML page with charts."""

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.input_verdict import add_min_period_option
from kafka_shim.pipeline.intervals import interval_for_observation
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    damage_notes,
    left_out_notes,
    observation_note,
)


def summary_notes(parts: Iterable[Outcome], totals: dict[str, Any]) -> list[str]:
    """Return a line for each question that a report answers, and what its answers depend on."""
    by_job = {part.job: part for part in parts}
    return [
        _breaks_note(by_job.get("what-breaks")),
        _denied_note(by_job["denials"]),
        _unused_note(by_job.get("unused-acls")),
        f"Based on {observation_note(totals)}.",
        *left_out_notes(totals),
        *damage_notes(totals),
    ]


def _breaks_note(what_breaks: Outcome | None) -> str:
    if what_breaks is None:
        return "What breaks: not examined; --candidate FILE compares new ACLs with the accesses."
    totals = what_breaks.totals
    return (
        "What breaks:"
        f" {_plural(totals['newly_denied'], 'different access', 'different accesses')} would newly"
        f" be denied, and {_plural(totals['requests_newly_failing'], 'request', 'requests')} newly"
        f" fail, with the ACLs of --candidate{_incompleteness(what_breaks)}."
    )


def _denied_note(denials: Outcome) -> str:
    accesses = sum(row["requests"] for row in denials.rows)
    principals = {row["principal"] for row in denials.rows}
    if not accesses:
        return "Denied: nothing."
    return (
        f"Denied: {_plural(accesses, 'access', 'accesses')} of"
        f" {_plural(len(principals), 'principal', 'principals')}"
        f" ({len(denials.rows)} different)."
    )


def _unused_note(unused_acls: Outcome | None) -> str:
    if unused_acls is None:
        return "Unused ACLs: not examined; --acls FILE says which ACLs are in force."
    removable, unknown = (
        sum(1 for row in unused_acls.rows if row[name]) for name in ("can_go", "not_known")
    )
    text = f"Unused ACLs: {removable} of {len(unused_acls.rows)} can be removed"
    if unknown:
        text += f"; of {unknown} others it is not known whether they are needed"
    return f"{text}{_incompleteness(unused_acls)}."


def _incompleteness(part: Outcome) -> str:
    """Return what a summary has to say about a part whose input is incomplete."""
    return "; unproven, since the input is incomplete" if part.totals["incomplete_input"] else ""


def _plural(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


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
