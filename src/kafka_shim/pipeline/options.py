"""Options of all or several jobs; this module imports neither Spark nor Arrow."""

import argparse
from pathlib import Path

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.policy.formats import FORMATS

DUCKDB, SPARK = ENGINES = ("duckdb", "spark")
ACL_FORMATS = f"formats: {', '.join(FORMATS)}"


def absolute_location(text: str) -> str:
    """Return an absolute path, since the processes of a cluster run in other folders."""
    return text if "://" in text else str(Path(text).absolute())


TRACE_OR_LAKE = "folder of a trace, one segment, or a lake that `pipeline ingest` wrote"


def add_trace_paths(job: argparse.ArgumentParser, *, is_stream: bool = False) -> None:
    """Add the traces to read; a stream reads no lakes."""
    text = "Folder of a trace, or one segment" if is_stream else TRACE_OR_LAKE.capitalize()
    job.add_argument("trace", nargs="+", metavar="TRACE", type=absolute_location, help=text)


def add_compared_trace_paths(job: argparse.ArgumentParser) -> None:
    """Add BEFORE, as the only item of `trace`, and AFTER, as `compared`."""
    job.add_argument(
        "trace",
        nargs=1,
        metavar="BEFORE",
        type=absolute_location,
        help=f"First trace: {TRACE_OR_LAKE}",
    )
    job.add_argument(
        "compared", metavar="AFTER", type=absolute_location, help="Second trace, of any kind"
    )


def add_selection_options(job: argparse.ArgumentParser) -> None:
    """Add the options that select the entries of traces, and the rules."""
    selection = job.add_argument_group("Selection")
    selection.add_argument(
        "--since",
        metavar="TIME",
        help="Only from this time on, such as 2026-11-01 or 2026-11-01T12:00:00 (UTC)",
    )
    selection.add_argument("--until", metavar="TIME", help="Only before this time (UTC)")
    selection.add_argument(
        "--apis", metavar="API,...", help="Only these APIs, such as Fetch,Produce"
    )
    selection.add_argument(
        "--principal",
        action="append",
        metavar="User:x",
        help="Only requests of this principal (repeatable)",
    )
    selection.add_argument(
        "--lists",
        action="store_true",
        help="Also count accesses that, if denied, only leave a name or a field out of a response"
        " (all topics, all groups)",
    )
    rules = job.add_argument_group("Rules")
    rules.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release whose rules decide (default: that of the recorded broker, else the"
        " newest)",
    )
    rules.add_argument(
        "--super-user",
        action="append",
        metavar="User:x",
        help="Treat this principal as a super user (repeatable; default: those that the trace"
        " shows)",
    )


def add_engine_option(job: argparse.ArgumentParser) -> None:
    """Add --engine."""
    job.add_argument(
        "--engine",
        choices=ENGINES,
        help="Run in this process, without Java, or on Spark, for any size (default: duckdb for"
        " traces and lakes of up to 1 GiB)",
    )


def add_spark_options(job: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add --master and --remote; return their group, for further options."""
    group = job.add_argument_group("Spark")
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--master",
        metavar="URL",
        help="Spark master (default: local[*], all cores of this machine)",
    )
    where.add_argument(
        "--remote", metavar="sc://HOST:PORT", help="Run on this Spark Connect server"
    )
    group.add_argument(
        "--conf",
        action="append",
        default=[],
        type=_parse_spark_setting,
        metavar="KEY=VALUE",
        help="Spark setting, such as spark.ui.enabled=true, which also prints the address of"
        " Spark's UI (repeatable; the first job's count)",
    )
    return group


def _parse_spark_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key.startswith("spark.") and equals):
        raise argparse.ArgumentTypeError(f"invalid setting `{text}`; expected spark.KEY=VALUE")
    return key, value


def add_output_options(job: argparse.ArgumentParser) -> None:
    """Add the output formats of all jobs that are not streams."""
    output = job.add_argument_group("Output")
    form = output.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="Print one JSON object")
    form.add_argument("--csv", action="store_true", help="Print comma-separated values")
    form.add_argument(
        "--parquet",
        metavar="FOLDER",
        type=absolute_location,
        help="Write the rows as Parquet files to this folder",
    )
    output.add_argument("--html", metavar="FILE", help="Write an HTML page with charts")


def add_stream_options(job: argparse.ArgumentParser, default: str) -> None:
    """Add --every, the interval at which a stream reads."""
    text = f"Interval between two reads of the traces (default: {default})"
    job.add_argument("--every", default=default, metavar="TIME", help=text)
    job.set_defaults(csv=False, parquet=None, html=None)


def add_fail_option(job: argparse.ArgumentParser) -> None:
    """Add --fail-on for a job each of whose findings counts the same."""
    job.add_argument("--fail-on", choices=("any",), help="Exit with code 3 if anything is found")


def add_present_acl_options(job: argparse.ArgumentParser, purpose: str) -> None:
    """Add the options for the present ACLs: a file, or a broker that
    `kafka-shim pipeline` reads.
    """
    job.add_argument("--acls", metavar="FILE", help=f"Today's ACLs, {purpose} ({ACL_FORMATS})")
    job.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help="Read today's ACLs from this broker instead",
    )
    job.add_argument("--command-config", metavar="FILE", help="Client properties for that broker")


def check_no_bootstrap_server(args: argparse.Namespace) -> None:
    """Raise PipelineError for --bootstrap-server if this program cannot read a broker's ACLs."""
    if args.bootstrap_server:
        raise PipelineError("--bootstrap-server works with `kafka-shim pipeline` only; use --acls")


def add_no_options(_: argparse.ArgumentParser) -> None:
    """Add nothing: the job has the common options only."""
