"""The options of `kafka-shim pipeline`, which need neither Spark nor Arrow."""

import argparse
from pathlib import Path

from authorizer.acl_formats import FORMATS

JOBS = {
    "ingest": "traces into Parquet tables; the next run reads only what is new",
    "what-breaks": "what a candidate ACL set would deny and allow that is not so today",
    "unused-acls": "ACLs that nobody needs, and the lines to remove them",
    "least-acls": "the smallest ACL set that allows what was observed",
    "denials": "who was denied what, since when, and what would allow it",
    "clients": "client software, and the versions of each API that it sends",
    "readiness": "clients that an upgrade would break, and rules that change with it",
    "diff": "two traces of the same workload: privileges and answers that differ",
    "timeline": "rates, errors and latencies over time, by principal, client and API",
    "watch": "what is denied, or would be by other ACLs, told while it happens",
    "damage": "what could not be read of a trace, and why",
    "report": "the jobs together as one HTML page with plots",
}
_ACLS = f"in one of the forms {', '.join(FORMATS)}"


def place(text: str) -> str:
    """A path as every process of a cluster has to know it, whatever folder it runs in."""
    return text if "://" in text else str(Path(text).absolute())


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name, summary in JOBS.items():
        job = jobs.add_parser(name, help=summary, description=summary)
        _common(job)
        for names, add in _OPTIONS:
            if name in names:
                add(job)


def _ingest(job: argparse.ArgumentParser) -> None:
    job.add_argument("-o", "--output", required=True, metavar="LAKE", type=place, help="the folder")
    job.add_argument("--json", action="store_true", help="one JSON object")
    job.add_argument("--follow", action="store_true", help="go on until interrupted")
    _every(job, "1 minute")


def _watch(job: argparse.ArgumentParser) -> None:
    text = "tell what these would newly deny (default: what is denied now)"
    job.add_argument("--acls", metavar="FILE", help=f"{text}: {_ACLS}")
    text = "begin with what was recorded already (default: what comes now)"
    job.add_argument("--from-start", action="store_true", help=text)
    job.add_argument("--once", action="store_true", help="end when all that is there was told")
    job.add_argument("--json", action="store_true", help="one JSON object a line")
    _every(job, "2 seconds")


def _every(job: argparse.ArgumentParser, default: str) -> None:
    text = f"how often to look (default: {default})"
    job.add_argument("--every", default=default, metavar="TIME", help=text)
    job.set_defaults(csv=False, parquet=None, html=None)


def _candidate(job: argparse.ArgumentParser) -> None:
    job.add_argument("--acls", required=True, metavar="FILE", help=f"the candidate ACLs: {_ACLS}")


def _present(job: argparse.ArgumentParser) -> None:
    job.add_argument("--acls", required=True, metavar="FILE", help=f"the ACLs in force: {_ACLS}")


def _upgrade(job: argparse.ArgumentParser) -> None:
    job.add_argument("--from", dest="present", required=True, metavar="RELEASE")
    job.add_argument("--to", dest="target", required=True, metavar="RELEASE")


def _report(job: argparse.ArgumentParser) -> None:
    job.add_argument("--acls", metavar="FILE", help=f"judge these ACLs as well: {_ACLS}")
    job.add_argument("--from", dest="present", metavar="RELEASE", help="readiness: the present one")
    job.add_argument("--to", dest="target", metavar="RELEASE", help="and the one to come")


def _diff(job: argparse.ArgumentParser) -> None:
    text = "the second trace"
    job.add_argument("--with", dest="other", required=True, metavar="TRACE", type=place, help=text)


def _timeline(job: argparse.ArgumentParser) -> None:
    job.add_argument("--interval", default="1 minute", help="such as `10 seconds`")


def _denials(job: argparse.ArgumentParser) -> None:
    text = "how often in each interval, such as `1 hour`, rather than in all"
    job.add_argument("--interval", help=text)


def _fail(job: argparse.ArgumentParser) -> None:
    job.add_argument("--fail", action="store_true", help="exit code 3 if anything is found")


def _common(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "trace", nargs="+", type=place, help="folders of traces, single segments, or a lake"
    )
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


def _forms(job: argparse.ArgumentParser) -> None:
    form = job.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--csv", action="store_true", help="comma-separated values")
    form.add_argument("--parquet", metavar="FOLDER", type=place, help="write the rows there")
    job.add_argument("--html", metavar="FILE", help="a page with plots, for any browser")


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
        type=_count,
        metavar="N",
        help="join names under prefixes that allow each principal at most N known names that it"
        " never used (default: no prefixes)",
    )
    job.add_argument("--against", metavar="FILE", help=f"show what to add and remove: {_ACLS}")
    job.add_argument("--to", choices=FORMATS, help="print the ACLs alone, in this form")


_OPTIONS = (
    (tuple(name for name in JOBS if name not in ("ingest", "watch")), _forms),
    (("watch",), _watch),
    (("ingest",), _ingest),
    (("what-breaks",), _candidate),
    (("what-breaks",), _what_breaks),
    (("unused-acls",), _present),
    (("least-acls",), _least_acls),
    (("denials",), _denials),
    (("readiness",), _upgrade),
    (("diff",), _diff),
    (("timeline",), _timeline),
    (("report",), _report),
    (("readiness", "diff", "damage"), _fail),
)
"""Which jobs have which options, besides those of all."""
