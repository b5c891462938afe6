"""Records how brokers change their key stores and trust stores while they run."""

import shutil
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig as ReplacedConfig,
    AlterConfigsRequest,
    AlterConfigsResource as ReplacedResource,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.oracle.real_kafka import RealKafka, numbers
from tests.recordings.keystores.scenarios import BOTH, SCENARIOS, Alter, Copy, Describe, Look, Step
from tests.recordings.keystores.stores import write_stores
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps
from tests.support.commands import split
from tests.support.frames import request_frame, sized

PATIENCE_S: Final = 5
SETTLING_S: Final = 3.0
"""A real broker answers before it has loaded a new store."""
_SET, _DELETE = 0, 1
_SERVED, _REJECTED, _NO_HANDSHAKE = "served", "rejected", "no handshake"


class Broker(NamedTuple):
    """A broker's listeners, its stores, and how long its changes take to apply."""

    plain: str
    ssl: str
    folder: Path
    identities: Mapping[bytes, str]
    settling_s: float = 0


class _KafkaWithStores(RealKafka):
    """A real broker with a TLS listener, whose settings name stores in `@/`."""

    def __init__(self, release: str, mode: str, settings: Mapping[str, str]) -> None:
        super().__init__(release, mode, {"ssl.": "", **settings})
        self.stores = self.folder / "stores"
        self.stores.mkdir()
        self.identities = write_stores(self.stores)
        self._settings = in_folder(settings, self.stores)


def in_folder(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the settings with the paths of stores in a folder, without empty ones."""
    return {name: value.replace("@/", f"{folder}/") for name, value in settings.items() if value}


@contextmanager
def _settled(kafka: _KafkaWithStores) -> Iterator[Broker]:
    broker = Broker(kafka.plain, kafka.ssl, kafka.stores, kafka.identities, SETTLING_S)
    while _look("", broker)[1] != _SERVED:  # it listens before it serves
        time.sleep(0.2)
    yield broker


def _settings(release: str) -> dict[str, str]:
    with_zookeeper = {"password.encoder.secret": "secret"} if numbers(release) < (3,) else {}
    return {"connection.failed.authentication.delay.ms": "0", **with_zookeeper, **BOTH}


def scenarios(release: str) -> list[str]:
    """Return the scenarios whose requests a release supports."""
    return [name for name, scenario in SCENARIOS.items() if numbers(release) >= scenario.since]


def played(name: str, broker: Broker) -> Steps:
    """Return what each step shows; settings that were altered are removed at the end."""
    steps = [
        (f"{at} {_label(step)}", _take(step, broker))
        for at, step in enumerate(SCENARIOS[name].steps)
    ]
    _take(Alter({}, replaces_all=True), broker)
    return steps


def _label(step: Step) -> str:
    match step:
        case Alter(settings):
            return "alter " + " ".join(name.rpartition("ssl.")[2] for name in settings)
        case Copy(source):
            return f"copy {source}"
        case Look(client):
            return f"look {client}".strip()
        case _:
            return "describe"


def _take(step: Step, broker: Broker) -> Any:
    match step:
        case Alter():
            code = _alter(step, broker)
            time.sleep(broker.settling_s)
            return code
        case Copy(source, target):
            shutil.copyfile(broker.folder / source, broker.folder / target)
            return None
        case Look(client):
            return _look(client, broker)
        case Describe():
            return _describe(broker)


def _alter(change: Alter, broker: Broker) -> int:
    values = [(name, _value(text, broker.folder)) for name, text in change.settings.items()]
    kind = ConfigResourceType.BROKER
    with connect(broker.plain) as admin:
        if change.replaces_all:
            rows = [ReplacedConfig(name, value) for name, value in values]
            response = admin.send_request(
                ApiKey.ALTER_CONFIGS,
                AlterConfigsRequest([ReplacedResource(kind, "1", rows)], change.validate_only),
            )
        else:
            changes = [
                AlterableConfig(name, _DELETE if value is None else _SET, value)
                for name, value in values
            ]
            response = admin.send_request(
                ApiKey.INCREMENTAL_ALTER_CONFIGS,
                IncrementalAlterConfigsRequest(
                    [AlterConfigsResource(kind, "1", changes)], change.validate_only
                ),
            )
    return int(response.responses[0].error_code)


def _value(text: str | None, folder: Path) -> str | None:
    if text is not None and text.startswith("@="):
        return (folder / text.removeprefix("@=")).read_text()
    return None if text is None else text.replace("@/", f"{folder}/")


def _describe(broker: Broker) -> dict[str, Any]:
    """Return all that the broker shows of the settings of its listeners."""
    resource = DescribeConfigsResource(ConfigResourceType.BROKER, "1", None)
    with connect(broker.plain) as admin:
        request = DescribeConfigsRequest([resource], include_synonyms=True)
        response = admin.send_request(ApiKey.DESCRIBE_CONFIGS, request)
    return {
        config.name: [
            _shown(config.value, broker),
            config.config_source,
            config.config_type,
            config.is_sensitive,
            config.read_only,
            [[row.name, _shown(row.value, broker), row.source] for row in config.synonyms],
        ]
        for config in sorted(response.results[0].configs, key=lambda config: config.name)
        if config.name.startswith("listener.name.")
    }


def _shown(value: str | None, broker: Broker) -> str | None:
    return None if value is None else value.replace(f"{broker.folder}/", "@/")


def _look(client: str, broker: Broker) -> list[str]:
    """Return whose certificate the broker has, and what becomes of a client with one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if client:
        context.load_cert_chain(broker.folder / f"{client}.pem")
    host, port = split(broker.ssl)
    certificate = b""
    try:
        with (
            socket.create_connection((host, port), PATIENCE_S) as plain,
            context.wrap_socket(plain) as secure,
        ):
            certificate = secure.getpeercert(binary_form=True) or b""
            secure.sendall(
                sized(request_frame(ApiKey.API_VERSIONS, 0, ApiVersionsRequest(), 1, "tests"))
            )
            outcome = _SERVED if secure.recv(4) else _REJECTED
    except (OSError, TimeoutError):
        outcome = _REJECTED if certificate else _NO_HANDSHAKE
    return [broker.identities.get(certificate, ""), outcome]


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    scenarios,
    played,
    _settings,
    own_settings={
        name: {**dict.fromkeys(BOTH, ""), **scenario.settings}
        for name, scenario in SCENARIOS.items()
        if scenario.settings is not BOTH
    },
    start=_KafkaWithStores,
    connect=_settled,
)
