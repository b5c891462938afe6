"""Check the options of jobs before Spark is started."""

import argparse
import json
import socket
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kafka_shim.pipeline.acl_change_files import CHANGE, CHANGE_FILES
from kafka_shim.pipeline.acls.acl_set import read_distinct_acls_from_file
from kafka_shim.pipeline.engines.engine import PARQUET, PARQUET_NAMES
from kafka_shim.pipeline.errors import InvalidOptionOrFileError, PipelineError
from kafka_shim.pipeline.intervals import parse_interval_seconds
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.rows.batches import plan_splits
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.rows.trace_release import releases_of_segments
from kafka_shim.pipeline.selection_options import (
    check_principal,
    selection_from_options,
    validated_release,
)
from kafka_shim.pipeline.spark.lake import LAKE
from kafka_shim.pipeline.trace_input import lake_at_paths
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.text.html_page import page_start_pattern
from kafka_shim.text.output_paths import check_output_file, mark_output_folder
from kafka_shim.trace_format.blocks import BlockHeader
from kafka_shim.trace_format.foreign_files import describe_missing_segments, first_import_hint
from kafka_shim.trace_format.segments import (
    SUFFIX,
    contains_block,
    read_segment,
    segment_paths,
)

CONNECT_PORT = 15002
"""Port of a Spark Connect server whose address has none."""
PATIENCE_S = 10
_OUTPUT_FOLDERS = {
    "out": (LAKE, ("*",)),
    "parquet": (PARQUET, PARQUET_NAMES),
    "pull_request": (CHANGE, CHANGE_FILES),
    "checkpoint": ("watch", ("*",)),
}
"""The kind of output and its files, by the option that names the folder."""
_ACLS_HINT = "; for files of ACLs, see `kafka-shim policy --help`"


class CheckedJob(msgspec.Struct):
    """A job whose options have been checked."""

    args: argparse.Namespace
    job: Job
    reader_options: dict[str, str]


def check_job(args: argparse.Namespace) -> CheckedJob:
    """Check the options of a job. Raise InvalidOptionOrFileError for invalid ones."""
    job = import_job(args.job)
    try:
        options = validated_reader_options(args, job)
    except PipelineError as error:
        raise InvalidOptionOrFileError(str(error)) from error
    check_spark_connect_server(args)
    return CheckedJob(args, job, options)


def validated_reader_options(args: argparse.Namespace, job: Job) -> dict[str, str]:
    """Return the options for reading traces. Raise PipelineError for an invalid one."""
    for option, users in (("--super-user", args.super_user), ("--principal", args.principal)):
        for user in users or ():
            check_principal(user, option)
    release = validated_release(args.kafka_version or _release_of_traces(args.trace))
    given = {"since": args.since, "until": args.until, "apis": args.apis, "release": release}
    given["principals"] = json.dumps(args.principal) if args.principal else None
    options = {name: value for name, value in given.items() if value}
    limits = selection_from_options(options)
    _check_remote_option(args, is_stream=job.is_stream)
    _check_input(args, is_stream=job.is_stream)
    _check_period_has_entries(args, limits, is_stream=job.is_stream)
    for name in ("present", "target"):
        if getattr(args, name, None):
            validated_release(getattr(args, name))
    for name in ("interval", "every", "min_period"):
        if getattr(args, name, None):
            parse_interval_seconds(getattr(args, name))
    for name in ("acls", "baseline", "against", "candidate"):
        if getattr(args, name, None):
            read_distinct_acls_from_file(getattr(args, name))
    job.check(args)
    _claim_outputs(args)
    return options


def _release_of_traces(paths: list[str]) -> str:
    """Return the release of the traces' broker, else the newest.

    Raise PipelineError if the traces are of several releases.
    """
    segments = [segment for path in paths for segment in segment_paths(Path(path))]
    releases = sorted(releases_of_segments(segments))
    if len(releases) > 1:
        raise PipelineError(
            f"the traces are of Kafka {' and '.join(releases)}; choose one with --kafka-version"
        )
    return releases[0] if releases else RELEASES[-1]


def _check_remote_option(args: argparse.Namespace, *, is_stream: bool) -> None:
    if args.remote is None:
        return
    if is_stream:
        raise PipelineError(f"{args.job} does not run on a Spark Connect server; remove --remote")
    found = urlsplit(args.remote)
    if found.scheme != "sc" or not found.hostname:
        raise PipelineError(f"--remote `{args.remote}`: expected sc://HOST:PORT")


