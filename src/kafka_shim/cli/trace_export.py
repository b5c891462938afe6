"""`kafka-shim trace export`: convert a trace to JSON lines or to a network capture."""

import argparse
import json
import sys
from pathlib import Path

from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.trace_source import print_damaged_parts
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires
from kafka_shim.text.output_paths import check_output_file
from kafka_shim.trace_format.segments import Damage, trace_size_in_bytes

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
