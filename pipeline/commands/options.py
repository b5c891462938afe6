"""Options that all jobs have, or several of them; they need neither Spark nor Arrow."""

import argparse
from pathlib import Path

from kafka_shim.authorizer.acl_formats import FORMATS
from kafka_shim.pipeline.commands.chain import Then
from kafka_shim.pipeline.errors import PipelineError

TABLE_FORMATS = ("parquet", "delta")
ACL_FORMATS = f"in one of the forms {', '.join(FORMATS)}"


def place(text: str) -> str:
    """A path as every process of a cluster has to know it, whatever folder it runs in."""
    return text if "://" in text else str(Path(text).absolute())


def add_common(job: argparse.ArgumentParser) -> None:
    """Add what every job reads: the traces, and which part of them."""
    job.add_argument(
        "trace", nargs="+", type=place, help="folders of traces, single segments, or a lake"
    )
    job.add_argument("--since", metavar="TIME", help="only from this time on (ISO, UTC)")
    job.add_argument("--until", metavar="TIME", help="only before this time")
    job.add_argument("--apis", metavar="API,...", help="only these APIs, by Kafka's names")
    job.add_argument(
        "--lists",
        action="store_true",
        help="include names that only appear in lists (all topics, all groups)",
    )
    job.add_argument("--kafka-version", metavar="RELEASE", help="Kafka release whose rules decide")
    job.add_argument(
        "--super-user",
        action="append",
        metavar="User:x",
        help="super user (repeatable; default: those that the trace shows)",
    )
    where = job.add_mutually_exclusive_group()
    where.add_argument("--master", help="Spark's master (default: all cores of this machine)")
    where.add_argument("--remote", metavar="sc://HOST:PORT", help="a Spark Connect server")
    job.add_argument(
        "--then",
        action=Then,
        help="another job with its options, run after this one in the same Spark session",
    )


def _table_format(text: str) -> str:
    """Iceberg is the one that people look for."""
    if text.lower() == "iceberg":
        raise argparse.ArgumentTypeError(
            "iceberg is not supported: it has no runtime for Spark 4.2, which the jobs need;"
            f" expected {', '.join(TABLE_FORMATS)}"
        )
    return text


def add_forms(job: argparse.ArgumentParser) -> None:
    """Add the forms of output that every job has but the streams."""
    form = job.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--csv", action="store_true", help="comma-separated values")
    form.add_argument(
        *("--table", "--parquet"),
        dest="parquet",
        metavar="FOLDER",
        type=place,
        help="write the rows to this folder",
    )
    job.add_argument(
        "--table-format",
        type=_table_format,
        choices=TABLE_FORMATS,
        default=TABLE_FORMATS[0],
        help="format of --table (default: parquet; delta requires the package delta-spark)",
    )
    job.add_argument("--html", metavar="FILE", help="write an HTML page with charts")


def add_every(job: argparse.ArgumentParser, default: str) -> None:
    """Add how often a stream looks for more."""
    text = f"how often to look (default: {default})"
    job.add_argument("--every", default=default, metavar="TIME", help=text)
    job.set_defaults(csv=False, parquet=None, html=None, table_format=TABLE_FORMATS[0])


def add_fail(job: argparse.ArgumentParser) -> None:
    """Add the exit code for findings."""
    job.add_argument("--fail", action="store_true", help="exit code 3 if anything is found")


def add_present_acls(job: argparse.ArgumentParser) -> None:
    """Add where today's ACLs are: in a file, or on a broker that `kafka-shim` asks."""
    job.add_argument(
        "--acls", metavar="FILE", help=f"today's ACLs, for whole remedies: {ACL_FORMATS}"
    )
    job.add_argument("--bootstrap-server", metavar="HOST:PORT,...", help="the broker that has them")
    job.add_argument("--command-config", metavar="FILE", help="client properties for that broker")


def check_present_acls(args: argparse.Namespace) -> None:
    """Refuse a broker where nobody has asked it."""
    if args.bootstrap_server:
        raise PipelineError("--bootstrap-server works with `kafka-shim pipeline` only; use --acls")


def no_options(_: argparse.ArgumentParser) -> None:
    """Add nothing: the job has the common options only."""
