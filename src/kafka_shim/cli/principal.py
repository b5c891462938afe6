"""`kafka-shim principal RULES DN`: map certificate subjects to principals."""

import argparse
import base64
import json
from pathlib import Path

from kafka_shim.cli import EXIT_MISMATCH, EXIT_USAGE
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.shim.tls.distinguished_name import subject_of_certificate
from kafka_shim.shim.tls.principal_mapping import MappingRule, parse_mapping_rules
from kafka_shim.text.message_text import escaped

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


DESCRIPTION = """\
Print the principal that a broker derives from the subject of a client's certificate, and the rule
that it applied. The rules are the value of ssl.principal.mapping.rules in server.properties or of
`serve -c`. The first rule that matches the whole subject applies. DEFAULT keeps the subject as it
is. If no rule matches, a broker rejects the client. Expressions are those of Java.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "rules",
        metavar="RULES",
        help="Value of ssl.principal.mapping.rules, such as 'RULE:^CN=(.*?),.*$/$1/,DEFAULT'",
    )
    parser.add_argument(
        "names",
        metavar="DN",
        nargs="+",
        help="Subject of a certificate, such as CN=alice,O=example, or a file that ends in .pem and"
        " has the certificate",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON array")


def run(args: argparse.Namespace) -> int:
    """Print the principal of each name and the rule that applied; return 3 if none applies."""
    try:
        rules = parse_mapping_rules(args.rules)
        names = [
            _subject_of_certificate_file(Path(name)) if name.endswith(".pem") else name
            for name in args.names
        ]
        rows = [_mapping_result_object(rules, name) for name in names]
    except (ValueError, LookupError) as error:
        print_command_error(args, str(error))
        return EXIT_USAGE
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(
                escaped(
                    f"{row['name']}  ->  {row['principal'] or 'rejected'}"
                    f"  ({row['rule'] or 'no rule'})"
                )
            )
    return EXIT_MISMATCH if any(row["principal"] is None for row in rows) else 0


def _mapping_result_object(rules: tuple[MappingRule, ...], subject: str) -> dict[str, str | None]:
    hits = ((rule, rule.mapped_name(subject)) for rule in rules)
    rule, mapped = next(((r, m) for r, m in hits if m is not None), (None, None))
    principal = None if mapped is None else f"User:{mapped}"
    return {"name": subject, "principal": principal, "rule": rule.text if rule else None}


def _subject_of_certificate_file(path: Path) -> str:
    """Return the subject of a file's first certificate. Raise ValueError if there is none."""
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise ValueError(f"cannot read `{path}`: {error.strerror}") from error
    begin, end = text.find(_BEGIN), text.find(_END)
    if begin < 0 or end < begin:
        raise ValueError(f"`{path}` has no PEM certificate")
    return subject_of_certificate(base64.b64decode(text[begin + len(_BEGIN) : end]))
