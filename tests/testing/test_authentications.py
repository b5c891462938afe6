"""A test sees who was authenticated, who was refused, and why."""

import pytest

from kafka_shim.client.client import ClientError, connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.testing import KafkaBroker, start
from kafka_shim.testing.transport import BrokerError

ONLY_SCRAM = {"sasl.enabled.mechanisms": "SCRAM-SHA-512"}


def attempt(broker: KafkaBroker, mechanism: str, password: str) -> None:
    login = Login(mechanism, "alice", password)
    config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)
    connect(broker.listeners["SASL_PLAINTEXT"], config).close()


def test_authentications_are_listed_with_their_errors() -> None:
    with start(in_process=True, users={"alice": "secret"}, properties=ONLY_SCRAM) as broker:
        attempt(broker, "SCRAM-SHA-512", "secret")
        first = broker.last_authentication()
        for mechanism in ("SCRAM-SHA-512", "SCRAM-SHA-512", "PLAIN"):
            with pytest.raises(ClientError):
                attempt(broker, mechanism, "wrong")
        rows = broker.authentications()
        assert [(row.user, row.mechanism, row.error is None) for row in rows] == [
            ("alice", "SCRAM-SHA-512", True),
            ("alice", "SCRAM-SHA-512", False),
            ("alice", "SCRAM-SHA-512", False),
            (None, "PLAIN", False),
        ]
        assert broker.authentications(after=first) == rows[1:]
        [(title, report)] = broker.denial_report().sections
        assert title == "Not authenticated by the Kafka broker"
        text = report.splitlines()
        assert text[0].startswith("alice was refused on SASL_PLAINTEXT by SCRAM-SHA-512: ")
        assert text[0].endswith("(enabled: SCRAM-SHA-512), 2 times")
        assert "by PLAIN: the mechanism is not enabled" in text[1]
        broker.reset()
        assert broker.authentications() == []


def test_the_mechanism_is_one_that_is_enabled() -> None:
    with start(in_process=True, properties=ONLY_SCRAM) as broker:
        assert broker.config("alice")["sasl.mechanism"] == "SCRAM-SHA-512"
        with pytest.raises(ValueError, match="mechanism `SCRAM-512`; did you mean `SCRAM-SHA-"):
            broker.config("alice", mechanism="SCRAM-512")
        with pytest.raises(ValueError, match="mechanism `PLAIN`; expected one of SCRAM-SHA-512"):
            broker.config("alice", mechanism="PLAIN")


def test_a_user_without_a_password_mechanism_is_an_error() -> None:
    with (
        start(in_process=True, properties={"sasl.enabled.mechanisms": "OAUTHBEARER"}) as broker,
        pytest.raises(BrokerError, match="no enabled mechanism takes a password: OAUTHBEARER"),
    ):
        broker.config("alice")


def test_a_misspelt_property_is_an_error() -> None:
    with pytest.raises(BrokerError, match=r"did you mean `auto.create.topics.enable`"):
        start(in_process=True, properties={"auto.create.topic.enable": "false"})