def check_spark_connect_server(args: argparse.Namespace) -> None:
    """Raise PipelineError if nothing listens at --remote; Spark would retry for minutes."""
    if args.remote is None:
        return
    found = urlsplit(args.remote)
    try:
        socket.create_connection((found.hostname, found.port or CONNECT_PORT), PATIENCE_S).close()
    except OSError as error:
        problem = error.strerror or error
        raise PipelineError(f"--remote {args.remote}: cannot connect: {problem}") from error


def _check_input(args: argparse.Namespace, *, is_stream: bool) -> None:
    lake = lake_at_paths(args.trace)
    if lake is not None and is_stream:
        raise PipelineError(f"`{lake}` is a lake; {args.job} needs the folder of a trace")
    is_follower = args.job == "watch" or getattr(args, "follow", False)
    if is_follower:  # the first segment may not exist yet
        plan_splits(args.trace)
        return
    compared = [[args.compared]] if import_job(args.job).compares_two_traces else []
    for paths in (args.trace, *compared):
        if lake_at_paths(paths) is None:
            _check_trace_exists(paths, needs_complete_block=args.job != "damage")


def _check_trace_exists(paths: list[str], *, needs_complete_block: bool) -> None:
    """Raise PipelineError for paths without a readable trace."""
    found = list(dict.fromkeys(split.path for split in plan_splits(paths)))
    if not found:
        raise PipelineError(describe_missing_segments([Path(path) for path in paths]))
    if needs_complete_block and not any(contains_block(Path(path)) for path in found):
        if hint := first_import_hint([Path(path) for path in paths]):
            raise PipelineError(f"`{', '.join(paths)}` is not a trace{hint}")
        if not any(path.endswith(SUFFIX) for path in found):
            raise PipelineError(f"`{', '.join(paths)}` is not a trace{_ACLS_HINT}")
        raise PipelineError(
            f"`{', '.join(paths)}` contains no complete trace block;"
            " `kafka-shim pipeline damage` shows the reason"
        )


def _check_period_has_entries(
    args: argparse.Namespace, limits: Selection, *, is_stream: bool
) -> None:
    """Raise PipelineError if --since and --until select nothing of the traces."""
    if is_stream or not limits.has_time_limit or lake_at_paths(args.trace) is not None:
        return
    periods: list[tuple[int, int]] = []

    def note_period(header: BlockHeader) -> bool:
        if not header.is_index:
            periods.append((header.first_us, header.last_us))
        return False  # the content is not needed

    for path in dict.fromkeys(split.path for split in plan_splits(args.trace)):
        for _ in read_segment(Path(path), selects_block=note_period):
            pass
        if any(_period_overlaps_selection(period, limits) for period in periods):
            return
    if periods:
        first, last = (
            datetime.fromtimestamp(time_us / 1_000_000, UTC).isoformat(timespec="seconds")
            for time_us in (min(periods)[0], max(period[1] for period in periods))
        )
        options = " ".join(
            f"--{name} {getattr(args, name)}" for name in ("since", "until") if getattr(args, name)
        )
        raise PipelineError(
            f"{options}: nothing was recorded then; the trace has {first} to {last}"
        )


def _period_overlaps_selection(period: tuple[int, int], limits: Selection) -> bool:
    first_us, last_us = period
    is_before_end = limits.until_us is None or first_us < limits.until_us
    return is_before_end and (limits.since_us is None or last_us >= limits.since_us)


def _claim_outputs(args: argparse.Namespace) -> None:
    if getattr(args, "html", None) and not Path(args.html).absolute().parent.is_dir():
        raise PipelineError(f"--html {args.html}: the folder does not exist")
    if getattr(args, "html", None):
        try:
            check_output_file(Path(args.html), page_start_pattern("kafka-shim pipeline"))
        except OSError as error:
            raise PipelineError(f"--html {args.html}: {error.strerror}") from error
    for name, (kind, own_names) in _OUTPUT_FOLDERS.items():
        folder = getattr(args, name, None)
        if folder and "://" not in folder:  # only Spark can access a URL
            option = f"--{name.replace('_', '-')}"
            try:
                mark_output_folder(Path(folder), kind, own_names)
            except OSError as error:
                raise PipelineError(f"{option} {folder}: {error.strerror}") from error
