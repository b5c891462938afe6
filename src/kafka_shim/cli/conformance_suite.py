"""`kafka-shim conformance suite`: run the cases of the suite with a client's driver."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.conformance_report import OUTPUTS
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.usage import split_command
from kafka_shim.conformance import CLIENTS, TOOLS
from kafka_shim.protocol.api_versions import RELEASES, parse_minor_release
from kafka_shim.shim.config import parse_listener
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import LISTENERS
from kafka_shim.text.logs import configure_logging

if TYPE_CHECKING:
    from kafka_shim.conformance.baseline import Baseline
    from kafka_shim.conformance.case import Case, CaseResult
    from kafka_shim.conformance.fixtures import ClusterProvider
    from kafka_shim.conformance.runner import CasesByRelease

DESCRIPTION = """\
Put a client into prepared situations, the cases. The suite checks the requests that the client
sends, and the results that the client reports to its caller. The driver is a small program that
operates the client. It reads commands as lines of JSON (docs/guides/conformance.md).

  kafka-shim conformance suite --driver "python my_driver.py"
  kafka-shim conformance suite --driver "python my_driver.py" --case 'denials.produce*' --watch

Exit codes: 0 success, 3 a case of level `must` failed, the client crashed or hung in a case, or no
case was exercised, 2 usage error, 1 the driver does not work. With --baseline, failures that the
file lists do not count, but the code is also 3 if a listed case passed, unless it is intermittent.
A case is unsupported if the client lacks a feature that the case needs. A case is not exercised if
the client did not send the requests that the case is about.
"""
ALL = "all"
JOBS = 4
"""More than there are cores, since cases mostly wait."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("--driver", metavar="COMMAND", help="Command that starts the driver")
    _add_selection_arguments(parser)
    _add_running_arguments(parser)
    _add_output_arguments(parser)


def _add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="PATTERN",
        help="Run only the cases whose id matches, such as 'denials.*' (repeatable; default: all)",
    )
    parser.add_argument(
        "--profile",
        choices=(CLIENTS, TOOLS),
        default=CLIENTS,
        help="What the driver operates: a client library, or a tool, such as a user interface or an"
        f" exporter (default: {CLIENTS})",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help=f"Kafka release to emulate, or `{ALL}` (default: {RELEASES[-1]}; with --failed-from"
        " the releases at which the cases failed)",
    )
    parser.add_argument(
        "--failed-from",
        metavar="REPORT",
        help="Run only the cases that failed in this report, which --format json wrote",
    )


def _add_running_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="TOML file of known failures with their reasons, which `conformance report --format"
        " baseline` writes; these do not make the run fail, but a listed case that passes does",
    )
    parser.add_argument(
        "--fail-fast",
        action="store_true",
        help="Start no case after the first failure that makes the run fail",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="Print each request and response while a case runs",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=JOBS,
        metavar="N",
        help=f"Number of drivers that run at the same time (default: {JOBS})",
    )
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="LISTENER",
        help="Run against a real cluster of that release. Give two listeners: PLAINTEXT://HOST:PORT,"
        " where clients are allowed everything, and SASL_PLAINTEXT://HOST:PORT, where alice"
        " authenticates with the password alice-secret. THE CLUSTER'S TOPICS, GROUPS AND ACLS ARE"
        " REMOVED",
    )


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--list",
        action="store_true",
        help="List the cases without running them; with --format markdown, count those that also"
        " run on real brokers",
    )
    parser.add_argument(
        "--contract",
        action="store_true",
        help="Print the commands that a driver must support, as JSON schema or, with --format"
        " markdown, as tables",
    )
    forms = (*OUTPUTS, "html")
    parser.add_argument(
        "--format",
        choices=forms,
        default=forms[0],
        help=f"Format of the report (default: {forms[0]})",
    )


def run(args: argparse.Namespace) -> int:
    from kafka_shim.conformance.case_tables import case_list_text
    from kafka_shim.conformance.cases import all_cases
    from kafka_shim.conformance.runner import select_cases

    if args.contract:
        print(_driver_contract_text(args.format))
        return 0
    cases = select_cases(all_cases(args.profile), args.case)
    if not cases:
        raise ConfigError(f"no case matches `{'` or `'.join(args.case)}`; --list prints all cases")
    if args.list:
        print(case_list_text(cases, args.format), end="")
        return 0
    if args.driver is None:
        raise ConfigError("missing `--driver`: the command that starts the client's driver")
    configure_logging("error", "console")
    return _run_cases(
        split_command(args.driver, "--driver"), _select_cases_by_release(cases, args), args
    )


def _select_cases_by_release(cases: "list[Case]", args: argparse.Namespace) -> "CasesByRelease":
    from kafka_shim.conformance.cases import all_cases
    from kafka_shim.conformance.report import read_report
    from kafka_shim.conformance.runner import (
        failed_cases_by_release,
        supported_cases_by_release,
    )

    if args.against:
        cases = [case for case in cases if _runs_on_any_real_cluster(case)]
    releases = None if args.kafka_version is None else _parse_releases(args.kafka_version)
    if args.failed_from is None:
        return supported_cases_by_release(cases, releases or RELEASES[-1:])
    report = read_report(args.failed_from)
    missing = report.ids_of_failed_cases - {case.id for case in all_cases(args.profile)}
    if missing:
        _print_note(f"no longer cases: {', '.join(sorted(missing))}")
    selected = failed_cases_by_release(cases, report, releases)
    if not any(selected.values()):
        _print_note(f"no case failed in {args.failed_from}")
    return selected


