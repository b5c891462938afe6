"""`kafka-shim least-acls -- COMMAND`: which ACLs a program needs, learned and then proven."""

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH, pipeline
from kafka_shim.cli.command_parser import CommandParser
from kafka_shim.cli.trace_import import FORMS as IMPORT_FORMS, add_import_arguments, run_import
from kafka_shim.cli.usage import UsageError, check_principal_option, run_reporting_errors
from kafka_shim.policy.least.least_acls import least_acls
from kafka_shim.shim.config import Config
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.text.logs import configure_logging
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.traces.least_acls.needed_acl_formats import FORMS, format_needed_acls
from kafka_shim.traces.least_acls.program_runs import (
    ProgramRun,
    run_with_acls_only,
    run_with_everything_allowed,
    shortfalls,
)

DESCRIPTION = """\
Run a program against a broker that allows everything, and print the fewest and narrowest ACLs that
the program needed. Then run the program again, against a new broker that has only these ACLs. The
ACLs are proven if the program then is denied nothing, ends with the same exit code, sends the same
kinds of requests, gets no further status of a streams group, and writes as many records.

  kafka-shim least-acls --topic orders -- python consumer.py
  kafka-shim least-acls --principal User:etl --format yaml -- bin/tool --server {bootstrap}

The program finds the broker's address in $KAFKA_BOOTSTRAP_SERVERS, and the address of each listener
in $KAFKA_BOOTSTRAP_SERVERS_<LISTENER>. The address also replaces `{bootstrap}` in the program's
arguments. The program's output goes to standard error. The ACLs are for the users as which the
program authenticates. If it does not authenticate, the ACLs are for --principal. The options --acls
and --super-user have no effect.

To stop a service, use --for (SIGTERM after a time), or Ctrl-C. The exit code of a stopped program
is ignored. The ACLs are printed without a second run, unless --prove is given.

  kafka-shim least-acls --for 20s --prove -- bin/service

--from-log runs no program. It finds the fewest ACLs for the accesses in a broker's authorizer log
or request log. This requires the extra `local`, but no Java.

  kafka-shim least-acls --from-log kafka-authorizer.log

Exit codes: 0 the ACLs are proven, or printed without a proof, 1 the program failed although
everything was allowed, 3 the program did less with only these ACLs, or more than 1 % of a log was
not read, 2 usage error.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_broker_arguments(parser)
    add = parser.add_argument
    add(
        "--principal",
        default="User:app",
        metavar="User:x",
        help="Principal of a program that does not authenticate (default: User:app)",
    )
    add(
        "--prefix",
        action="append",
        default=[],
        metavar="TEXT",
        help="Use a prefixed ACL for names starting with TEXT, for names generated anew in each"
        " run (repeatable)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=FORMS,
        default="text",
        metavar="FORMAT",
        help=f"Format of the ACLs: {', '.join(FORMS)} (default: text, kafka-acls command lines)",
    )
    form.add_argument(
        "--json", action="store_const", const="json", dest="format", help="Same as --format json"
    )
    add(
        "--optional",
        action="store_true",
        help="Also grant access that only makes responses longer, such as listing all topics",
    )
    add(
        "--for",
        dest="stop_after_s",
        type=_parse_duration_s,
        metavar="TIME",
        help="Stop the program after this time, such as 20s or 2m: for services",
    )
    proof = parser.add_mutually_exclusive_group()
    proof.add_argument(
        "--prove",
        action="store_true",
        help="Run the program again with only these ACLs also if it was stopped",
    )
    proof.add_argument(
        "--no-proof",
        action="store_true",
        help="Skip the second run, which proves that the ACLs suffice",
    )
    add_log_arguments(parser)
    parser.usage = "%(prog)s [OPTION ...] -- COMMAND [ARG ...]"
    add(
        "words",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="Program to run, after --, and its arguments",
    )


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _learn_least_acls)


def _learn_least_acls(args: argparse.Namespace) -> int:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if args.from_log:
        if words:
            raise UsageError("--from-log runs no command; remove what follows --")
        has_proof_option = args.prove or args.no_proof
        if has_proof_option or args.prefix or args.optional or args.stop_after_s is not None:
            raise UsageError(
                "--from-log takes none of --prefix, --optional, --for, --prove and --no-proof"
            )
        return print_acls_for_logs(args)
    if not words:
        raise UsageError("no command given; expected one after --, as in: least-acls -- bin/tool")
    check_principal_option("--principal", args.principal)
    config = msgspec.structs.replace(config_from_arguments(args), authorizer="standard")
    config = _with_anonymous_principal(config, args.principal)
    configure_logging("error", config.log_format)
    learned = asyncio.run(run_with_everything_allowed(config, words, args.stop_after_s))
    has_failed = learned.exit_code != 0 and not learned.was_stopped
    if has_failed:
        _print_message(
            f"the program ended with {learned.exit_code} although everything was allowed; these"
            " are the ACLs that it needed until then"
        )
    everything = least_acls((need.required for need in learned.needs), args.prefix)
    acls = everything
    if not args.optional:
        needed = (need.required for need in learned.needs if not need.is_optional)
        acls = least_acls(needed, args.prefix)
    optional = [acl for acl in everything if acl not in acls]
    is_ended = not (has_failed or learned.was_stopped)
    proof = None
    if args.prove or (is_ended and not args.no_proof):
        proof = asyncio.run(run_with_acls_only(config, words, acls, args.stop_after_s))
    problems = [] if proof is None else _problems_of_proof(learned, proof, args.prefix)
    facts = {"proven": None if proof is None else not problems, "problems": problems}
    text, left_out = format_needed_acls(args.format, acls, optional, facts)
    print(text, end="")
    if left_out:
        _print_message(
            f"left out: {count_with_noun(left_out, 'ACL')} for access that only makes responses"
            " longer; add --optional to grant it"
        )
    if proof is None and not is_ended:
        _print_message("not proven; --prove runs the program again with only these ACLs")
    code = 0 if proof is None else _report_proof(proof, acls, problems)
    return EXIT_FAILURE if has_failed else code


def _problems_of_proof(
    learned: ProgramRun, proof: ProgramRun, prefixes: Sequence[str]
) -> list[str]:
    """Return what the second run was denied, and what it did not do as the first one."""
    problems = [
        f"{principal} was denied {action.operation.name} on"
        f" {action.resource_type.name} {action.resource_name}"
        for principal, action in proof.denied
    ]
    was_stopped = learned.was_stopped or proof.was_stopped
    if proof.exit_code != learned.exit_code and not was_stopped:
        problems.append(f"the program ended with {proof.exit_code}")
    return problems + list(
        shortfalls(learned.activity, proof.activity, prefixes, was_stopped=was_stopped)
    )


def _parse_duration_s(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if match is None or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"invalid time `{text}`; expected one such as 20s or 2m")
    return float(match[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[match[2]]


def _report_proof(proof: ProgramRun, acls: Sequence[Acl], problems: Sequence[str]) -> int:
    """Report the second run and its problems; return the exit code."""
    for problem in problems:
        _print_message(f"in the second run, {problem}")
    if problems:
        _print_message(
            "not proven: with only these ACLs, the program does not do the same; if its names"
            " differ from run to run, add --prefix; if it needs full lists of topics or groups, add"
            " --optional"
        )
        return EXIT_MISMATCH
    granted = f"with only {count_with_noun(len(acls), 'ACL')}" if acls else "without any ACL"
    result = "was denied nothing" if proof.was_stopped else "also succeeds"
    activity = proof.activity
    kinds = count_with_noun(len(activity.requests), "kind")
    records = count_with_noun(activity.record_counts.total(), "record")
    _print_message(
        f"proven: the program {result} {granted}, sent {kinds} of requests and wrote {records}"
    )
    unseen = "what the program printed, and the contents of records"
    if proof.was_stopped:
        unseen += ", and how many records a program writes that is stopped"
    _print_message(f"not compared with the first run: {unseen}")
    return 0


def _with_anonymous_principal(config: Config, principal: str) -> Config:
    """Give this principal to all clients that do not log in."""
    listeners = tuple(
        msgspec.structs.replace(listener, principal=principal) for listener in config.listeners
    )
    return msgspec.structs.replace(config, listeners=listeners)


def _print_message(text: str) -> None:
    print(f"kafka-shim least-acls: {text}", file=sys.stderr)


LOG_FORMATS = tuple(name for name in IMPORT_FORMS if name != "pcap")
DEFAULT_LOG_FORMAT = "audit-log"
_JOB = "least-acls"


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from-log",
        action="append",
        metavar="FILE",
        help="Run no program, but read a broker's log or a folder of logs; - is standard input"
        " (repeatable)",
    )
    parser.add_argument(
        "--input-format",
        choices=LOG_FORMATS,
        default=DEFAULT_LOG_FORMAT,
        metavar="FORMAT",
        help=f"Format of --from-log: {', '.join(LOG_FORMATS)} (default: {DEFAULT_LOG_FORMAT})",
    )


def print_acls_for_logs(args: argparse.Namespace) -> int:
    """Import the logs into a temporary trace, and print the fewest ACLs for what they allowed.

    Return 3 if too much of a log could not be read; the ACLs are those of the rest.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = str(Path(folder, "trace"))
        words = [*args.from_log, trace, "--input-format", args.input_format]
        code = run_import(_parse_command_words(args, _add_import_arguments, words))
        if code not in (0, EXIT_MISMATCH):
            return code
        acl_format = "commands" if args.format == "text" else args.format
        words = [_JOB, trace, "--format", acl_format, "--engine", "duckdb"]
        return pipeline.run_jobs(_parse_command_words(args, pipeline.add_arguments, words)) or code


def _parse_command_words(
    args: argparse.Namespace,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    words: Sequence[str],
) -> argparse.Namespace:
    parser = CommandParser(prog=args.program)
    add_arguments(parser)
    return parser.parse_args(words)


def _add_import_arguments(parser: argparse.ArgumentParser) -> None:
    add_import_arguments(parser)
    parser.add_argument("trace", type=Path)
