"""Plays the suite's cases with the Java client on real brokers, as the reference for the suite.

    python -m tests.clients.suite_against RELEASE... [--client NAME] [--case PATTERN] [--compare]
    python -m tests.clients.suite_against --publish

Brokers are started for each set-up. Needs Java 17 and Maven. Exits with 3 if a case failed. The
JSON of each run of Java is kept; with --case, new results replace those of the same cases.
`--publish` writes all kept ones to the page of the reports.
"""

import argparse
import asyncio
import hashlib
import json
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.client.client import ClientError, connect
from kafka_shim.conformance import RequirementLevel, token_signing
from kafka_shim.conformance.case import Case, CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.fixtures import PASSWORD, USER, ClusterSetup
from kafka_shim.conformance.report import Report, as_json, as_text, read_report, report_from_results
from kafka_shim.conformance.runner import ResultListener, run_cases, select_cases
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from tests.clients.operated_cluster import OperatedClusterProvider
from tests.clients.report_page import rows_about_real_brokers, write_real_brokers
from tests.clients.suite_drivers import COMMANDS
from tests.clients.suite_reports import KEPT, merged
from tests.oracle.operated_kafka import OperatedKafka, can_have_two
from tests.oracle.real_kafka import numbers

JOBS = 4


def differences(words: Sequence[str], release: str, real: Sequence[CaseResult]) -> Iterator[str]:
    """Play the cases of these results on the shim; yield a line for each difference."""
    by_case = {result.case.id: result for result in real}
    played: list[CaseResult] = []
    asyncio.run(run_cases(words, [each.case for each in real], release, played.append, jobs=JOBS))
    for own in played:
        other = by_case[own.case.id]
        if _kind(own) != _kind(other):
            yield f"{own.case.id}: real: {_shown(other)}; shim: {_shown(own)}"
        if other.distinct_responses and own.distinct_responses != other.distinct_responses:
            yield f"{own.case.id}: responses of one only: {_differing(own, other)}"


def _differing(own: CaseResult, other: CaseResult) -> str:
    sides = {
        "real": other.distinct_responses - own.distinct_responses,
        "shim": own.distinct_responses - other.distinct_responses,
    }
    return " | ".join(f"{side}: {each}" for side, found in sides.items() for each in sorted(found))


def _kind(result: CaseResult) -> tuple[str, str]:
    """Return the outcome, and class and code of the error that the client reported last."""
    is_ok = result.last_response.startswith("ok ")
    return result.outcome.value, "ok" if is_ok else result.last_response.partition(":")[0]


def _shown(result: CaseResult) -> str:
    return f"{result.outcome.value}, {result.last_response}"


SCRAM = {1: "sha256", 2: "sha512"}
ITERATIONS = 4096
TWO_REPLICAS = {
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "auto.leader.rebalance.enable": "false",
}
"""Settings with which coordinators can move, and leaders stay where a case moved them."""
VALIDATOR = {
    "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class": (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
    )
}
"""The validator of signed tokens; before 3.4 it is in another package."""
SCRAM_BY_REQUEST, SCRAM_BY_FORMAT = (2, 7), (3, 5)
"""Releases since which AlterUserScramCredentials, or formatting the storage, can set SCRAM
passwords. From 3.0 up to 3.4 (KRaft), neither can.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="*", help="a full release number, such as 4.4.0")
    parser.add_argument("--publish", action="store_true", help="write the kept results to the page")
    parser.add_argument("--client", default="java", choices=COMMANDS)
    parser.add_argument("--case", action="append", default=[], help="only matching cases")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="play the cases against the shim too, and print differences of the client's results",
    )
    args = parser.parse_args()
    has_failed = False
    for release in args.release:
        words = COMMANDS[args.client]()
        name, results = played(words, release, args.case)
        report = report_from_results(f"{name} on Kafka {release}", results)
        sys.stdout.write(as_text(report))
        kept = KEPT / f"real-{release}.json"
        if args.client == "java" and (kept.exists() or not args.case):
            new = json.loads(as_json(report))
            old = json.loads(kept.read_bytes()) if args.case else new
            KEPT.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(merged(old, new)), encoding="utf-8")
        has_failed |= report.unexpected_result_count > 0
        if args.compare:
            for line in differences(words, parse_minor_release(release), results):
                sys.stdout.write(f"{line}\n")
    if args.publish:
        reports = [read_report(str(path)) for path in KEPT.glob("real-*.json")]
        write_real_brokers("\n".join(real_broker_lines(reports, rows_about_real_brokers())))
    return EXIT_MISMATCH if has_failed else 0


def real_broker_lines(reports: Sequence[Report], old_rows: Mapping[str, str]) -> Iterator[str]:
    """Yield the part of the page about real brokers, with a row for each release.

    Rows of which no report is kept stay.
    """
    yield (
        "The cases that a real broker can produce, with the newest Java client. `python -m\n"
        "tests.clients.suite_against RELEASE...` runs them on brokers that it starts (Java 17 and\n"
        "Maven), and `--publish` writes this part. A failed `must` is an error of the suite or of\n"
        "the client.\n"
    )
    yield "| client and broker | passed | failed `must` | failed `should` | not exercised |"
    yield "|---|---|---|---|---|"
    rows = {name: row for name, row in old_rows.items() if " on Kafka " in name}
    failing = {name: row for name, row in old_rows.items() if name.startswith("`")}
    for report in reports:
        failed = report.results_with_outcome(CaseOutcome.FAILED)
        must = [row for row in failed if row.level is RequirementLevel.MUST]
        passed, missed = (
            len(report.results_with_outcome(outcome))
            for outcome in (CaseOutcome.PASSED, CaseOutcome.NOT_EXERCISED)
        )
        counts = f"{passed} | {len(must)} | {len(failed) - len(must)} | {missed}"
        rows[report.client] = f"| {report.client} | {counts} |"
        for row in failed:
            failing[f"`{row.id}`"] = f"| `{row.id}` | {row.level.value} | {row.observed} |"
    yield from sorted(
        rows.values(), key=lambda row: numbers(row.split(" | ")[0].split()[-1]), reverse=True
    )
    yield ""
    yield "| failed case | level | what the client did |"
    yield "|---|---|---|"
    yield from (row for _, row in sorted(failing.items()))


def played(
    words: Sequence[str], release: str, patterns: Sequence[str]
) -> tuple[str, Sequence[CaseResult]]:
    """Play the cases that are possible on a release; return the client's name and the results."""
    results: list[CaseResult] = []
    name = ""
    fitting = [case for case in select_cases(all_cases(), patterns) if _is_possible(case, release)]
    fitting.sort(key=lambda case: str(case.setup))

    def told(result: CaseResult) -> None:
        results.append(result)
        at = f"{release}: {len(results)} of {len(fitting)}"
        sys.stderr.write(f"{at}, {result.case.id} {result.outcome.value}\n")

    for setup, cases in groupby(fitting, lambda case: case.setup):
        left = list(cases)
        while left:
            before = len(results)
            try:
                name = _played_on_own(words, release, setup, left, told)
            except ClientError as error:
                if len(results) == before:
                    raise
                sys.stderr.write(f"{release}: {error}; going on with other brokers\n")
            left = left[len(results) - before :]
    return name, results


