"""A broker for tests in Python: `start()` returns a `KafkaBroker`.

Tests import it from `kafka_shim.testing`. This package needs only the standard library; the
broker runs in a process of its own unless `in_process` is set.
"""

from typing import Protocol, Unpack

from kafka_shim.testing.broker import KafkaBroker
from kafka_shim.testing.options import Options

__all__ = ["BrokerFactory", "KafkaBroker", "start"]


def start(**options: Unpack[Options]) -> KafkaBroker:
    """Start a broker; use it in a `with`, or `stop()` it.

    The keywords are those of `Options`. Raise TypeError if a keyword is unknown or its value has a
    wrong type, BrokerError if the broker cannot start.
    """
    from kafka_shim.testing.settings import Settings  # noqa: PLC0415 - only those who start one need it

    settings = Settings(**options)
    settings.warn_about_ineffective_acls()
    if options.get("in_process"):
        from kafka_shim.testing.in_process import InProcessBroker  # noqa: PLC0415 - imports the whole broker

        return KafkaBroker(InProcessBroker(settings), settings)
    from kafka_shim.testing.process import BrokerProcess  # noqa: PLC0415 - as above

    return KafkaBroker(BrokerProcess(settings), settings)


class BrokerFactory(Protocol):
    """The type of the fixture `kafka_broker_factory`: `start`, for
    brokers that stop with the test.
    """

    def __call__(self, **options: Unpack[Options]) -> KafkaBroker:
        """Start a broker."""
