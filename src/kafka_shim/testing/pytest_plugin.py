"""The pytest plugin: `kafka_broker` and its relatives.

Everything beyond pytest is imported when the first broker starts: a session that needs none pays
nothing.
"""

import os
import sys
import warnings
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from typing import Unpack

    from kafka_shim.testing.broker_start import BrokerFactory, KafkaBroker
    from kafka_shim.testing.cassette import KafkaCassette
    from kafka_shim.testing.options import Options
    from kafka_shim.testing.policy import KafkaPolicy

MUTATION_RUN = "SHIM_MUTATION_RUN"
"""A variable that is set in a run with mutated ACLs; see `kafka_shim.shim.broker`."""

_IN_USE: "pytest.StashKey[list[_BrokerReport]]" = pytest.StashKey()
"""The brokers of a test."""

_WIDE: "pytest.StashKey[dict[str, KafkaBroker]]" = pytest.StashKey()
"""The running brokers of several tests, by the fixture that returns each."""

_CASSETTE: "pytest.StashKey[KafkaCassette]" = pytest.StashKey()
"""The cassette of a test, until its mismatches are reported."""

_FAILED: pytest.StashKey[bool] = pytest.StashKey()
"""Set if a test has failed, which says more than what it has set up without effect."""

_OBEYED: pytest.StashKey[set[str]] = pytest.StashKey()
"""The fixtures that a test got, which obey the markers of `_FIXTURE_OF_MARKER`."""

_FIXTURE_OF_MARKER = {
    "kafka_broker": "kafka_broker",
    "kafka_acls": "kafka_broker",
    "kafka_cassette": "kafka_cassette",
}
_OTHER_BROKERS = frozenset({"kafka_broker_session", "kafka_broker_module", "kafka_broker_factory"})

_USERS: pytest.StashKey[tuple[dict[str, tuple[Any, str]], set[str]]] = pytest.StashKey()
"""The session's ACLs of unknown users, by principal with a test and a text; and known users."""