def _played_on_own(
    words: Sequence[str],
    release: str,
    setup: ClusterSetup,
    cases: Sequence[Case],
    told: ResultListener,
) -> str:
    """Play the cases of one set-up on new brokers; ClientError if these do not respond."""
    with _brokers(release, setup) as brokers:
        if (3,) > numbers(release) >= SCRAM_BY_REQUEST:
            _set_passwords(brokers[0].plain)
        clusters = OperatedClusterProvider(brokers, parse_minor_release(release))
        return asyncio.run(run_cases(words, cases, clusters.release, told, clusters=clusters.same))


def _is_possible(case: Case, release: str) -> bool:
    if not case.runs_on_real_cluster or not case.supports_release(parse_minor_release(release)):
        return False
    if case.setup.brokers > 1 and not can_have_two(release):
        return False
    if _has_scram(release):
        return True
    return "scram" not in case.capabilities and "PLAIN" in case.setup.mechanisms


def _has_scram(release: str) -> bool:
    found = numbers(release)
    return found >= SCRAM_BY_FORMAT or (3,) > found >= SCRAM_BY_REQUEST


@contextmanager
def _brokers(release: str, setup: ClusterSetup) -> Iterator[list[OperatedKafka]]:
    """Start the brokers of a set-up; stop them after the block."""
    mode = "none" if setup.authorizer == "none" else "authorizer"
    settings = {"sasl.enabled.mechanisms": ",".join(setup.mechanisms), **dict(setup.properties)}
    if setup.brokers > 1:
        settings |= TWO_REPLICAS
    scram = _has_scram(release)
    with ExitStack() as stack:
        if setup.has_signed_tokens:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            settings |= {
                **token_signing.write_jwks(Path(folder)),
                **VALIDATOR,
            }
        first = OperatedKafka(release, mode, settings, scram=scram, has_tls=setup.has_tls)
        brokers = [stack.enter_context(first)]
        for _ in range(1, setup.brokers):
            other = OperatedKafka(release, mode, settings, scram=scram, offload=first)
            brokers.append(stack.enter_context(other))
        yield brokers


def _set_passwords(server: str) -> None:
    """Set the SCRAM passwords of the user of the cases."""
    wanted = []
    for mechanism, name in SCRAM.items():
        salt = secrets.token_bytes(16)
        salted = hashlib.pbkdf2_hmac(name, PASSWORD.encode(), salt, ITERATIONS)
        wanted.append(ScramCredentialUpsertion(USER, mechanism, ITERATIONS, salt, salted))
    request = AlterUserScramCredentialsRequest(upsertions=wanted)
    with connect(server) as client:
        response = client.send_request(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request)
    assert not any(row.error_code for row in response.results), response


if __name__ == "__main__":
    sys.exit(main())
