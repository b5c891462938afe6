"""`kafka-shim trace import`: make a trace of a broker's log or a capture."""

import argparse
import json
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.shim.config import PORT_MAX
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires
from kafka_shim.text.message_text import sanitize_message
from kafka_shim.trace_format.segments import SUFFIX

if TYPE_CHECKING:
    from kafka_shim.traces.captures.capture_import import CaptureReport
    from kafka_shim.traces.importers.log_files import LogSource
    from kafka_shim.traces.importers.log_import import ImportReport

FORMS = ("pcap", "request-log", "audit-log")
FORMS_HELP = """Format of the source. pcap: a network capture, pcap or pcapng;
requires the extra `capture`.
request-log: a broker's request log in JSON (KIP-673). audit-log: a broker's authorizer log
(decisions only)"""
UNREAD_MAX = 1.0
"""Percent of a log's entries."""


def add_import_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "sources",
        type=Path,
        nargs="+",
        metavar="SOURCE",
        help="Capture, or log files and folders, also compressed (gzip, zstd, bzip2, xz, tar);"
        " - is a log on standard input",
    )
    verb.add_argument("--input-format", required=True, choices=FORMS, help=FORMS_HELP)
    verb.add_argument(
        "--port",
        type=int,
        action="append",
        default=[],
        metavar="PORT",
        help="Port of Kafka in the capture (repeatable; default: detected from the traffic)",
    )
    verb.add_argument(
        "--time-zone",
        type=_parse_time_zone,
        metavar="ZONE",
        help="Zone of times without one, such as Europe/Berlin (default: UTC)",
    )
    verb.add_argument(
        "--max-unread",
        type=_parse_percent,
        default=UNREAD_MAX,
        metavar="PERCENT",
        help="Exit with code 3 if more of a log's entries could not be read (default: %(default)s)",
    )
    verb.add_argument("--json", action="store_true", help="Print the report as one JSON object")


