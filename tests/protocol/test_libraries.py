"""The same bytes as kafka-python and kio, in both directions.

Each library decodes a message that the codecs encoded, and encodes it again; the bytes must be
equal. Messages that a library does not support are listed here with the reason, and the number of
messages compared is asserted.
"""

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

import kio.index
import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from kafka_shim.protocol.codec.codecs import message_reader, message_writer
from kafka_shim.protocol.codec.message_spec import FieldSpec, load_message_spec, snake_case
from tests.protocol.values import ALL_NAMES, Values, versions_of

pytestmark = pytest.mark.deep

SEEDS = 3
Rewrite = Callable[[bytes], bytes]


def assert_same(name: str, version: int, message: Any, rewrite: Rewrite) -> None:
    data = message_writer(name, version)(message)
    assert rewrite(data) == data, (name, version)
    assert message_reader(name, version)(data, 0) == message


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
        message._header = None  # encode reads this attribute, which decoded messages lack
        return bytes(message.encode(version=version))

    return rewrite


KAFKA_PYTHON_NAMES = [
    name
    for name in ALL_NAMES
    if load_message_spec(name).type in ("request", "response")
    and kafka_python_class(name) is not None
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
            message = Values((name, version, seed), plain=True).message(
                load_message_spec(name), version
            )
            if name == "ApiVersionsResponse":
                message.error_code = 0  # kafka-python reads responses with an error as version 0
            assert_same(name, version, message, kafka_python_rewrite(cls, version))


# --- kio


class KioValues(Values):
    """Random values that kio's Python types can hold."""

    def _integer(self, field: FieldSpec) -> int:
        if field.name.endswith("ErrorCode"):
            return self.random.choice(list(KioErrorCode)).value
        if field.name.endswith(("Ms", "Timestamp")):
            return self.random.choice((0, 1, 1_700_000_000))
        return super()._integer(field)


def kio_api(name: str) -> str:
    """Return kio's name of the API of a request or response."""
    return snake_case(name.removesuffix("Request").removesuffix("Response"))


def has_kio_version(name: str, version: int) -> bool:
    """Return whether kio has a version, without importing its module."""
    return version in schema_name_map.get(kio_api(name), {})


def kio_class(name: str, version: int) -> Any:
    """Return kio's class of a request or response, None if it has no such version."""
    if not has_kio_version(name, version):
        return None
    api = kio_api(name)
    module = (
        kio.index.load_entity_module(api, version, EntityType.request)
        if name.endswith("Request")
        else kio.index.load_entity_module(api, version, EntityType.response)
    )
    return getattr(module, name)


KIO_NAMES = [
    name
    for name in ALL_NAMES
    if load_message_spec(name).type in ("request", "response")
    and any(has_kio_version(name, version) for version in versions_of(name))
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
            write(out, read(data, 0)[0])  # noqa: B023 - called before the next iteration
            return out.getvalue()

        for seed in range(SEEDS):
            message = KioValues((name, version, seed), plain=True).message(
                load_message_spec(name), version
            )
            assert_same(name, version, message, rewrite)
