"""A replay to real brokers: over TLS with each mechanism, and with a broker that is killed."""

from pathlib import Path
from threading import Thread

import pytest

from kafka_shim.client.config import read_client_config
from kafka_shim.traces.replay.asking_again import LOST
from kafka_shim.traces.replay.report import report_lines
from tests.clients.rehearsal import real_brokers
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.real_kafka import missing_tools
from tests.traces.replay.recorded_clients import replay, run_clients, shims
from tests.traces.replay.test_tls_targets import LOGINS, REQUESTS, token, trace  # noqa: F401 -- fixtures

RELEASE = "4.4.0"

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.oracle,
    pytest.mark.skipif(bool(missing_tools()), reason=f"needs {missing_tools()}"),
]


def test_each_mechanism_authenticates_at_a_real_broker_over_tls(
    trace: Path,  # noqa: F811 -- a fixture
    token: str,  # noqa: F811 -- a fixture
    tmp_path: Path,
) -> None:
    with OperatedKafka(RELEASE, "authorizer", {}, scram=True, has_tls=True) as kafka:
        file = tmp_path / "tls.properties"
        file.write_text(
            "security.protocol=SSL\nssl.truststore.type=PEM\n"
            f"ssl.truststore.location={kafka.authority}\n"
        )
        report = replay(
            trace,
            kafka.ssl,
            kafka.listeners()["SASL_SSL"],
            users={"admin": "admin-secret", "alice": token},
            config=read_client_config(str(file)),
        )
    text = "\n".join(report_lines(report))
    assert {kind.cause for kind in report.counts_by_kind} <= {"release", "settings"}, text
    assert (report.responses, report.logins, report.unreplayable_count) == (REQUESTS, LOGINS, 0)


def test_a_real_broker_that_is_killed_makes_no_difference(tmp_path: Path) -> None:
    with shims(3, seed=1) as recorded:
        recorded.record(tmp_path)
        run_clients(recorded.plaintext, recorded.sasl)
    with real_brokers(RELEASE, 3) as brokers:

        def kill_broker() -> None:
            brokers[1].kill()
            starts.start()

        starts = Thread(target=brokers[1].start_again)
        plaintext, sasl = brokers[0].plain, brokers[0].sasl
        report = replay(tmp_path, plaintext, sasl, operate=kill_broker, timeout_s=60.0)
        starts.join()
    text = "\n".join(report_lines(report))
    assert report.unreplayable_count == 0, text
    assert {kind.cause for kind in report.counts_by_kind} <= {"release", "settings"}, text
    assert report.asked_again[LOST] > 0, text
