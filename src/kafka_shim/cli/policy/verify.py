"""`kafka-shim policy verify`: check a certificate, by deciding again in another way."""

import argparse
import json
from pathlib import Path
from typing import Any

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import read_cluster
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.acl_files import read_accepted_acls
from kafka_shim.policy.certificate import (
    PolicyCertificateError,
    acls_sha256,
    check_certificate,
)
from kafka_shim.text.input_errors import InputError
from kafka_shim.text.input_files import read_text_without_bom

DESCRIPTION = """\
Check a certificate: its checksums, its counterexample, or else all accesses that its ACLs can
distinguish. The decisions are made by a second, plain implementation, which reads all ACLs for
each access. With --a and --b, also check that these clusters still have the certificate's ACLs.

  kafka-shim policy verify proof.json
  kafka-shim policy verify proof.json --b 127.0.0.1:9092

Exit codes: 0 the certificate is right, 3 it is not, 2 usage error, 1 a broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("certificate", metavar="CERTIFICATE", help="File of --certificate")
    for name in ("a", "b"):
        parser.add_argument(
            f"--{name}",
            metavar="SOURCE",
            help=f"HOST:PORT, file or folder that must still have the ACLs of {name.upper()}",
        )
    parser.add_argument(
        "--command-config", metavar="FILE", help="Client properties of the clusters"
    )


def run(args: argparse.Namespace) -> int:
    certificate = _read_certificate(args.certificate)
    try:
        check = check_certificate(certificate)
    except PolicyCertificateError as error:
        raise InputError(f"{args.certificate}: {error}") from error
    problems = [*check.problems, *_texts_of_sources_with_changed_acls(args, certificate)]
    for problem in problems:
        print(f"wrong: {problem}")
    word = "holds" if certificate["holds"] else "does not hold"
    print(
        f"{'not confirmed' if problems else 'confirmed'}: {certificate['relation']} {word};"
        f" {check.decided_accesses:,} decisions were made again"
    )
    return EXIT_MISMATCH if problems else 0


def _read_certificate(path: str) -> dict[str, Any]:
    try:
        content = json.loads(read_text_without_bom(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: invalid JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a certificate, which is a JSON object")
    return content


def _texts_of_sources_with_changed_acls(
    args: argparse.Namespace, certificate: dict[str, Any]
) -> list[str]:
    problems = []
    for name in ("a", "b"):
        source = vars(args)[name]
        if source is None:
            continue
        if Path(source).exists():
            acls = read_accepted_acls([source], certificate[name]["release"])
        elif ":" in source:
            acls = list(
                read_cluster(argparse.Namespace(**vars(args), bootstrap_server=source)).acls
            )
        else:
            raise UsageError(f"--{name} `{source}`: neither a file nor HOST:PORT")
        if acls_sha256(acls) != certificate[name]["acls_sha256"]:
            problems.append(f"{source} has other ACLs than {name.upper()} of the certificate")
    return problems
