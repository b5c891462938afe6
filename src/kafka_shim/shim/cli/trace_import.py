"""`kafka-shim trace import`: make a trace of a broker's log, a proxy's log or a capture."""

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from kafka_shim.extras import requires
from kafka_shim.shim.cli import EXIT_FAILURE
from kafka_shim.shim.cli.error_output import print_error
from kafka_shim.shim.cli.progress import Progress
from kafka_shim.shim.config import PORT_MAX
from kafka_shim.shim.errors import ConfigError

if TYPE_CHECKING:
    from kafka_shim.shim.traffic.captures.into_trace import CaptureReport
    from kafka_shim.shim.traffic.captures.tls import KeyLog
    from kafka_shim.shim.traffic.importers.into_trace import Imported

FORMS = ("pcap", "request-log", "audit-log", "protocol-log")
FORMS_HELP = """format of the source. pcap: a network capture, pcap or pcapng.
request-log: a broker's request log in JSON (KIP-673). audit-log: a broker's authorizer log
(decisions only). protocol-log: the log of kroxylicious' ProtocolLogger"""


def add_import_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "source", type=Path, help="capture or log to read; - is a log on standard input"
    )
    verb.add_argument("--from", dest="form", required=True, choices=FORMS, help=FORMS_HELP)
    verb.add_argument(
        "--port",
        type=int,
        action="append",
        default=[],
        metavar="PORT",
        help="port of Kafka in the capture (repeatable; default: detected from the traffic)",
    )
    verb.add_argument(
        "--key-log",
        type=Path,
        metavar="FILE",
        help="TLS keys of the captured connections, as clients write them to $SSLKEYLOGFILE",
    )
    verb.add_argument("--json", action="store_true", help="print the report as one JSON object")


def run_import(args: argparse.Namespace) -> int:
    """Import, and report what was imported and what could not be read; return 1 if nothing was."""
    if args.port and args.form != "pcap":
        raise ConfigError("--port requires --from pcap")
    for port in args.port:
        if not 0 < port <= PORT_MAX:
            raise ConfigError(f"--port `{port}`: expected 1 to {PORT_MAX}")
    if args.key_log is not None and args.form != "pcap":
        raise ConfigError("--key-log requires --from pcap")
    before = _Before.of(args.trace)
    code = EXIT_FAILURE
    try:
        code = _capture(args) if args.form == "pcap" else _log(args)
    finally:  # also after errors and Ctrl-C
        if code:
            before.bring_back()
    return code


class _Before(msgspec.Struct):
    """The state of a trace's folder before an import: its files, and the folders to create."""

    folder: Path
    files: set[Path]
    missing: list[Path]

    @classmethod
    def of(cls, folder: Path) -> "_Before":
        files = set(folder.iterdir()) if folder.is_dir() else set()
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        return cls(folder, files, missing)

    def bring_back(self) -> None:
        """Remove the files and folders of a failed import."""
        if not self.folder.is_dir():
            return
        for path in set(self.folder.iterdir()) - self.files:
            path.unlink()
        for path in self.missing:
            path.rmdir()


def _log(args: argparse.Namespace) -> int:
    size = 0 if str(args.source) == "-" else args.source.stat().st_size
    with _opened(args.source) as lines, Progress("reading lines", size) as progress:
        report = _importer(args.form)(_told(lines, progress), args.trace)
    if args.json:
        print(msgspec.json.encode(report).decode())
    else:
        for number, why in report.refused:
            print_error(args, f"{args.source}: line {number}: {why}")
        for field, count in report.unknown.items():
            print(f"unknown field ignored: {field}, {count} times", file=sys.stderr)
        print(
            f"{report.lines} lines, {report.entries} entries, {len(report.refused)} lines not read",
            file=sys.stderr,
        )
    return _outcome(args, report.entries)


def _outcome(args: argparse.Namespace, entries: int) -> int:
    if entries:
        return 0
    print_error(args, f"`{args.source}` contains nothing in the format {args.form}")
    return EXIT_FAILURE


def _told(lines: Iterable[str], progress: Progress) -> Iterator[str]:
    """Yield the same lines, and report to `progress` how much of the log has been read."""
    behind = 0
    for line in lines:
        yield line
        behind += len(line)
        progress(behind)


def _importer(form: str) -> Callable[[Iterator[str], Path], "Imported"]:
    if form == "protocol-log":
        from kafka_shim.shim.traffic.importers.protocol_log_into_trace import import_protocol_log

        return import_protocol_log
    from kafka_shim.shim.traffic.importers.into_trace import import_audit_log, import_request_log

    return import_audit_log if form == "audit-log" else import_request_log


def _opened(source: Path) -> contextlib.AbstractContextManager[TextIO]:
    if str(source) == "-":
        return contextlib.nullcontext(sys.stdin)
    return source.open(encoding="utf-8", errors="replace")


def _capture(args: argparse.Namespace) -> int:
    try:
        from kafka_shim.shim.traffic.captures.into_trace import import_capture
    except ImportError as error:
        raise ConfigError(requires("importing a network capture", "capture")) from error
    keys = None if args.key_log is None else _keys(args.key_log)
    with (
        args.source.open("rb") as file,
        Progress("reading packets", args.source.stat().st_size) as progress,
    ):
        try:
            report = import_capture(file, args.trace, frozenset(args.port), progress, keys)
        except ConfigError as error:
            raise ConfigError(f"`{args.source}`: {error}") from error
    if args.json:
        print(json.dumps(msgspec.to_builtins(report), indent=2))
    else:
        print("\n".join(_lines(report)), file=sys.stderr)
    return _outcome(args, report.entries)


def _keys(path: Path) -> "KeyLog":
    try:
        from kafka_shim.shim.traffic.captures.tls import read_key_log
    except ImportError as error:
        raise ConfigError(requires("--key-log", "tls")) from error
    return read_key_log(path)


def _lines(report: "CaptureReport") -> Iterator[str]:
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
    for trouble in report.troubles:
        said = [
            f"{value} {name.replace('_', ' ')}"
            for name, value in msgspec.structs.asdict(trouble).items()
            if isinstance(value, int) and not isinstance(value, bool) and value
        ]
        said += ["it began before the capture"] * trouble.began_before
        said += ["it is encrypted (TLS)"] * trouble.is_tls
        said += [f"not read: {trouble.tls_failure}"] * bool(trouble.tls_failure)
        yield f"{trouble.client} -> {trouble.server}: {', '.join(said)}"
    if report.damage:
        yield f"the capture was not read to its end: {report.damage}"
