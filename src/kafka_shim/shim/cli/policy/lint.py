"""`kafka-shim policy lint`: find ACLs that are probably mistakes."""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from kafka_shim.authorizer.acl_formats.objects import to_objects
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.checked_accesses import InexactReleaseError
from kafka_shim.authorizer.policy.lint import (
    FINDING_KINDS,
    Finding,
    LocatedAcl,
    find_probable_mistakes,
)
from kafka_shim.shim.cli import EXIT_MISMATCH
from kafka_shim.shim.cli.policy.annotations import annotation
from kafka_shim.shim.cli.policy.input_error import placed
from kafka_shim.shim.cli.policy.inputs import (
    add_broker_arguments,
    add_decision_arguments,
    authorizer_of,
    bootstrap_or_default,
    chosen_release,
    live_acls,
)
from kafka_shim.shim.cli.policy.sources import written_in
from kafka_shim.shim.cli.policy.words import acl_words, counted
from kafka_shim.shim.cli.usage import UsageError

HELP = "find suspicious ACLs: shadowed, redundant, without effect, for everybody ..."
_KIND_LINES = "\n".join(f"  {name:12} {said}" for name, said in FINDING_KINDS.items())
DESCRIPTION = f"""\
Report ACLs that are probably mistakes, each with its file and line:

{_KIND_LINES}

Removing any one ACL that is reported as shadowed, redundant or ineffective changes no decision.

  kafka-shim policy lint acls/ --ignore redundant
  kafka-shim policy lint --bootstrap-server 127.0.0.1:9092

Exit codes: 0 nothing found, 3 something found, 2 usage error, 1 the broker failed.
"""
SHOWN_MAX = 3
"""How many of the other ACLs a line names; JSON has all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "files", nargs="*", metavar="FILE", help="file or folder with ACLs (default: the cluster's)"
    )
    add(
        "--ignore",
        action="append",
        default=[],
        choices=list(FINDING_KINDS),
        metavar="KIND",
        help="kind of finding to leave out, such as redundant (repeatable)",
    )
    add("--github", action="store_true", help="also print annotations for GitHub Actions")
    add("--json", action="store_true", help="print JSON instead of text")
    add_broker_arguments(parser)
    add_decision_arguments(parser)


def run(args: argparse.Namespace) -> int:
    written, release = _written(args)
    authorizer = authorizer_of(args, (), release)
    try:
        every = list(find_probable_mistakes(written, authorizer, release))
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {release}: {error}") from error
    found = [finding for finding in every if finding.kind not in args.ignore]
    if args.json:
        print(json.dumps(list(map(_object, found)), indent=2, ensure_ascii=False))
    else:
        for line in _lines(found, len(written), release, github=args.github):
            print(line)
    return EXIT_MISMATCH if found else 0


def _written(args: argparse.Namespace) -> tuple[list[LocatedAcl], str]:
    if args.files and args.bootstrap_server:
        raise UsageError("give files or --bootstrap-server, not both")
    if args.files:
        release = chosen_release(args)
        return written_in(args.files), release
    if not bootstrap_or_default(args):
        raise UsageError("no ACLs given: name files, or add --bootstrap-server HOST:PORT")
    live = live_acls(args)
    written = [LocatedAcl(acl, args.bootstrap_server, 0) for acl in live.acls]
    return written, chosen_release(args, live)


def _lines(found: Sequence[Finding], count: int, release: str, *, github: bool) -> Iterator[str]:
    for finding in found:
        place = placed(finding.located_acl.path, finding.located_acl.line)
        yield f"{place}: {finding.kind}: {_message(finding)}"
        if github:
            yield annotation(
                "warning",
                finding.located_acl.path,
                finding.located_acl.line,
                f"{finding.kind}: {_message(finding)}",
            )
    said = f"{counted(len(found), 'finding')} in {counted(count, 'ACL')}"
    yield f"{said} for Kafka {release}"


def _message(finding: Finding) -> str:
    """Return a finding as text: the ACL, the problem, and the other ACLs that cause it."""
    acl = finding.located_acl.acl
    others = [_other(each, acl) for each in finding.causes[:SHOWN_MAX]]
    left = len(finding.causes) - len(others)
    if left:
        others.append(f"{left} more")
    blamed = f": {', '.join(others)}" if others else ""
    return f"{acl_words(acl)}: {finding.message}{blamed}"


def _other(written: LocatedAcl, acl: Acl) -> str:
    place = placed(written.path, written.line)
    return place if written.acl == acl else f"{acl_words(written.acl)} ({place})"


def _object(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        **_place(finding.located_acl),
        "said": finding.message,
        "because": [_place(each) for each in finding.causes],
    }


def _place(written: LocatedAcl) -> dict[str, Any]:
    return {
        "file": written.path,
        "line": written.line,
        "acl": to_objects([written.acl])[0],
    }
