"""`kafka-shim policy test`: check expectations against ACLs."""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.checked_accesses import InexactReleaseError
from kafka_shim.authorizer.policy.expectation_check import ExpectationChecker
from kafka_shim.authorizer.policy.profiles import PROFILES, name_keys_of_profile
from kafka_shim.shim.cli import EXIT_MISMATCH
from kafka_shim.shim.cli.policy.expectation_files import ExpectationFile, read_expectations
from kafka_shim.shim.cli.policy.input_error import InputError
from kafka_shim.shim.cli.policy.inputs import (
    Live,
    add_broker_arguments,
    add_decision_arguments,
    authorizer_of,
    chosen_release,
    live_acls,
)
from kafka_shim.shim.cli.policy.sources import read_files
from kafka_shim.shim.cli.policy.verdicts import (
    Judged,
    annotation,
    junit,
    verdict_lines,
    verdict_object,
)
from kafka_shim.shim.cli.usage import UsageError

HELP = "check expectations, such as `bob may not read payments`, against ACLs"
_PROFILE_LINES = "\n".join(
    f"  {name:24} {', '.join(name_keys_of_profile(name))}" for name in PROFILES
)
DESCRIPTION = f"""\
Check expectations against ACLs: for all names that match a pattern, from every host, by the rules
of the chosen release. Each line of output names the ACL that decided; a failure also shows the
smallest change that would fix it.

  kafka-shim policy test policy.yaml --acls acls/
  kafka-shim policy test policy.toml --bootstrap-server 127.0.0.1:9092 --junit report.xml

Expectations in YAML (or TOML, as [[expect]] tables; see docs/policy.md):

  expect:
  - {{principal: User:alice, may: Write, topic: orders}}
  - {{principal: User:bob, may-not: [Read, Write], topic: payments-*}}
  - {{principal: User:app, can: consume, topic: orders, group: app-*}}
  - {{nobody-but: [User:alice], may: Write, topic: orders}}
  - {{no-acl: {{principal: "User:*"}}}}

`can` and `cannot` stand for everything that a kind of client does, and need these keys:

{_PROFILE_LINES}

Exit codes: 0 all expectations hold, 3 one or more fail, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="+", metavar="EXPECTATIONS", help="YAML or TOML file with expectations")
    add(
        "--acls",
        action="append",
        default=[],
        metavar="FILE",
        help="file or folder with ACLs (repeatable; default: the `acls:` of the expectations)",
    )
    add("--junit", type=Path, metavar="FILE", help="also write a JUnit report to this file")
    add("--github", action="store_true", help="also print annotations for GitHub Actions")
    add("--quiet", "-q", action="store_true", help="print failures only")
    add("--json", action="store_true", help="print JSON instead of text")
    add_broker_arguments(parser)
    add_decision_arguments(parser)


def run(args: argparse.Namespace) -> int:
    judged = _judged(args)
    failed = sum(not found.verdict.holds for found in judged)
    if args.junit:
        args.junit.write_text(junit(judged), encoding="utf-8")
    if args.json:
        print(json.dumps([verdict_object(found) for found in judged], indent=2, ensure_ascii=False))
        return EXIT_MISMATCH if failed else 0
    for found in judged:
        if not (args.quiet and found.verdict.holds):
            print("\n".join(verdict_lines(found)))
        if args.github and not found.verdict.holds:
            print(annotation(found))
    releases = dict.fromkeys(found.verdict.expectation.release for found in judged)
    held = len(judged) - failed
    print(f"{held} of {len(judged)} expectations hold in Kafka {', '.join(releases)}")
    return EXIT_MISMATCH if failed else 0


def _judged(args: argparse.Namespace) -> list[Judged]:
    live = None
    if not args.acls and args.bootstrap_server:
        live = live_acls(args)
    release = chosen_release(args, live)
    files = _read(args.files, release)
    judged = []
    for content in files:
        acls = _acls(args, content, release, live)
        judges: dict[str, ExpectationChecker] = {}
        for placed in content.expectations:
            at = placed.expectation.release
            if at not in judges:
                judges[at] = _judge(args, content, acls, at)
            judged.append(Judged(placed, judges[at].check_expectation(placed.expectation)))
    return judged


def _read(paths: Sequence[str], release: str) -> list[ExpectationFile]:
    """Read all files; raise one InputError with all their errors."""
    found: list[ExpectationFile] = []
    messages: list[str] = []
    for path in paths:
        try:
            found.append(read_expectations(path, release))
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return found


def _judge(
    args: argparse.Namespace, content: ExpectationFile, acls: Iterable[Acl], release: str
) -> ExpectationChecker:
    options = argparse.Namespace(**vars(args))
    options.super_user = [*args.super_user, *content.super_users]
    try:
        return ExpectationChecker(authorizer_of(options, acls, release))
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {release}: {error}") from error


def _acls(
    args: argparse.Namespace, content: ExpectationFile, release: str, live: Live | None
) -> Sequence[Acl]:
    """Return the ACLs of the options, or by default those named in the file."""
    if live is not None:
        return live.acls
    paths = args.acls or content.acls
    if not paths:
        raise UsageError(
            "no ACLs given: add --acls FILE, --bootstrap-server HOST:PORT, or `acls:` in the"
            " expectations"
        )
    return read_files(paths, release)
