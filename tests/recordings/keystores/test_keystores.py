"""Real brokers' changes of key stores and trust stores, release by release."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.testing import start
from tests.recordings.comparing import differences, recorded_pairs
from tests.recordings.keystores.recording import KIND, Broker, in_folder, played
from tests.recordings.keystores.stores import write_stores
from tests.recordings.store import Steps

pytestmark = pytest.mark.folders(
    "src/kafka_shim/shim/network",
    "src/kafka_shim/shim/tls",
    "src/kafka_shim/shim/handlers/common",
    "src/kafka_shim/shim/state/settings",
    "tests/recordings/keystores",
)
ADDRESS = "127.0.0.1:0"


class Stores:
    """A folder with all stores, and whose they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.identities: Mapping[bytes, str] = write_stores(folder)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


def play_on_shim(stores: Stores, release: str, name: str) -> Steps:
    """Return the steps of a scenario on the shim."""
    with start(
        kafka_version=release,
        listeners=[f"{protocol}://{ADDRESS}" for protocol in ("PLAINTEXT", "SSL")],
        properties=in_folder(KIND.settings_of(f"{release}.0", name), stores.folder),
        authorizer="none",
        in_process=True,
    ) as broker:
        plain, secure = (broker.listeners[protocol] for protocol in ("PLAINTEXT", "SSL"))
        return played(name, Broker(plain, secure, stores.folder, stores.identities))


@pytest.mark.parametrize(("release", "name"), recorded_pairs(KIND))
def test_stores_change_as_on_the_real_broker(stores: Stores, release: str, name: str) -> None:
    steps = play_on_shim(stores, parse_minor_release(release), name)
    assert differences(KIND.recordings.steps(release, name), steps) == []


def test_a_truststore_is_loaded_in_1_1(stores: Stores) -> None:
    """Deviate from a real broker of 1.1.1, which goes on trusting the authority before."""
    steps = dict(play_on_shim(stores, "1.1", "replaced-all"))
    assert (steps["3 look client"], steps["4 look stranger"]) == (
        ["one", "rejected"],
        ["one", "served"],
    )


def test_a_rejected_keystore_is_replaced_by_the_static_one_in_3_0(stores: Stores) -> None:
    """Deviate from a real broker of 3.0.2, which goes on using the last one, `again`."""
    steps = dict(play_on_shim(stores, "3.0", "names"))
    assert (steps["1 look"], steps["3 look"]) == (["again", "served"], ["one", "served"])


def test_releases_with_and_without_kip_978_were_recorded() -> None:
    assert {"2.8.2", "3.9.1", "4.4.0"} <= set(KIND.recordings.releases())
