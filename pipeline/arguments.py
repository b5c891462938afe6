"""The options of `kafka-shim pipeline`, which need neither Spark nor Arrow."""

import argparse

from pipeline.acl_lines import FORMATS

JOBS = {
    "ingest": "traces into Parquet tables; the next run reads only what is new",
    "what-breaks": "what a candidate ACL set would deny and allow that is not so today",
    "unused-acls": "ACLs that nobody needs, and the lines to remove them",
    "least-acls": "the smallest ACL set that allows what was observed",
    "denials": "who was denied what, since when, and what would allow it",
    "readiness": "clients that an upgrade would break, and rules that change with it",
    "diff": "two traces of the same workload: privileges and answers that differ",
    "timeline": "rates, errors and latencies over time, by principal and API",
}
_ACLS = "YAML, JSON or the output of kafka-acls --list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name, summary in JOBS.items():
        job = jobs.add_parser(name, help=summary, description=summary)
        _common(job)
        if name in ("what-breaks", "unused-acls"):
            what = "the candidate ACLs" if name == "what-breaks" else "the ACLs in force"
            job.add_argument("--acls", required=True, metavar="FILE", help=f"{what}: {_ACLS}")
        if name == "what-breaks":
            _what_breaks(job)
        if name == "least-acls":
            _least_acls(job)
        if name == "ingest":
            job.add_argument("-o", "--output", required=True, metavar="LAKE", help="the folder")
        if name in ("readiness", "diff", "timeline"):
            _report(job, name)


def _report(job: argparse.ArgumentParser, name: str) -> None:
    if name == "readiness":
        job.add_argument("--from", dest="present", required=True, metavar="RELEASE")
        job.add_argument("--to", dest="target", required=True, metavar="RELEASE")
    if name == "diff":
        job.add_argument(
            "--with", dest="other", required=True, metavar="TRACE", help="the second trace"
        )
    if name == "timeline":
        job.add_argument("--interval", default="1 minute", help="as in Spark: `10 seconds`")
    else:
        job.add_argument("--fail", action="store_true", help="exit code 3 if anything is found")


def _common(job: argparse.ArgumentParser) -> None:
    job.add_argument("trace", nargs="+", help="folders of traces, single segments, or a lake")
    job.add_argument("--since", metavar="TIME", help="only from this time on (ISO, UTC)")
    job.add_argument("--until", metavar="TIME", help="only before this time")
    job.add_argument("--apis", metavar="API,...", help="only these APIs, by Kafka's names")
    job.add_argument(
        "--lists",
        action="store_true",
        help="also names that a list would show or leave out (all topics, all groups)",
    )
    job.add_argument("--kafka-version", metavar="RELEASE", help="decide as this release does")
    job.add_argument(
        "--super-user",
        action="append",
        metavar="User:x",
        help="a super user (repeatable; default: those seen as such in the trace)",
    )
    job.add_argument("--master", help="Spark's master (default: all cores of this machine)")
    form = job.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--csv", action="store_true", help="comma-separated values")
    form.add_argument("--parquet", metavar="FOLDER", help="write the rows there")


def _what_breaks(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--baseline", metavar="FILE", help="compare with these ACLs and not with what happened"
    )
    job.add_argument(
        "--fail", action="store_true", help="exit code 3 if something would be newly denied"
    )


def _least_acls(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--over-grant",
        type=int,
        metavar="N",
        help="join names under prefixes that allow each principal at most N known names that it"
        " never used (default: no prefixes)",
    )
    job.add_argument("--against", metavar="FILE", help=f"show what to add and remove: {_ACLS}")
    job.add_argument("--format", choices=FORMATS, help="print the ACLs alone, in this form")
