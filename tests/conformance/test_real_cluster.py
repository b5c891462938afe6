"""Cases on a cluster that is prepared by Kafka requests only, here a broker of the shim."""

import asyncio
import sys
from functools import partial
from pathlib import Path

from confluent_kafka.admin import AdminClient

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.fixtures import DEFAULT_SETUP, PASSWORD, USER
from kafka_shim.conformance.real_cluster import RealClusterProvider
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.testing import start

DRIVERS = Path(__file__).parents[2] / "conformance" / "drivers"
LIBRDKAFKA = [sys.executable, str(DRIVERS / "confluent_kafka_driver.py")]
RETRIES = [sys.executable, str(Path(__file__).parent / "mutant_driver.py"), "retries"]
PATTERNS = ["denials.delete-topic.*", "denials.group-offsets.*", "versions.basics.transaction"]


def test_cases_are_set_up_by_requests_and_leave_nothing_behind() -> None:
    results: list[CaseResult] = []
    with start(users={USER: PASSWORD}) as broker:
        servers = broker.listeners
        admin = AdminClient(broker.config())
        clusters = partial(RealClusterProvider, servers, RELEASES[-1])
        cases = select_cases(all_cases(), PATTERNS)
        asyncio.run(run_cases(LIBRDKAFKA, cases, RELEASES[-1], results.append, clusters=clusters))
        assert not [name for name in admin.list_topics(timeout=5).topics if name[0] != "_"]
        assert broker.acls.list() == []
    assert [result.outcome for result in results] == [CaseOutcome.PASSED] * 6
    responded = [
        frame for result in results for frame in result.frames if frame.response is not None
    ]
    assert {"DeleteTopics", "OffsetFetch", "EndTxn"} <= {frame.api for frame in responded}


def test_requests_to_a_real_cluster_are_judged() -> None:
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), ["denials.delete-group.reports-error"])
    with start(users={USER: PASSWORD}) as broker:
        clusters = partial(RealClusterProvider, broker.listeners, RELEASES[-1])
        running = run_cases(RETRIES, cases, RELEASES[-1], results.append, clusters=clusters)
        asyncio.run(running)
    (failed,) = results
    assert failed.expected == (
        "at most 20 equal requests a second after GROUP_AUTHORIZATION_FAILED (30)"
    )


def test_logins_are_not_exercised_if_the_cluster_does_not_enable_their_mechanism() -> None:
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), ["logins.works.plain", "logins.*.scram-sha-256*"])
    plain = {"sasl.enabled.mechanisms": "PLAIN"}
    with start(users={USER: PASSWORD}, properties=plain) as broker:
        clusters = partial(RealClusterProvider, broker.listeners, RELEASES[-1])
        running = run_cases(LIBRDKAFKA, cases, RELEASES[-1], results.append, clusters=clusters)
        asyncio.run(running)
    ended = {result.case.id: (result.outcome, result.observed) for result in results}
    assert ended.pop("logins.works.plain") == (CaseOutcome.PASSED, "")
    missing = (CaseOutcome.NOT_EXERCISED, "the cluster does not enable SCRAM-SHA-256")
    assert set(ended.values()) == {missing}
    assert len(ended) == 4


def test_cases_for_any_real_cluster_change_no_brokers() -> None:
    real = [case for case in all_cases() if case.runs_on_real_cluster]
    assert (
        sum(not case.needs_cluster_control and case.setup == DEFAULT_SETUP for case in real) >= 180
    )
    assert all(case.needs_cluster_control for case in real if case.setup.brokers > 1)
    assert not any(
        case.needs_cluster_control and not case.runs_on_real_cluster for case in all_cases()
    )
