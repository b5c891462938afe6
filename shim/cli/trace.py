"""`kafka-shim trace info|cat|grep|import|export`: what is in a trace, and traces of others."""

import argparse
import collections
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shim.cli import EXIT_FAILURE
from shim.cli.trace_export import add_export_arguments, run_export
from shim.cli.trace_import import add_import_arguments, run_import
from shim.traces.trace_rows import TraceReader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="info|cat|grep|import|export")
    info = verbs.add_parser("info", help="totals: clients, apis, principals, denials, damage")
    cat = verbs.add_parser("cat", help="every entry as one JSON object a line")
    grep = verbs.add_parser("grep", help="the entries that fit all conditions")
    importing = verbs.add_parser("import", help="make a trace of a capture or a log")
    add_import_arguments(importing)
    export = verbs.add_parser("export", help="a trace for other tools: JSON lines, or a capture")
    add_export_arguments(export)
    for verb in (info, cat, grep, importing, export):
        verb.add_argument("trace", type=Path, help="a trace's folder, or one segment")
    info.add_argument("--json", action="store_true", help="one JSON object")
    add = grep.add_argument
    add("--api", action="append", default=[], help="Kafka's name of an API (repeatable)")
    add("--principal", action="append", default=[], help="User:x (repeatable)")
    add("--denied", action="store_true", help="only requests of which something was denied")
    add("--text", help="somewhere in the entry, as JSON has it")


def run(args: argparse.Namespace) -> int:
    if args.verb == "import":
        return run_import(args)
    if not args.trace.exists():
        print(f"kafka-shim trace: `{args.trace}` does not exist", file=sys.stderr)
        return EXIT_FAILURE
    if args.verb == "export":
        return run_export(args)
    reader = TraceReader(args.trace)
    if args.verb == "info":
        _info(reader, as_json=args.json)
    else:
        for row in reader.rows() if args.verb == "cat" else _matching(reader, args):
            print(json.dumps(row))
    for damage in reader.damage:
        what = "not yet written" if damage.is_tail else "damaged"
        print(
            f"{damage.path}: {what}: {damage.length} bytes from {damage.at}: {damage.reason}",
            file=sys.stderr,
        )
    return 0


def _matching(reader: TraceReader, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    denied: set[tuple[Any, Any]] = set()
    if args.denied:
        rows = reader.rows()
        denied = {(r["connection"], r["sequence"]) for r in rows if r.get("allowed") is False}
    for row in reader.rows():
        if args.api and row.get("api") not in args.api:
            continue
        if args.principal and row["principal"] not in args.principal:
            continue
        if args.denied and (row["connection"], row["sequence"]) not in denied:
            continue
        if args.text and args.text not in json.dumps(row):
            continue
        yield row


def _info(reader: TraceReader, *, as_json: bool) -> None:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    first = last = None
    for row in reader.rows():
        first = row["time_us"] if first is None else first
        last = row["time_us"]
        counts["entries"][row["entry"]] += 1
        if row["entry"] == "request":
            counts["apis"][f"{row['api']} v{row['version']}"] += 1
            counts["principals"][row["principal"]] += 1
            software = " ".join((row["software_name"], row["software_version"])).strip()
            counts["clients"][software or row["client_id"] or "unknown"] += 1
        elif row["entry"] == "access" and not row["allowed"]:
            resource = f"{row['resource_type']}:{row['resource_name']}"
            counts["denials"][f"{row['principal']} {row['operation']} {resource}"] += 1
    span_s = 0.0 if first is None or last is None else (last - first) / 1_000_000
    if as_json:
        plain = {kind: dict(counter.most_common()) for kind, counter in counts.items()}
        print(json.dumps({"seconds": span_s, "damage": len(reader.damage), **plain}, indent=2))
        return
    print(f"{span_s:.3f} seconds")
    for kind, counter in counts.items():
        print(f"\n{kind}")
        for name, count in counter.most_common():
            print(f"  {count:>10}  {name}")
