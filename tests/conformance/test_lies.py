"""Each kind of lie about a request or a result is noticed, and the report names it."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES
from tests.support.checked_folders import JUDGES

FOLDER = Path(__file__).parent
DRIVERS = FOLDER.parents[1] / "conformance" / "drivers"
LIES = {
    "commits one too far": ("versions.basics.consume-classic", "a commit of 2; .*committed 3"),
    "never leaves its group": ("kips.groups.closed-classic", "a request to leave the group"),
    "keeps its fetch session": ("trouble.fetch-session.lost", "a new fetch session"),
    "fails a whole Produce request": (
        "denials.produce-several.partial-success",
        "success for `allowed`",
    ),
    "alters an offset one too far": (
        "versions.basics.offsets-of-several",
        "orders, 0, 5.*orders, 0, 6|the offsets 5, 6 and 7",
    ),
    "sends an offset one too far": (
        "versions.basics.offset-in-transaction",
        "request with workers, orders, 0, 5; .*, 0, 6|the offset 5",
    ),
    "creates another number of partitions": (
        "versions.basics.create-topics",
        "a request with new, 1, 1; .*new, 2, 1",
    ),
    "adds another number of partitions": (
        "denials.create-partitions.recovers",
        "a request with .denied, 2.; .*denied, 3",
    ),
    "deletes other records": ("denials.delete-records.recovers", "a request with denied, 0, "),
    "alters to another value": (
        "denials.alter-topic-configs.recovers",
        "a request with topic, denied, ",
    ),
    "creates an ACL for another operation": ("denials.create-acls.recovers", "a request with "),
    "describes ACLs of another principal": ("kips.acls.describe-principal", "."),
    "deletes ACLs of all hosts": ("kips.acls.delete-several", "for `0` the filter"),
    "mixes up the results of filters": ("kips.acls.delete-several", "for the filter 0 the ACL"),
    "names another filter": ("kips.acls.delete-several", "for `0` the filter"),
    "writes another value": ("versions.basics.produce", "a request with orders, b'a'; .*b'a!'"),
    "writes a value twice": ("denials.produce-several.partial-success", "."),
    "loses the last partition": ("versions.basics.offsets-of-several", "."),
    "deletes another topic": ("versions.basics.delete-topics", "."),
    "reports another committed offset": ("kips.offset-fetch.committed", "."),
    "reports an end offset too large": (
        "versions.basics.list-offsets",
        "for `orders-0` the offset",
    ),
    "reports an offset too large": ("versions.basics.produce", "offsets of 1 records"),
    "reports a partition too many": (
        "versions.basics.describe-topics",
        "for `orders` the partitions",
    ),
    "reports a member too many": ("versions.basics.describe-groups", "for `workers` the members"),
    "loses a topic": ("versions.basics.list-topics", "the topics"),
    "makes up a group": ("versions.basics.list-groups", "the groups"),
    "loses a broker": ("versions.basics.describe-cluster", "for `the cluster` the brokers"),
    "reports another setting": ("versions.basics.describe-configs", "reported '0'"),
    "reports values in another order": (
        "versions.basics.consume-classic",
        "the values a and b",
    ),
    "reports offsets in another order": (
        "versions.basics.consume-classic",
        "the offset of each record, in their order",
    ),
    "makes up a setting": ("versions.basics.describe-configs", "reported made.up"),
    "repeats a value": ("versions.basics.consume-classic", "."),
}
"""The case that notices a lie of `lying_kafka_python.py`, and words of its report."""

pytestmark = [JUDGES, pytest.mark.client]


def result(case: str, *command: str) -> CaseResult:
    """Run a case with a driver."""
    results: list[CaseResult] = []
    [selected] = select_cases(all_cases(), [case])
    argv = [sys.executable, *command]
    asyncio.run(run_cases(argv, [selected], RELEASES[-1], results.append))
    return results[0]


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_noticed_and_named(lie: str) -> None:
    case, words = LIES[lie]
    seen = result(case, str(FOLDER / "lying_kafka_python.py"), lie)
    assert seen.outcome is CaseOutcome.FAILED
    assert re.search(words, f"{seen.expected}; {seen.observed}", re.DOTALL)


@pytest.mark.parametrize("case", sorted({case for case, _ in LIES.values()}))
def test_the_honest_driver_passes_the_case(case: str) -> None:
    seen = result(case, str(DRIVERS / "kafka_python_driver.py"))
    assert seen.outcome is CaseOutcome.PASSED, f"{seen.expected}; {seen.observed}"
