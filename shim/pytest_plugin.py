"""The pytest plugin: `kafka_broker` and its relatives.

Everything beyond pytest is imported when the first broker starts: a session that needs none pays
nothing.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from shim.testing import KafkaBroker

Factory = Callable[..., "KafkaBroker"]

_IN_USE: "pytest.StashKey[list[tuple[KafkaBroker, int]]]" = pytest.StashKey()
"""The brokers of a test, with the number of the last request before it."""

_SHARED: "pytest.StashKey[dict[str, KafkaBroker]]" = pytest.StashKey()
"""The brokers of a session, by what they were started with."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("kafka_broker_version", "the Kafka release that brokers behave as")
    parser.addini(
        "kafka_broker_extra_config", "broker settings, one key=value a line", type="linelist"
    )
    parser.addini(
        "kafka_broker_in_process", "run brokers inside the test process", type="bool", default=False
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kafka_acls(*rules, **rule): ACLs that kafka_broker has from the start of the test, as"
        " rules: {'principal': 'alice', 'allow': 'Write', 'topic': 'orders'}, or one by keywords",
    )
    config.stash[_SHARED] = {}


def pytest_unconfigure(config: pytest.Config) -> None:
    for broker in config.stash.get(_SHARED, {}).values():
        broker.stop()


@pytest.fixture
def kafka_broker(request: pytest.FixtureRequest) -> "KafkaBroker":
    """A broker as new; who does not log in may do everything, users what ACLs allow.

    Its process is shared by the tests of the session. Parametrize it indirectly to choose the
    release (`"2.7"`) or more of its settings (`{"kafka_version": "2.7", "brokers": 3}`).
    """
    broker = _shared(request.config, getattr(request, "param", None))
    broker.reset()
    for marker in request.node.iter_markers("kafka_acls"):
        broker.acls.add(*marker.args, **marker.kwargs)
    _note_use(request.node, broker)
    return broker


@pytest.fixture(scope="session")
def kafka_broker_session(request: pytest.FixtureRequest) -> Iterator["KafkaBroker"]:
    """A broker for all tests of the session, never reset but by the tests themselves."""
    broker = _start(request.config, getattr(request, "param", None))
    yield broker
    broker.stop()


@pytest.fixture
def kafka_broker_factory(request: pytest.FixtureRequest) -> Iterator[Factory]:
    """Starts brokers of one's own: `kafka_broker_factory(kafka_version="2.7", brokers=3)`.

    They end with the test. `in_process=True` runs one on a thread of this process.
    """
    started: list[KafkaBroker] = []

    def start(**config: Any) -> "KafkaBroker":
        broker = _start(request.config, config)
        started.append(broker)
        _note_use(request.node, broker)
        return broker

    yield start
    for broker in started:
        broker.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Remember where a session's broker was when the test began."""
    broker = getattr(item, "funcargs", {}).get("kafka_broker_session")
    if broker is not None:
        _note_use(item, broker, broker.last_request())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test tells what its brokers denied."""
    report = yield
    if call.when == "call" and report.failed:
        for broker, after in item.stash.get(_IN_USE, []):
            text = _denials(broker, after)
            if text:
                report.sections.append(("Denied by the Kafka broker", text))
    return report


def _denials(broker: "KafkaBroker", after: int) -> str:
    from shim.testing.denials import denials_text  # noqa: PLC0415 - only failed tests need it
    from shim.testing.transport import BrokerError  # noqa: PLC0415 - as above

    try:
        return denials_text(broker.denials(after=after))
    except BrokerError as error:  # the test ended it, or it died: that is worth telling, too
        return str(error)


def _note_use(node: Any, broker: "KafkaBroker", after: int = 0) -> None:
    node.stash.setdefault(_IN_USE, []).append((broker, after))


def _shared(config: pytest.Config, param: Any) -> "KafkaBroker":
    """The session's broker with these settings; a new one the first time."""
    brokers = config.stash[_SHARED]
    key = repr(param)
    if key not in brokers:
        brokers[key] = _start(config, param)
    return brokers[key]


def _start(config: pytest.Config, param: Any) -> "KafkaBroker":
    from shim.testing import start  # noqa: PLC0415 - see the module's docstring

    settings = dict(param) if isinstance(param, Mapping) else {"kafka_version": param}
    if settings.get("kafka_version") is None:
        settings["kafka_version"] = config.getini("kafka_broker_version") or None
    settings.setdefault("in_process", config.getini("kafka_broker_in_process"))
    lines = config.getini("kafka_broker_extra_config")
    extra = {key.strip(): value.strip() for key, _, value in (one.partition("=") for one in lines)}
    settings["properties"] = extra | dict(settings.get("properties", {}))
    return start(**settings)
