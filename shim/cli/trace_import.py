"""`kafka-shim trace import`: a trace of a broker's log, a proxy's log, or a network capture."""

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from shim.cli import EXIT_FAILURE
from shim.cli.progress import Progress
from shim.errors import ConfigError

if TYPE_CHECKING:
    from shim.captures.into_trace import CaptureReport
    from shim.importers.into_trace import Imported

FORMS = ("pcap", "request-log", "audit-log", "protocol-log")
FORMS_HELP = """pcap: a network capture, pcap or pcapng. request-log: a broker's request log in JSON
(KIP-673). audit-log: its authorizer's log (decisions only). protocol-log: what kroxylicious'
ProtocolLogger writes"""

NO_DPKT = "captures need dpkt: pip install 'kafka-shim[capture]'"


def add_import_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("source", type=Path, help="the capture or log; `-`: a log on standard input")
    verb.add_argument("--from", dest="form", required=True, choices=FORMS, help=FORMS_HELP)
    verb.add_argument(
        "--port",
        type=int,
        action="append",
        default=[],
        help="where Kafka is in a capture (repeatable; otherwise found by what is said there)",
    )
    verb.add_argument("--json", action="store_true", help="the report as one JSON object")


def run_import(args: argparse.Namespace) -> int:
    """Tell what became entries, and what could not be read; 1 if nothing did."""
    if args.port and args.form != "pcap":
        raise ConfigError("--port is for captures: --from pcap")
    try:
        return _capture(args) if args.form == "pcap" else _log(args)
    except OSError as error:
        print(f"kafka-shim trace: `{args.source}`: {error.strerror}", file=sys.stderr)
        return EXIT_FAILURE


def _log(args: argparse.Namespace) -> int:
    with _opened(args.source) as lines:
        report = _importer(args.form)(lines, args.trace)
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        for number, why in report.refused:
            print(f"{args.source}: line {number}: {why}", file=sys.stderr)
        print(
            f"{report.lines} lines, {report.entries} entries, {len(report.refused)} lines not read",
            file=sys.stderr,
        )
    return 0 if report.entries else EXIT_FAILURE


def _importer(form: str) -> Callable[[Iterator[str], Path], "Imported"]:
    if form == "protocol-log":
        from shim.importers.protocol_log_into_trace import import_protocol_log

        return import_protocol_log
    from shim.importers.into_trace import import_audit_log, import_request_log

    return import_audit_log if form == "audit-log" else import_request_log


def _opened(source: Path) -> contextlib.AbstractContextManager[TextIO]:
    if str(source) == "-":
        return contextlib.nullcontext(sys.stdin)
    return source.open(encoding="utf-8", errors="replace")


def _capture(args: argparse.Namespace) -> int:
    try:
        from shim.captures.into_trace import import_capture
    except ImportError as error:
        raise ConfigError(NO_DPKT) from error
    with (
        args.source.open("rb") as file,
        Progress("reading packets", args.source.stat().st_size) as progress,
    ):
        try:
            report = import_capture(file, args.trace, frozenset(args.port), progress)
        except ConfigError as error:
            raise ConfigError(f"`{args.source}`: {error}") from error
    if args.json:
        print(json.dumps(msgspec.to_builtins(report), indent=2))
    else:
        print("\n".join(_lines(report)), file=sys.stderr)
    return 0 if report.entries else EXIT_FAILURE


def _lines(report: "CaptureReport") -> Iterator[str]:
    ports = ", ".join(str(port) for port in sorted(report.ports)) or "none"
    yield (
        f"{report.packets} packets, {report.connections} connections to Kafka (ports: {ports}),"
        f" {report.requests} requests, {report.answers} answers"
    )
    if report.answers_without_request:
        yield f"{report.answers_without_request} answers to requests that are not in the capture"
    for what, count in sorted(report.passed_over.items()):
        yield f"passed over: {count} {what}"
    for one in report.troubles:
        said = [
            f"{value} {name.replace('_', ' ')}"
            for name, value in msgspec.structs.asdict(one).items()
            if isinstance(value, int) and not isinstance(value, bool) and value
        ]
        said += ["it began before the capture"] * one.began_before
        said += ["it is encrypted (TLS)"] * one.is_tls
        yield f"{one.client} -> {one.server}: {', '.join(said)}"
    if report.damage:
        yield f"the capture was not read to its end: {report.damage}"
