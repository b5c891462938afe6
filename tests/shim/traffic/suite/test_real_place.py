"""Cases against a cluster that is reached by Kafka's own requests alone: here one of ours."""

import asyncio
import sys
from functools import partial
from pathlib import Path

from confluent_kafka.admin import AdminClient

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.traffic.suite.case import Outcome, Result
from kafka_shim.shim.traffic.suite.cases import all_cases
from kafka_shim.shim.traffic.suite.play import chosen, play
from kafka_shim.shim.traffic.suite.real_place import RealPlaces
from kafka_shim.shim.traffic.suite.stages import DEFAULT_SETUP, PASSWORD, USER
from kafka_shim.testing import start

DRIVERS = Path(__file__).parents[4] / "conformance" / "drivers"
LIBRDKAFKA = [sys.executable, str(DRIVERS / "confluent_kafka_driver.py")]
PATTERNS = ["denials.delete-topic.*", "denials.group-offsets.*", "versions.basics.transaction"]


def test_cases_are_set_up_by_requests_and_leave_nothing_behind() -> None:
    results: list[Result] = []
    with start(users={USER: PASSWORD}) as broker:
        servers = broker.listeners
        admin = AdminClient(broker.config())
        places = partial(RealPlaces, servers, RELEASES[-1])
        cases = chosen(all_cases(), PATTERNS)
        asyncio.run(play(LIBRDKAFKA, cases, RELEASES[-1], results.append, places=places))
        assert not [name for name in admin.list_topics(timeout=5).topics if name[0] != "_"]
        assert broker.acls.list() == []
    assert [result.outcome for result in results] == [Outcome.PASSED] * 6
    assert all(result.frames == () for result in results)


def test_cases_for_any_real_cluster_change_no_brokers() -> None:
    real = [case for case in all_cases() if case.is_real]
    assert sum(not case.is_own and case.setup == DEFAULT_SETUP for case in real) >= 180
    assert all(case.is_own for case in real if case.setup.brokers > 1)
    assert not any(case.is_own and not case.is_real for case in all_cases())
