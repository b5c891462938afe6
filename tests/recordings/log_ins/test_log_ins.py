"""Responses of real brokers to clients that log in, release by release."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.testing import KafkaBroker, start
from tests.recordings.comparing import recorded_pairs
from tests.recordings.log_ins.recording import KIND, played
from tests.recordings.log_ins.scenarios import PASSWORD, SCENARIOS, USER

UNLIKE = {("0.11.0.3", "plaintext-nothing"): "after an empty frame it never responds"}
"""Behaviour of real brokers that the shim does not imitate, by release and scenario."""

PAIRS = [pair for pair in recorded_pairs(KIND) if pair not in UNLIKE]


class _Shims:
    """Starts a broker for each release and settings on first use."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self._brokers: dict[tuple[str, bool], KafkaBroker] = {}

    def of(self, release: str, name: str) -> "_Addresses":
        at = (release, SCENARIOS[name].renews)
        if at not in self._brokers:
            broker = start(
                kafka_version=parse_minor_release(release),
                users={USER: PASSWORD},
                properties={"sasl.enabled.mechanisms": "PLAIN", **KIND.settings_of(release, name)},
                authorizer="none",
                in_process=True,
            )
            self._brokers[at] = self.stack.enter_context(broker)
        return _Addresses(self._brokers[at])


class _Addresses:
    def __init__(self, broker: KafkaBroker) -> None:
        self.plain = broker.listeners["PLAINTEXT"]
        self.sasl = broker.listeners["SASL_PLAINTEXT"]


@pytest.fixture(scope="module")
def shims() -> Iterator[_Shims]:
    found = _Shims()
    with found.stack:
        yield found


@pytest.mark.parametrize(("release", "name"), PAIRS)
def test_responses_equal_those_of_the_real_broker(shims: _Shims, release: str, name: str) -> None:
    assert played(name, shims.of(release, name)) == KIND.recordings.steps(release, name)


def test_releases_of_both_kinds_were_recorded() -> None:
    assert {"0.11.0.3", "2.8.2", "4.3.1", "4.4.0"} <= set(KIND.recordings.releases())
