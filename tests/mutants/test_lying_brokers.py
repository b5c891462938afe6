"""Brokers with one wrong rule, or with one lie in their responses: vectors catch and name each."""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_shim.conformance.vectors.report import VectorReport, as_text
from kafka_shim.conformance.vectors.runner import (
    BrokerAddresses,
    VectorOutcome,
    VectorResult,
    VectorRunner,
)
from kafka_shim.conformance.vectors.vector_files import VectorFile, read_vector_file
from tests.docs.shown import ROOT
from tests.mutants.lies import LIES
from tests.mutants.lying_proxy import lying_proxies
from tests.mutants.plain_authorizer import PlainAuthorizer
from tests.mutants.wrong_authorizers import WRONG_AUTHORIZERS, NothingDeleted, PrefixedDenyIgnored
from tests.recordings.test_vectors import shim_of
from tests.recordings.vectors import FOLDER
from tests.support.checked_folders import JUDGES

pytestmark = [JUDGES, pytest.mark.folders("docs/guides/vectors.md")]

RULES = FOLDER / "4.4.0" / "rules.json"
WAIT_S = 0.3
EVERY = 12
"""Each twelfth mutant is planted in all runs, the others in heavy ones."""


@cache
def rules() -> VectorFile:
    return read_vector_file(RULES)


def some(mutants: Sequence[Any]) -> list[Any]:
    """Return the mutants as parameters, of which most are heavy."""
    heavy = [pytest.mark.heavy]
    return [
        pytest.param(each, id=str(number), marks=heavy if number % EVERY else [])
        for number, each in enumerate(mutants)
    ]


def report_on(addresses: BrokerAddresses) -> VectorReport:
    results: list[VectorResult] = []
    runner = VectorRunner(addresses, wait_s=WAIT_S)
    try:
        runner.run_file(rules(), results.append)
    finally:
        runner.close()
    return VectorReport("the broker", tuple(results))


def summary_of(report: VectorReport) -> str:
    """Return a report without its examples, which begin with the id of a vector."""
    text = as_text(report)
    return re.sub(r"\n4\.4\.0/rules/.*?(?=\n\nnot |\Z)", "", text, flags=re.DOTALL)


def authorizer_name(authorizer: type) -> str:
    return f"{authorizer.__module__}:{authorizer.__name__}"


def test_sixty_mutants_are_planted() -> None:
    assert len(WRONG_AUTHORIZERS) + len(LIES) >= 60


def test_an_own_authorizer_changes_nothing_but_decisions() -> None:
    for name in ("rules", "access-matrix", "stories"):
        vectors = read_vector_file(FOLDER / "4.4.0" / f"{name}.json")
        results: list[VectorResult] = []
        with shim_of(vectors, authorizer_name(PlainAuthorizer)) as addresses:
            runner = VectorRunner(addresses)
            runner.run_file(vectors, results.append)
            runner.close()
        assert {each.outcome for each in results} == {VectorOutcome.EQUAL}


@pytest.mark.parametrize("authorizer", some(WRONG_AUTHORIZERS))
def test_a_wrong_rule_is_caught_by_its_name(authorizer: type[PlainAuthorizer]) -> None:
    with shim_of(rules(), authorizer_name(authorizer)) as addresses:
        report = report_on(addresses)
    assert not report.has_passed
    assert re.search(authorizer.mistake, summary_of(report)), as_text(report)


def test_a_proxy_that_tells_the_truth_passes() -> None:
    with shim_of(rules()) as addresses, lying_proxies(addresses, lambda *told: told[2]) as proxies:
        assert report_on(proxies).has_passed


@pytest.mark.parametrize("mistake", some(list(LIES)))
def test_a_lie_in_responses_is_caught_by_its_name(mistake: str) -> None:
    with shim_of(rules()) as addresses, lying_proxies(addresses, LIES[mistake]) as proxies:
        report = report_on(proxies)
    assert not report.has_passed
    assert re.search(mistake, summary_of(report)), as_text(report)


def test_each_rule_has_three_vectors_of_different_requests() -> None:
    asked: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for group in rules().groups:
        asked[group.rule] |= {(each.when.api, each.when.version) for each in group.vectors}
    assert [rule for rule, requests in asked.items() if len(requests) < 3] == []
    assert len(asked) > 100


def run(addresses: BrokerAddresses) -> "subprocess.CompletedProcess[str]":
    """Run the rules on the command line."""
    command = [sys.executable, "-m", "kafka_shim", "vectors", "run", str(RULES)]
    command += ["--bootstrap-server", addresses.super_users, "--sasl-server", addresses.users]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)


def test_a_broker_without_mistakes_passes() -> None:
    with shim_of(rules()) as addresses:
        done = run(addresses)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "0 different, 0 not served, 0 not set up" in done.stdout


def test_a_broker_that_deletes_nothing_is_given_up_with_the_acl() -> None:
    with shim_of(rules(), authorizer_name(NothingDeleted)) as addresses:
        done = run(addresses)
    assert done.returncode == 3, done.stderr
    assert "the broker still holds the ACL {principal: User:bob, " in done.stdout


def test_the_report_on_the_page_is_that_of_a_broker() -> None:
    with shim_of(rules(), authorizer_name(PrefixedDenyIgnored)) as addresses:
        report = report_on(addresses)
    text = summary_of(replace(report, broker="127.0.0.1:9092"))
    page = (ROOT / "docs" / "guides" / "vectors.md").read_text(encoding="utf-8")
    assert f"```\n{text.strip()}\n```" in page
