"""The same bytes as kafka-python, kio and an independent codec, in both directions.

Each library reads what we wrote and writes it again: any byte that differs shows. What a library
cannot do is listed here with the reason, and how much was compared is asserted.
"""

import importlib.util
import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import kio.index
import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from protocol.catalogue import classes
from protocol.codecs import reader, writer
from protocol.spec import FieldSpec, MessageSpec, StructSpec, load, snake_case
from tests.protocol.values import ALL_NAMES, Values, default_of, versions_of

SEEDS = 3
ORACLE = Path(__file__).parents[3] / "shared" / "oracle" / "wire.py"
Rewrite = Callable[[bytes], bytes]


def assert_same(name: str, version: int, message: Any, rewrite: Rewrite) -> None:
    data = writer(name, version)(message)
    assert rewrite(data) == data, (name, version)
    assert reader(name, version)(data, 0) == message


# --- kafka-python

KAFKA_PYTHON_MODULES = (
    "admin.acl", "admin.client_quotas", "admin.cluster", "admin.configs", "admin.groups",
    "admin.topics", "admin.transactions", "admin.users", "consumer.fetch", "consumer.group",
    "consumer.metadata", "consumer.offsets", "metadata.api_versions", "metadata.find_coordinator",
    "metadata.metadata", "producer.produce", "sasl",
)  # fmt: skip


def kafka_python_class(name: str) -> Any:
    for module_name in KAFKA_PYTHON_MODULES:
        module = import_module(f"kafka.protocol.{module_name}")
        if hasattr(module, name):
            return getattr(module, name)
    return None


def kafka_python_rewrite(cls: Any, version: int) -> Rewrite:
    def rewrite(data: bytes) -> bytes:
        message = cls.decode(data, version=version)
        message._header = None  # decoded messages lack it, and encode looks at it
        return bytes(message.encode(version=version))

    return rewrite


KAFKA_PYTHON_NAMES = [
    name
    for name in ALL_NAMES
    if load(name).type in ("request", "response") and kafka_python_class(name) is not None
]


def test_kafka_python_has_most_messages() -> None:
    pairs = [
        (name, version)
        for name in KAFKA_PYTHON_NAMES
        for version in versions_of(name)
        if version <= kafka_python_class(name).max_version
    ]
    assert len(KAFKA_PYTHON_NAMES) >= 90
    assert len(pairs) >= 450


@pytest.mark.parametrize("name", KAFKA_PYTHON_NAMES)
def test_kafka_python_agrees(name: str) -> None:
    cls = kafka_python_class(name)
    for version in versions_of(name):
        if version > cls.max_version:
            continue
        for seed in range(SEEDS):
            message = Values((name, version, seed), plain=True).message(load(name), version)
            if name == "ApiVersionsResponse":
                message.error_code = 0  # kafka-python reads any other error as version 0
            assert_same(name, version, message, kafka_python_rewrite(cls, version))


# --- kio


class KioValues(Values):
    """Keeps to what kio's Python types can hold."""

    def _integer(self, field: FieldSpec) -> int:
        if field.name.endswith("ErrorCode"):
            return self.random.choice(list(KioErrorCode)).value
        if field.name.endswith(("Ms", "Timestamp")):
            return self.random.choice((0, 1, 1_700_000_000))
        return super()._integer(field)


def kio_class(name: str, version: int) -> Any:
    """Return kio's class of a request or response, None if it has no such version."""
    api = snake_case(name.removesuffix("Request").removesuffix("Response"))
    if version not in schema_name_map.get(api, {}):
        return None
    module = (
        kio.index.load_entity_module(api, version, EntityType.request)
        if name.endswith("Request")
        else kio.index.load_entity_module(api, version, EntityType.response)
    )
    return getattr(module, name)


KIO_NAMES = [
    name
    for name in ALL_NAMES
    if load(name).type in ("request", "response") and kio_class(name, versions_of(name)[-1])
]


def test_kio_has_most_messages() -> None:
    pairs = [(n, v) for n in KIO_NAMES for v in versions_of(n) if kio_class(n, v) is not None]
    assert len(KIO_NAMES) >= 170
    assert len(pairs) >= 600


@pytest.mark.parametrize("name", KIO_NAMES)
def test_kio_agrees(name: str) -> None:
    for version in versions_of(name):
        if (cls := kio_class(name, version)) is None:
            continue
        read, write = entity_reader(cls), entity_writer(cls)

        def rewrite(data: bytes) -> bytes:
            out = io.BytesIO()
            write(out, read(data, 0)[0])  # noqa: B023 - called before the next turn
            return out.getvalue()

        for seed in range(SEEDS):
            message = KioValues((name, version, seed), plain=True).message(load(name), version)
            assert_same(name, version, message, rewrite)


# --- the codec beside the project, where it is there


def as_names(message: Any, struct: StructSpec, spec: MessageSpec, version: int) -> dict[str, Any]:
    """Say a message as nested dicts with Kafka's names, bytes as hexadecimal digits."""

    def value(field: FieldSpec, content: Any) -> Any:
        if content is None:
            return None
        if isinstance(content, list):
            return [value(field, item) for item in content]
        if field.struct:
            return as_names(content, field.struct, spec, version)
        return content.hex() if isinstance(content, bytes) else content

    found = {}
    for field in struct.fields:
        if field.versions.has(version):
            content = getattr(message, field.attribute)
            is_tagged = spec.flexible.has(version) and field.tagged.has(version)
            if not is_tagged or content != default_of(field, classes(spec.name)):
                found[field.name] = value(field, content)
    return found


def independent_wires() -> list[Any]:
    """Return the independent codec for the newest release, and for what it dropped."""
    module_spec = importlib.util.spec_from_file_location("independent_wire", ORACLE)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return [module.Wire("4.3.1"), module.Wire("3.9.1")]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # it leaves closing to Python
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not ORACLE.exists(), reason="the independent codec is not beside the project")
def test_independent_codec_agrees() -> None:
    wires = independent_wires()
    pairs = 0
    for name in ALL_NAMES:
        spec = load(name)
        if spec.type not in ("request", "response"):
            continue
        api = name.removesuffix("Request").removesuffix("Response")
        for version in versions_of(name):
            for wire in wires:
                table = wire.req if spec.type == "request" else wire.resp
                if api not in table or not wire.has(table[api]["validVersions"], version):
                    continue
                pairs += 1
                for seed in range(SEEDS):
                    message = Values((name, version, seed), plain=True).message(spec, version)
                    data = writer(name, version)(message)
                    decoded = wire.dec(table[api], data, version)
                    assert decoded == as_names(message, spec.struct, spec, version), (name, version)
                    assert wire.enc(table[api], decoded, version) == data, (name, version)
                break
    wanted = [n for n in ALL_NAMES if load(n).type in ("request", "response")]
    assert pairs == sum(len(versions_of(name)) for name in wanted)
