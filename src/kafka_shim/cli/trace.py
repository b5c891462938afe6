"""`kafka-shim trace`: print, search, import and export traces."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.trace_import import add_import_arguments, run_import
from kafka_shim.cli.trace_source import print_damaged_parts, require_path_with_trace
from kafka_shim.cli.usage import check_principal_option, parse_api_name, run_reporting_errors
from kafka_shim.shim.config import PORT_MAX
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires
from kafka_shim.text.message_text import escaped
from kafka_shim.text.output_paths import check_output_file
from kafka_shim.trace_format.segments import Damage, trace_size_in_bytes
from kafka_shim.traces.summary import Summary
from kafka_shim.traces.trace_rows import TraceReader, row_as_text_line

if TYPE_CHECKING:
    from kafka_shim.traces.inspector_rows import InspectorRows

VERBS = {
    "info": "Print totals: clients, APIs, principals, denials, damage",
    "cat": "Print every entry as a line of JSON",
    "grep": "Print the entries that match all conditions",
    "view": "Open a trace in the inspector, in a browser, until Ctrl-C",
    "import": "Make a trace from a network capture or a log",
    "export": "Convert a trace to JSON lines or to a network capture",
}
LINES_HELP = (
    "Print text instead of JSON: time, connection/request, principal, content (cut if long)"
)
API_HELP = "Only requests of this API: Fetch, 1 (repeatable)"
PRINCIPAL_HELP = "Only requests of this principal (repeatable)"
_BAR_WIDTH = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    info, cat, grep, view, importing, export = (
        verbs.add_parser(name, help=text, description=text) for name, text in VERBS.items()
    )
    add_import_arguments(importing)
    add_export_arguments(export)
    importing.add_argument(
        "trace",
        type=Path,
        metavar="TRACE",
        help="Folder to write the trace to; an existing trace is continued",
    )
    for verb in (info, cat, grep, view, export):
        verb.add_argument(
            "trace", type=Path, metavar="TRACE", help="Folder of a trace, or one segment"
        )
    info.add_argument("--json", action="store_true", help="Print one JSON object")
    for verb in (cat, grep):
        verb.add_argument("--lines", action="store_true", help=LINES_HELP)
    for verb in (grep, view):
        add = verb.add_argument
        add("--api", action="append", default=[], metavar="NAME", help=API_HELP)
        add("--principal", action="append", default=[], metavar="User:x", help=PRINCIPAL_HELP)
        add("--denied", action="store_true", help="Only requests with a denied access")
    grep.add_argument("--text", metavar="TEXT", help="Only entries whose JSON contains this text")
    view.add_argument(
        "--port",
        type=int,
        default=0,
        metavar="PORT",
        help="Port of 127.0.0.1 to serve the page on (default: any free one)",
    )
    view.set_defaults(text=None)


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _run_trace_subcommand)


def _run_trace_subcommand(args: argparse.Namespace) -> int:
    if args.verb == "import":
        return run_import(args)
    require_path_with_trace(args.trace)
    if args.verb == "export":
        return run_export(args)
    inspector_rows: InspectorRows | None = None
    size = trace_size_in_bytes(args.trace)
    with ProgressBar("reading", size, is_shown=not _prints_rows_to_terminal(args)) as progress:
        reader = TraceReader(args.trace, progress)
        if args.verb == "view":
            inspector_rows = _rows_for_inspector(reader, args)
        elif args.verb == "info":
            _print_summary(reader, as_json=args.json)
        else:
            form = row_as_text_line if args.lines else json.dumps
            for row in reader.rows() if args.verb == "cat" else _matching_rows(reader, args):
                print(form(row))
    print_damaged_parts(reader.damage)
    return 0 if inspector_rows is None else _serve_inspector(inspector_rows, args.port)


def _prints_rows_to_terminal(args: argparse.Namespace) -> bool:
    """Return whether rows are printed to the terminal, where a progress bar would disturb."""
    return args.verb != "info" and sys.stdout.isatty()


def _matching_rows(reader: TraceReader, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows that match. Raise UsageError for an unknown API or an invalid principal."""
    apis = {parse_api_name(name).wire_name for name in args.api}
    for principal in args.principal:
        check_principal_option("--principal", principal)
    denied: set[tuple[Any, Any]] = set()
    if args.denied:
        rows = reader.rows(with_denials=True)
        denied = {(r["connection"], r["sequence"]) for r in rows if r.get("allowed") is False}
    is_view = args.verb == "view"
    for row in reader.rows(with_denials=args.denied or is_view, with_frames=is_view):
        if apis and row.get("api") not in apis:
            continue
        if args.principal and row["principal"] not in args.principal:
            continue
        if args.denied and (row["connection"], row["sequence"]) not in denied:
            continue
        if args.text and args.text not in json.dumps(row):
            continue
        yield row


