"""`kafka-shim run --mutate-acls`: find the tests that notice a wrong ACL."""

import argparse
from collections.abc import Sequence

from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import kafka_shim_command

_HEADING = "Mutation testing"
_DEPENDENT = ("min_score", "jobs", "run_timeout", "json")
"""Options that only --mutate-acls uses."""
_FOR_ONE_RUN = ("data_dir", "record", "playback", "conformance", "ready_file")
"""Options of a broker that several brokers cannot have at the same time."""


def add_mutation_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(_HEADING)
    add = group.add_argument
    add(
        "--mutate-acls",
        action="store_true",
        help="Run the command, which runs tests, several times, each time with an ACL that is"
        " missing or too wide. Print which tests notice",
    )
    add(
        "--min-score",
        type=_parse_score,
        metavar="SCORE",
        help="Exit with 3 if a smaller share of the mutants is noticed, such as 0.8",
    )
    add(
        "--jobs", type=_parse_count, metavar="N", help="Runs at a time (default: one per processor)"
    )
    add(
        "--run-timeout",
        type=float,
        metavar="SECONDS",
        help="Time of a run, after which a mutant counts as noticed (default: 20 s, and three times"
        " as long as without mutants)",
    )
    add("--json", action="store_true", help="Print the result as JSON")


def is_mutation_run(args: argparse.Namespace) -> bool:
    """Return whether ACLs are mutated. Raise ConfigError if options do not fit together."""
    if args.mutate_acls:
        for name in _FOR_ONE_RUN:
            if getattr(args, name, None):
                option = f"--{name.replace('_', '-')}"
                raise ConfigError(f"--mutate-acls cannot be combined with {option}")
        return True
    for name in _DEPENDENT:
        if getattr(args, name):
            raise ConfigError(f"--{name.replace('_', '-')} requires --mutate-acls")
    return False


def run_mutations(args: argparse.Namespace, command: Sequence[str]) -> int:
    """Run the command with mutants, each time with a broker of its own; return the exit code."""
    from kafka_shim.testing.mutation.command import MutationOptions, run_mutation_test

    options = MutationOptions(
        min_score=args.min_score or 0.0,
        jobs=args.jobs,
        timeout_s=args.run_timeout,
        prints_json=args.json,
    )
    return run_mutation_test(
        [*kafka_shim_command(), *_words_without_mutation(args), *command], options
    )


def _words_without_mutation(args: argparse.Namespace) -> list[str]:
    """Return the words of `run` without the options of this module, and `--`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_mutation_arguments(parser)
    given = list(args.arguments)
    options = given[: len(given) - len(args.words)]
    return [*parser.parse_known_args(options)[1], "--"]


def _parse_score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1
    if not 0 <= score <= 1:
        raise argparse.ArgumentTypeError(f"invalid score `{text}`: expected 0 to 1, such as 0.8")
    return score


def _parse_count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"invalid number `{text}`: expected 1 or more")
    return int(text)
