"""A broker for tests in Python: `start()` returns a `KafkaBroker`.

Tests import it from `kafka_shim.testing`. This package needs only the standard library; the
broker runs in a process of its own unless `in_process` is set.
"""

from typing import TYPE_CHECKING, Protocol, Unpack

from kafka_shim.testing.broker import KafkaBroker
from kafka_shim.testing.options import Options

if TYPE_CHECKING:
    from kafka_shim.testing.settings import Settings
    from kafka_shim.testing.transport import Transport

__all__ = ["BrokerFactory", "KafkaBroker", "start"]


def start(**options: Unpack[Options]) -> KafkaBroker:
    """Start a broker; use it in a `with`, or `stop()` it.

    The keywords are those of `Options`. Raise TypeError if a keyword is unknown or its value has a
    wrong type, BrokerError if the broker cannot start.
    """
    from kafka_shim.testing.settings import Settings  # noqa: PLC0415 - only those who start one need it

    settings = Settings(**options)
    settings.warn_about_acls_of_file()
    transport = _start_transport(settings, in_process=bool(options.get("in_process")))
    broker = KafkaBroker(transport, settings)
    rules = settings.initial_rules()
    if rules and settings.uses_acls:  # they exist already: only to be warned about
        broker.acls.add(*rules)
    return broker


def _start_transport(settings: "Settings", *, in_process: bool) -> "Transport":
    if in_process:
        from kafka_shim.testing.in_process import InProcessBroker  # noqa: PLC0415 - imports the whole broker

        return InProcessBroker(settings)
    from kafka_shim.testing.process import BrokerProcess  # noqa: PLC0415 - as above

    return BrokerProcess(settings)


class BrokerFactory(Protocol):
    """The type of the fixture `kafka_broker_factory`: `start`, for
    brokers that stop with the test.
    """

    def __call__(self, **options: Unpack[Options]) -> KafkaBroker:
        """Start a broker."""