def _driver_contract_text(output_format: str) -> str:
    from kafka_shim.conformance.contract import contract_json_schema, contract_page_lines

    return (
        "\n".join(contract_page_lines())
        if output_format == "markdown"
        else json.dumps(contract_json_schema(), indent=2)
    )


def _parse_releases(text: str) -> Sequence[str]:
    if text == ALL:
        return RELEASES
    try:
        return (parse_minor_release(text),)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _run_cases(
    driver_command: list[str], cases_by_release: "CasesByRelease", args: argparse.Namespace
) -> int:
    from kafka_shim.conformance.report import FORMS, as_html, report_from_results

    baseline = _read_baseline(args)
    name, results = _run_releases(
        driver_command,
        cases_by_release,
        args,
        lambda result: (
            args.fail_fast
            and result.fails_run
            and baseline.find_known_failure(result.case.id, result.release) is None
        ),
    )
    report = baseline.mark_known_failures(report_from_results(name, results))
    text = as_html([report]) if args.format == "html" else FORMS[args.format](report)
    print(text, end="")
    return 0 if report.has_passed else EXIT_MISMATCH


def _read_baseline(args: argparse.Namespace) -> "Baseline":
    from kafka_shim.conformance.baseline import Baseline, read_baseline
    from kafka_shim.conformance.cases import all_cases

    if args.baseline is None:
        return Baseline()
    return read_baseline(args.baseline, [case.id for case in all_cases(args.profile)])


def _run_releases(
    driver_command: list[str],
    cases_by_release: "CasesByRelease",
    args: argparse.Namespace,
    is_last: "Callable[[CaseResult], bool]",
) -> "tuple[str, list[CaseResult]]":
    """Return the driver's name, and the results by release in the order of the cases."""
    from kafka_shim.conformance.report import report_from_results
    from kafka_shim.conformance.runner import run_cases

    cluster_addresses = _addresses_by_listener(args.against)
    results: list[CaseResult] = []
    name = args.driver
    total = sum(map(len, cases_by_release.values()))
    with ProgressBar("playing", total, is_shown=not args.watch) as progress:

        def add_result(result: "CaseResult") -> bool:
            results.append(result)
            progress(len(results))
            if args.watch:
                outcome = f"{result.outcome.value} after {result.seconds:.2f} s"
                _print_to_stderr(f"{result.case.id}: {outcome} {result.observed}".rstrip())
            return is_last(result)

        for release, cases in cases_by_release.items():
            played = run_cases(
                driver_command,
                cases,
                release,
                add_result,
                jobs=1 if args.watch or cluster_addresses else args.jobs,
                clusters=_cluster_provider_factory(
                    release, cluster_addresses, prints_frames=args.watch
                ),
            )
            name = asyncio.run(played)
            if len(cases_by_release) > 1:
                part = report_from_results(name, results).results_of_release(release)
                progress.print_above(f"Kafka {release}: {part.outcome_totals}")
            if any(map(is_last, results)):
                break
    releases = list(cases_by_release)
    order = {case.id: at for cases in cases_by_release.values() for at, case in enumerate(cases)}
    results.sort(key=lambda each: (releases.index(each.release), order[each.case.id]))
    return name, results


def _runs_on_any_real_cluster(case: "Case") -> bool:
    """Return whether clients can prepare the case on any real cluster."""
    from kafka_shim.conformance.fixtures import DEFAULT_SETUP

    return (
        case.runs_on_real_cluster and not case.needs_cluster_control and case.setup == DEFAULT_SETUP
    )


def _addresses_by_listener(listeners: Sequence[str]) -> dict[str, str] | None:
    """Return the addresses of a real cluster by listener name; None without options for one."""
    if not listeners:
        return None
    addresses = {each.name: f"{each.host}:{each.port}" for each in map(parse_listener, listeners)}
    missing = set(LISTENERS) - addresses.keys()
    if missing:
        raise ConfigError(f"--against also requires a listener {' and '.join(sorted(missing))}")
    return addresses


def _cluster_provider_factory(
    release: str, cluster_addresses: Mapping[str, str] | None, *, prints_frames: bool
) -> "Callable[[], ClusterProvider]":
    from kafka_shim.conformance.fixtures import ShimClusterProvider
    from kafka_shim.conformance.real_cluster import RealClusterProvider

    on_frame = _print_to_stderr if prints_frames else None
    if cluster_addresses is not None:
        return partial(RealClusterProvider, cluster_addresses, release, on_frame)
    return partial(ShimClusterProvider, release, on_frame)


def _print_note(text: str) -> None:
    _print_to_stderr(f"kafka-shim conformance suite: {text}")


def _print_to_stderr(line: str) -> None:
    print(line, file=sys.stderr)
