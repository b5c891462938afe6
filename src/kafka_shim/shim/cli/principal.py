"""`kafka-shim principal RULES DN`: map certificate subjects to principals."""

import argparse
import json

from kafka_shim.shim.cli import EXIT_MISMATCH, EXIT_USAGE
from kafka_shim.shim.cli.error_output import print_error
from kafka_shim.shim.tls.principal_mapping import parse_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules",
        metavar="RULES",
        help="value of ssl.principal.mapping.rules, such as 'RULE:^CN=(.*?),.*$/$1/,DEFAULT'",
    )
    parser.add_argument(
        "names",
        metavar="DN",
        nargs="+",
        help="subject of a certificate, such as CN=alice,O=example",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON array")


def run(args: argparse.Namespace) -> int:
    """Print the principal of each name and the rule that applied; return 3 if none applies."""
    try:
        rules = parse_rules(args.rules)
    except ValueError as error:
        print_error(args, str(error))
        return EXIT_USAGE
    rows = []
    for name in args.names:
        hits = ((rule, rule.apply(name)) for rule in rules)
        rule, mapped = next(((r, m) for r, m in hits if m is not None), (None, None))
        principal = None if mapped is None else f"User:{mapped}"
        rows.append({"name": name, "principal": principal, "rule": rule.text if rule else None})
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(
                f"{row['name']}  ->  {row['principal'] or 'refused'}  ({row['rule'] or 'no rule'})"
            )
    return EXIT_MISMATCH if any(row["principal"] is None for row in rows) else 0