_SHARED: "pytest.StashKey[dict[str, KafkaBroker]]" = pytest.StashKey()
"""The brokers of a session, by what they were started with."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("kafka_broker_version", "the Kafka release that brokers behave as")
    parser.addini(
        "kafka_broker_extra_config", "broker settings, one key=value a line", type="linelist"
    )
    parser.addini(
        "kafka_policy_acls", "files with the ACLs of kafka_policy, one a line", type="paths"
    )
    parser.addini(
        "kafka_broker_in_process", "run brokers inside the test process", type="bool", default=False
    )
    parser.addini(
        "kafka_broker_startup_timeout", "seconds after which a broker must be ready (default: 30)"
    )
    parser.addini(
        "kafka_cassette_upstream",
        "the cluster that cassettes are recorded with: HOST:PORT or LISTENER=HOST:PORT, one a line",
        type="linelist",
    )
    parser.addini(
        "kafka_cassette_upstream_config", "client properties for this cluster", type="paths"
    )
    group = parser.getgroup("kafka-shim")
    group.addoption(
        "--kafka-cassette-mode",
        choices=("none", "once", "new-episodes", "all"),
        help="how kafka_cassette plays and records (default: once with an upstream, else none)",
    )
    group.addoption(
        "--kafka-cassette-upstream",
        action="append",
        metavar="[LISTENER=]HOST:PORT",
        help="the cluster that cassettes are recorded with (repeatable)",
    )
    group.addoption(
        "--kafka-mutate-acls",
        action="store_true",
        help="run the tests several times, each time with one wrong ACL, and print which tests"
        " notice",
    )
    group.addoption(
        "--kafka-min-score",
        type=float,
        default=0.0,
        metavar="SCORE",
        help="exit with 3 if --kafka-mutate-acls finds a smaller share of mutants noticed",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kafka_acls(*rules, **rule): ACLs that kafka_broker has from the start of the test, as"
        " rules: {'principal': 'alice', 'allow': 'Write', 'topic': 'orders'}, or one by keywords",
    )
    config.addinivalue_line(
        "markers",
        "kafka_cassette(name, match='order', users={}, masks=(), on_mismatch='INVALID_REQUEST',"
        " speed=None, accept_damage=False):"
        " the cassette that kafka_cassette plays, cassettes/NAME.ktrace next to the test",
    )
    config.addinivalue_line(
        "markers",
        "kafka_broker(**options): keywords with which kafka_broker is started, such as"
        " kafka_version='3.9' or tls=True",
    )
    folder = os.environ.get(MUTATION_RUN)
    if folder is not None:
        from kafka_shim.testing.mutation.pytest_reporter import MutationReporter  # noqa: PLC0415 - see the module's docstring

        config.pluginmanager.register(MutationReporter(folder))
    config.stash[_SHARED] = {}
    config.stash[_WIDE] = {}
    config.stash[_USERS] = {}, set()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run pytest several times with mutated ACLs instead of once, if it is not such a run."""
    if not config.getoption("--kafka-mutate-acls") or MUTATION_RUN in os.environ:
        return None
    from kafka_shim.testing.mutation.command import MutationOptions, run_mutation_test  # noqa: PLC0415 - see the module's docstring

    command = [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    return run_mutation_test(
        command, MutationOptions(min_score=config.getoption("--kafka-min-score"))
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Warn after the last test about ACLs of users that no test had."""
    yield
    unknown, known = item.config.stash[_USERS] if nextitem is None else ({}, set())
    for principal, (node, text) in unknown.items():
        if principal not in known:
            from kafka_shim.testing.setup_warnings import SetupWarning  # noqa: PLC0415 - see the module's docstring

            node.warn(SetupWarning(text))


def pytest_unconfigure(config: pytest.Config) -> None:
    for broker in config.stash.get(_SHARED, {}).values():
        try:
            broker.stop()
        except Exception as error:  # noqa: BLE001 - the tests are over, and other brokers run
            sys.stderr.write(f"kafka-shim: note: a broker did not stop: {_error_text(error)}\n")


@pytest.fixture
def kafka_broker(request: pytest.FixtureRequest) -> Iterator["KafkaBroker"]:
    """Return a broker in its initial state: unauthenticated clients are allowed everything,
    users need ACLs.

    Its process is shared by the tests of the session with the same settings: those of the markers
    `kafka_broker(kafka_version="2.7", brokers=3)` of the test, its class and its module, and of an
    indirect parameter, a release (`"2.7"`) or a mapping. Each test has other ports, so that clients
    of earlier tests cannot reach it.
    """
    options = _marker_options(request.node) | _param_options(request)
    with _report_warnings_at_test(request.node):
        broker = _get_or_start_broker(request.config, options)
        for marker in request.node.iter_markers("kafka_acls"):
            if not marker.args and not marker.kwargs:
                raise pytest.UsageError("the marker kafka_acls has no ACL, as in allow='Read'")
            broker.acls.add(*marker.args, **marker.kwargs)
    _note_obeyed_markers(request.node, "kafka_broker")
    _attach_broker(request.node, _BrokerReport(broker))
    yield broker
    _check_setup(request.node, broker)


@pytest.fixture(scope="session")
def kafka_broker_session(request: pytest.FixtureRequest) -> Iterator["KafkaBroker"]:
    """Return a broker for all tests of the session, which only tests themselves reset."""
    with _report_warnings_at_test(request.node):
        broker = _start_broker(request.config, _param_options(request))
    with _track_shared_broker(request, broker):
        yield broker
        _check_setup(request.node, broker)
    broker.stop()


@pytest.fixture(scope="module")
def kafka_broker_module(request: pytest.FixtureRequest) -> Iterator["KafkaBroker"]:
    """Return a broker that keeps its state and its ports for all tests of a module."""
    with _report_warnings_at_test(request.node):
        broker = _get_or_start_broker(request.config, _param_options(request), "module")
    with _track_shared_broker(request, broker):
        yield broker
        _check_setup(request.node, broker)


@pytest.fixture
def kafka_broker_factory(request: pytest.FixtureRequest) -> Iterator["BrokerFactory"]:
    """Return a function that starts brokers: `kafka_broker_factory(kafka_version="2.7",
    brokers=3)`.

    They stop with the test. `in_process=True` runs one in a thread of this process.
    """
    with ExitStack() as started:

        def start(**options: "Unpack[Options]") -> "KafkaBroker":
            broker = _start_broker(request.config, options)
            used = _BrokerReport(broker)
            started.callback(broker.stop)
            started.callback(used.keep_report)
            started.callback(_check_setup, request.node, broker)
            _attach_broker(request.node, used)
            return broker

        yield start


@pytest.fixture(scope="session")
def kafka_policy(request: pytest.FixtureRequest) -> "KafkaPolicy":
    """Return decisions about the ACLs in the files of `kafka_policy_acls`, without a broker.

    For example, `kafka_policy.allows("User:alice", "Write", "topic:orders")`.
    """
    from kafka_shim.testing.policy import KafkaPolicy  # noqa: PLC0415 - see the module's docstring

    paths = request.config.getini("kafka_policy_acls")
    if not paths:
        raise pytest.UsageError("kafka_policy needs files: set kafka_policy_acls = acls.yaml")
    return KafkaPolicy(paths, request.config.getini("kafka_broker_version") or None)


@pytest.fixture
def kafka_cassette(request: pytest.FixtureRequest) -> Iterator["KafkaCassette"]:
    """Return recorded traffic that is played instead of a broker.

    It is named by the marker `kafka_cassette`, or as the test. A request that was not recorded
    fails the test.
    """
    cassette = request.node.stash[_CASSETTE] = _start_cassette(request)
    _note_obeyed_markers(request.node, "kafka_cassette")
    yield cassette
    mismatches = cassette.mismatches()
    if mismatches and _CASSETTE in request.node.stash:
        pytest.fail("\n".join([f"{cassette.path.name}:", *mismatches]), pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Fail a test whose markers no fixture of it can obey; note brokers of a wider scope."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if "request" not in fixtures:  # with it, a test can get fixtures while it runs
        _require_obeyed_markers(item, fixtures)
    wide = item.config.stash[_WIDE]
    running = fixtures.intersection(wide)
    for name in running:
        used = _BrokerReport(wide[name])
        used.skip_previous()
        _attach_broker(item, used)
    try:
        yield
    finally:
        for name in fixtures.intersection(wide) - running:
            _attach_broker(item, _BrokerReport(wide[name]))


@pytest.hookimpl(tryfirst=True)  # before -k leaves tests out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Fail on markers of a class or a module none of whose tests has a broker that obeys them."""
    if any("::" in str(word) for word in config.args) or config.getoption("lf", default=False):
        return  # the tests that were not chosen are unknown
    obeying: dict[tuple[Any, str], bool] = {}
    for item in items:
        for node, marker in item.iter_markers_with_node():
            fixture = _FIXTURE_OF_MARKER.get(marker.name)
            if fixture is not None and node is not item:
                names = getattr(item, "fixturenames", ())
                key = node, marker.name
                obeying[key] = obeying.get(key, False) or fixture in names or "request" in names
    for (node, name), is_obeyed in obeying.items():
        if not is_obeyed:
            fixture = _FIXTURE_OF_MARKER[name]
            raise pytest.UsageError(
                f"{node.nodeid}: the marker {name} has no effect, since no test there uses the"
                f" fixture {fixture}"
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that never got a fixture that obeys its markers."""
    yield
    if "request" in getattr(item, "fixturenames", ()):
        obeyed: set[str] = item.stash.get(_OBEYED, set())
        _require_obeyed_markers(item, obeyed)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add denials and refused authentications to the report of a failed test."""
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        for used in item.stash.get(_IN_USE, []):
            report.sections.extend(used.new_sections())
    if call.when == "call" and report.failed and _CASSETTE in item.stash:
        cassette = item.stash[_CASSETTE]
        del item.stash[_CASSETTE]
        mismatches = _cassette_mismatches(cassette)
        if mismatches:
            report.sections.append((f"Not in the cassette {cassette.path.name}", mismatches))
            item.user_properties.append(("kafka_cassette_mismatches", mismatches))  # JUnit XML
    return report


class _BrokerReport:
    """A broker of a test, and what has been reported of it."""

    def __init__(self, broker: "KafkaBroker") -> None:
        self.broker = broker
        self._last: dict[str, int] = {}
        self._kept: list[tuple[str, str]] | None = None

    def skip_previous(self) -> None:
        """Report only what happens from now on."""
        try:
            self._new_sections()
        except Exception:  # noqa: BLE001 - whether the test needs the broker is for the test to say
            self._last = {}

    def keep_report(self) -> None:
        """Keep what is new for a failure that is reported when the broker has stopped."""
        self._kept = self.new_sections()

    def new_sections(self) -> list[tuple[str, str]]:
        """Return titles with texts, or why they are unknown; an exception here would end the
        session.
        """
        if self._kept is not None:
            sections, self._kept = self._kept, []
            return sections
        try:
            return self._new_sections()
        except Exception as error:  # noqa: BLE001 - the docstring says why
            return [("Denied by the Kafka broker", _printable(f"unknown: {_error_text(error)}"))]

    def _new_sections(self) -> list[tuple[str, str]]:
        report = self.broker.denial_report(**self._last)
        self._last = {"after": report.last, "after_authentication": report.last_authentication}
        return [(title, _printable(text)) for title, text in report.sections]


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _cassette_mismatches(cassette: "KafkaCassette") -> str:
    """Return the mismatches, or why they are unknown; an exception here would end the session."""
    try:
        return "\n".join(cassette.mismatches())
    except Exception as error:  # noqa: BLE001 - the docstring says why
        return f"unknown: {_error_text(error)}"


def _start_cassette(request: pytest.FixtureRequest) -> "KafkaCassette":
    from kafka_shim.testing.cassette import KafkaCassette  # noqa: PLC0415 - see the module's docstring

    config = request.config
    marker = request.node.get_closest_marker("kafka_cassette")
    names, keywords = (marker.args, marker.kwargs) if marker is not None else ((), {})
    name = (
        str(names[0])
        if names
        else "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    )
    upstream = config.getoption("--kafka-cassette-upstream") or config.getini(
        "kafka_cassette_upstream"
    )
    files = config.getini("kafka_cassette_upstream_config")
    mode = config.getoption("--kafka-cassette-mode") or ("once" if upstream else "none")
    path = request.path.parent / "cassettes" / f"{name}.ktrace"
    addresses = {"upstream": upstream, "upstream_config": files[:1]}
    return KafkaCassette(path, mode=mode, **addresses, **keywords)


def _note_obeyed_markers(node: Any, fixture: str) -> None:
    node.stash.setdefault(_OBEYED, set()).add(fixture)


def _require_obeyed_markers(item: pytest.Item, fixtures: Collection[str]) -> None:
    """Fail if a marker needs a fixture that the test lacks. Markers of a class or a module are for
    those of its tests that use the fixture, but a test with another broker would miss them.
    """
    for node, marker in item.iter_markers_with_node():
        fixture = _FIXTURE_OF_MARKER.get(marker.name)
        if fixture is None or fixture in fixtures:
            continue
        others = _OTHER_BROKERS.intersection(getattr(item, "fixturenames", ()))
        if node is item or others:
            instead = f" instead of {', '.join(sorted(others))}" if others else ""
            pytest.fail(
                f"the marker {marker.name} has no effect: use the fixture {fixture}{instead}",
                pytrace=False,
            )


def _check_setup(node: Any, broker: "KafkaBroker") -> None:
    """Warn about what a test has set up without effect; fail if a fault had to fire.

    Unknown users are for the end of the session, since another test can be theirs.
    """
    from kafka_shim.testing.setup_warnings import UnmetFaultError  # noqa: PLC0415 - see the module's docstring
    from kafka_shim.testing.transport import BrokerError  # noqa: PLC0415 - as above

    failure = ""
    with _report_warnings_at_test(node):
        try:
            unknown, known = node.config.stash[_USERS]
            known.update(f"User:{name}" for name in broker.user_names)
            for principal, text in broker.check_faults().items():
                unknown.setdefault(principal, (node, text))
        except UnmetFaultError as error:
            failure = str(error)
        except BrokerError:
            return  # the test has stopped it
    if failure and not node.stash.get(_FAILED, False):
        pytest.fail(failure, pytrace=False)


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _attach_broker(node: Any, used: _BrokerReport) -> None:
    node.stash.setdefault(_IN_USE, []).append(used)


@contextmanager
def _track_shared_broker(request: pytest.FixtureRequest, broker: "KafkaBroker") -> Iterator[None]:
    """Let the reports of tests have what each of them did with a broker of a wider scope."""
    brokers, name = request.config.stash[_WIDE], str(request.fixturename)
    brokers[name] = broker
    try:
        yield
    finally:
        del brokers[name]


@contextmanager
def _report_warnings_at_test(node: Any) -> Iterator[None]:
    """Report warnings at the line of the test, which no frame of the stack has."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for each in caught:
        node.warn(each.message)


def _marker_options(node: Any) -> dict[str, Any]:
    """Return the keywords of the markers `kafka_broker`; the nearest one takes precedence."""
    options: dict[str, Any] = {}
    for marker in node.iter_markers("kafka_broker"):
        if marker.args:
            raise pytest.UsageError("the marker kafka_broker takes keywords, as in tls=True")
        options = {**marker.kwargs, **options}
    return options


def _param_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    param = getattr(request, "param", None)
    if isinstance(param, Mapping):
        return dict(param)
    return {} if param is None else {"kafka_version": param}


def _get_or_start_broker(
    config: pytest.Config, options: Mapping[str, Any], scope: str = "function"
) -> "KafkaBroker":
    """Return the session's broker of a scope with these settings, reset; a new one if there is
    none.
    """
    from kafka_shim.testing.transport import BrokerError  # noqa: PLC0415 - see the module's docstring

    brokers = config.stash[_SHARED]
    key = f"{scope} {sorted(options.items())!r}"
    if key in brokers:
        try:
            brokers[key].reset(new_ports=True)
        except BrokerError:  # a test has stopped it
            brokers.pop(key).stop()
        else:
            return brokers[key]
    brokers[key] = _start_broker(config, options)
    return brokers[key]


def _start_broker(config: pytest.Config, given_options: Mapping[str, Any]) -> "KafkaBroker":
    from kafka_shim.testing.broker_start import start  # noqa: PLC0415 - see the module's docstring

    options = dict(given_options)
    if options.get("kafka_version") is None:
        options["kafka_version"] = config.getini("kafka_broker_version") or None
    options.setdefault("in_process", config.getini("kafka_broker_in_process"))
    options.setdefault("startup_timeout", _startup_timeout(config))
    properties = options.get("properties") or {}
    if isinstance(properties, Mapping):  # otherwise `start` says what is wrong
        lines = config.getini("kafka_broker_extra_config")
        pairs = (line.partition("=") for line in lines)
        extra = {key.strip(): value.strip() for key, _, value in pairs}
        options["properties"] = extra | dict(properties)
    return start(**options)


def _startup_timeout(config: pytest.Config) -> float | None:
    text = config.getini("kafka_broker_startup_timeout")
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise pytest.UsageError(
            f"kafka_broker_startup_timeout is `{text}`: expected seconds, such as 60"
        ) from None