def _parse_time_zone(text: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    try:
        if text[:1] in "+-":
            return datetime.strptime(text, "%z").tzinfo or UTC
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise argparse.ArgumentTypeError(
            f"unknown time zone `{text}`; expected one such as Europe/Berlin or +02:00"
        ) from None


def _parse_percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise argparse.ArgumentTypeError(f"`{text}`: expected a percentage from 0 to 100")
    return percent


def run_import(args: argparse.Namespace) -> int:
    """Import; report what was imported and what could not be read.

    Return 1 if nothing was imported, 3 if more than `--max-unread` of a log could not be read.
    """
    if args.port and args.input_format != "pcap":
        raise ConfigError("--port requires --input-format pcap")
    for port in args.port:
        if not 0 < port <= PORT_MAX:
            raise ConfigError(f"--port `{port}`: expected 1 to {PORT_MAX}")
    if args.input_format == "pcap" and len(args.sources) > 1:
        raise ConfigError("--input-format pcap reads one capture; merge them first, with mergecap")
    before = _FolderSnapshot.capture(args.trace)
    if any(path.suffix == SUFFIX for path in before.files):
        print_command_error(args, f"`{args.trace}` is a trace already; this import adds to it")
    code = EXIT_FAILURE
    try:
        code = _import_capture(args) if args.input_format == "pcap" else _import_logs(args)
    finally:  # also after errors and Ctrl-C
        if code not in (0, EXIT_MISMATCH):
            before.remove_imported_files()
    return code


class _FolderSnapshot(msgspec.Struct):
    """The state of a trace's folder before an import: its files, and the folders to create."""

    folder: Path
    files: set[Path]
    missing: list[Path]

    @classmethod
    def capture(cls, folder: Path) -> "_FolderSnapshot":
        files = set(folder.iterdir()) if folder.is_dir() else set()
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        return cls(folder, files, missing)

    def remove_imported_files(self) -> None:
        """Remove the files and folders of a failed import."""
        if not self.folder.is_dir():
            return
        for path in set(self.folder.glob(f"*{SUFFIX}")) - self.files:
            path.unlink()
        for path in self.missing:
            with suppress(OSError):  # somebody else has written there
                path.rmdir()


def _import_logs(args: argparse.Namespace) -> int:
    report = _import_logs_with_progress(args)
    name = ", ".join(str(source) for source in args.sources)
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        _print_log_report(args, report, name)
    code = _report_empty_import(args, report.entries)
    if code == 0 and report.unread_percent() > args.max_unread:
        print_command_error(
            args,
            f"{report.unread_percent():.1f} % of the log's entries were not read, more than the"
            f" {args.max_unread:g} % of --max-unread; the trace is incomplete",
        )
        return EXIT_MISMATCH
    return code


def _print_log_report(args: argparse.Namespace, report: "ImportReport", name: str) -> None:
    for line in report.examples:
        print_command_error(args, f"{line.source or name}: line {line.line}: {line.reason}")
        if line.text:
            print(f"    {sanitize_message(line.text)}", file=sys.stderr)
    if report.unread > len(report.examples):
        print(f"... {report.unread - len(report.examples)} more not read", file=sys.stderr)
    for skipped in report.skipped:
        print(f"{sanitize_message(skipped)}: skipped, since it is no text", file=sys.stderr)
    for field, count in report.unknown.items():
        name_text = sanitize_message(f"`{field}`")
        print(f"unknown field ignored: {name_text}, {count} times", file=sys.stderr)
    print(
        f"{report.lines} lines, {report.entries} entries, {report.unread} entries not read",
        file=sys.stderr,
    )
    if report.entries and report.denials == report.entries:
        print(
            "all entries are denials, as at Kafka's default level INFO: `kafka-shim pipeline"
            f" denials {args.trace}` lists them; for allowed accesses, set kafka.authorizer.logger"
            " to DEBUG",
            file=sys.stderr,
        )


def _import_logs_with_progress(args: argparse.Namespace) -> "ImportReport":
    from kafka_shim.traces.importers.log_files import (
        find_log_files,
        logs_in_file,
    )

    files, skipped = find_log_files(args.sources, args.time_zone), list[str]()
    sizes = [file.stat().st_size for file in files if file.is_file()]
    before = [sum(sizes[:index]) for index in range(len(files))]
    with ProgressBar("reading lines", sum(sizes)) as progress:
        logs = [
            logs_in_file(file, skipped, is_named_by_user=file in args.sources) for file in files
        ]
        with closing(_sources_with_progress(zip(logs, before, strict=True), progress)) as sources:
            report = _import_log_sources(args, sources)
    report.skipped = skipped
    return report


def _import_log_sources(
    args: argparse.Namespace, sources: Iterator[tuple["LogSource", Iterator[str]]]
) -> "ImportReport":
    from kafka_shim.traces.importers.log_import import AuthorizerLogImport, RequestLogImport

    kind = AuthorizerLogImport if args.input_format == "audit-log" else RequestLogImport
    with closing(kind(args.trace, args.time_zone)) as importing:
        for source, lines in sources:
            importing.import_lines(lines, source.name)
    return importing.report


def _report_empty_import(args: argparse.Namespace, entry_count: int) -> int:
    if entry_count:
        return 0
    name = ", ".join(str(source) for source in args.sources)
    print_command_error(args, f"`{name}` contains nothing in the format {args.input_format}")
    return EXIT_FAILURE


def _sources_with_progress(
    logs: Iterable[tuple[Generator["LogSource", None, None], int]], progress: ProgressBar
) -> Generator[tuple["LogSource", Iterator[str]], None, None]:
    """Yield the logs of all files; a file is closed also if the import is interrupted."""
    for sources, start in logs:
        with closing(sources):
            for source in sources:
                yield source, _lines_with_progress(source, start, progress)


def _lines_with_progress(source: "LogSource", start: int, progress: ProgressBar) -> Iterator[str]:
    """Yield the lines of a log; report to `progress` how much of all logs has been read."""
    for line in source.lines:
        yield line
        progress(start + source.position())


def _import_capture(args: argparse.Namespace) -> int:
    try:
        from kafka_shim.traces.captures.capture_import import import_capture
    except ImportError as error:
        raise ConfigError(requires("importing a network capture", "capture")) from error
    with (
        args.sources[0].open("rb") as file,
        ProgressBar("reading packets", args.sources[0].stat().st_size) as progress,
    ):
        try:
            report = import_capture(file, args.trace, frozenset(args.port), progress)
        except ConfigError as error:
            raise ConfigError(f"`{args.sources[0]}`: {error}") from error
    if args.json:
        print(json.dumps(msgspec.to_builtins(report), indent=2))
    else:
        print("\n".join(_capture_report_lines(report)), file=sys.stderr)
    return _report_empty_import(args, report.entries)


_PROBLEMS_MAX = 20
"""Connections whose problems are printed; `--json` has all."""


def _capture_report_lines(report: "CaptureReport") -> Iterator[str]:
    ports = ", ".join(str(port) for port in sorted(report.ports)) or "none"
    yield (
        f"{report.packets} packets, {report.connections} connections to Kafka (ports: {ports}),"
        f" {report.requests} requests, {report.responses} responses"
    )
    if report.responses_without_request:
        count = report.responses_without_request
        yield f"{count} responses to requests that are not in the capture"
    for reason, count in sorted(report.passed_over.items()):
        yield f"skipped: {count} {reason}"
    for trouble in report.troubles[:_PROBLEMS_MAX]:
        problems = [
            f"{value} {name.replace('_', ' ')}"
            for name, value in msgspec.structs.asdict(trouble).items()
            if isinstance(value, int) and not isinstance(value, bool) and value
        ]
        problems += ["it began before the capture"] * trouble.began_before
        problems += [
            "it is encrypted (TLS); `kafka-shim proxy` records such clients"
        ] * trouble.is_tls
        yield f"{trouble.client} -> {trouble.server}: {', '.join(problems)}"
    if len(report.troubles) > _PROBLEMS_MAX:
        yield f"and {len(report.troubles) - _PROBLEMS_MAX} more connections with problems"
    if report.damage:
        yield f"the capture was not read to its end: {report.damage}"