def _print_summary(reader: TraceReader, *, as_json: bool) -> None:
    summary = Summary(reader.rows(with_denials=True))
    if as_json:
        plain = {kind: dict(counter.most_common()) for kind, counter in summary.counts.items()}
        length, slots = summary.time_slots()
        time_line = {"slot_seconds": length / 1_000_000, "slots": msgspec.to_builtins(slots)}
        whole = {"seconds": summary.seconds, "damage": len(reader.damage), **plain}
        print(json.dumps(whole | {"time_line": time_line}, indent=2))
        return
    print(f"{summary.seconds:.3f} seconds")
    for kind, counter in summary.counts.items():
        print(f"\n{kind}")
        for name, count in counter.most_common():
            print(f"  {count:>10}  {escaped(name)}")
    if summary.counts:
        print("\n".join(_time_line_chart(summary)))


def _time_line_chart(summary: Summary) -> Iterator[str]:
    length, slots = summary.time_slots()
    most = max(1, *(slot.requests for slot in slots))
    yield f"\ntime line: requests in {length / 1_000_000:g} s each, denials"
    for slot in slots:
        bar = "#" * round(slot.requests / most * _BAR_WIDTH)
        denials = slot.denials or ""
        start = slot.start_us / 1_000_000
        yield f"  {slot.requests:>10}  {start:>9g} s  {bar:<{_BAR_WIDTH}}  {denials}".rstrip()


def _rows_for_inspector(reader: TraceReader, args: argparse.Namespace) -> "InspectorRows":
    # most commands show no page, and the inspector imports the broker's state
    from kafka_shim.traces.inspector_rows import InspectorRows

    return InspectorRows(str(args.trace), _matching_rows(reader, args))


def _serve_inspector(rows: "InspectorRows", port: int) -> int:
    """Print the page's address, and serve it until Ctrl-C."""
    from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer

    if not 0 <= port <= PORT_MAX:
        raise ConfigError(f"--port `{port}`: expected 0 to {PORT_MAX}")
    if rows.left_out:
        text = f"Shown are the first {rows.last} requests; choose by --api, --principal, --denied"
        print(f"{rows.left_out} later ones left out: {text}", file=sys.stderr)
    with TraceInspectorServer(rows, port) as server:
        print(f"{server.url} (Ctrl-C ends it)", flush=True)
        server.serve_forever()
    return 0


_ROW_START = r'\{"isForwarded": false, "requestHeader": '
FORMS = ("request-log", "pcap")
FORMS_HELP = """Format of the export. request-log (default): one JSON object per request, like
Kafka's own request log. pcap: a network capture, for Wireshark; requires --out"""


def add_export_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--format", choices=FORMS, default=FORMS[0], help=FORMS_HELP)
    verb.add_argument(
        "--out", type=Path, metavar="FILE", help="File to write (default: standard output)"
    )


def run_export(args: argparse.Namespace) -> int:
    if args.format == "pcap":
        return _export_as_pcap(args)
    from kafka_shim.traces.importers.request_log import (
        exported_request_log_rows as rows,
    )

    damage: list[Damage] = []
    if args.out is None:
        for row in rows(args.trace, damage=damage):
            print(json.dumps(row))
    else:
        check_output_file(args.out, _ROW_START)
        with args.out.open("w", encoding="utf-8") as file, _export_progress(args) as progress:
            file.writelines(f"{json.dumps(row)}\n" for row in rows(args.trace, progress, damage))
    print_damaged_parts(damage)
    return 0


def _export_progress(args: argparse.Namespace) -> ProgressBar:
    return ProgressBar("exporting", trace_size_in_bytes(args.trace))


def _export_as_pcap(args: argparse.Namespace) -> int:
    if args.out is None:
        raise ConfigError("--format pcap requires --out FILE, since a capture is binary")
    try:
        from kafka_shim.traces.captures.capture_export import CAPTURE_START, export_capture
    except ImportError as error:
        raise ConfigError(requires("--format pcap", "capture")) from error
    check_output_file(args.out, CAPTURE_START)
    with args.out.open("wb") as file, _export_progress(args) as progress:
        report = export_capture(args.trace, file, progress)
    print_damaged_parts(report.damage)
    print(f"{report.connections} connections, {report.packets} packets", file=sys.stderr)
    return 0
