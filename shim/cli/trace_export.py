"""`kafka-shim trace export`: a trace as a log of JSON lines, or as a network capture."""

import argparse
import json
import sys
from pathlib import Path

from shim.cli.trace_import import NO_DPKT
from shim.errors import ConfigError

FORMS = ("request-log", "protocol-log", "pcap")
FORMS_HELP = """request-log (default): one JSON object a request, as Kafka's own log.
protocol-log: one an entry, as kroxylicious' ProtocolLogger. pcap: for Wireshark, needs --output"""


def add_export_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--as", dest="form", choices=FORMS, default=FORMS[0], help=FORMS_HELP)
    verb.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")


def run_export(args: argparse.Namespace) -> int:
    if args.form == "pcap":
        return _capture(args)
    if args.form == "protocol-log":
        from shim.importers.protocol_log_export import export_entries as rows
    else:
        from shim.importers.request_log_export import export_rows as rows
    lines = (json.dumps(row) for row in rows(args.trace))
    if args.output is None:
        for line in lines:
            print(line)
    else:
        with args.output.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return 0


def _capture(args: argparse.Namespace) -> int:
    if args.output is None:
        raise ConfigError("--as pcap needs --output FILE: it is not text")
    try:
        from shim.captures.export import export_capture
    except ImportError as error:
        raise ConfigError(NO_DPKT) from error
    with args.output.open("wb") as file:
        report = export_capture(args.trace, file)
    for damage in report.damage:
        print(f"{damage.path}: {damage.reason} at {damage.at}", file=sys.stderr)
    print(f"{report.connections} connections, {report.packets} packets", file=sys.stderr)
    return 0
