"""Finds environment variables that look like misspelt settings of Kafka."""

from collections.abc import Iterator, Mapping
from typing import Final

from kafka_shim.shim.settings.kafka_properties import PREFIXES, known_settings, property_name

_ALIKE: Final = 0.85
"""Minimum similarity of two names: many other variables have that prefix."""

_OF_IMAGES: Final = frozenset(
    {
        *("ssl.key.credentials", "ssl.keystore.filename", "ssl.keystore.credentials"),
        *("ssl.truststore.filename", "ssl.truststore.credentials", "tls.client.auth"),
        *("zookeeper.protocol", "zookeeper.tls.keystore.password"),
        "zookeeper.tls.truststore.password",
    }
)
"""Variables of container images that look like settings."""


def mistyped(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield misspelt variables such as KAFKA_NUM_PARTITONS, with the nearest known name."""
    names = [name for name in sorted(environ) if name.startswith("KAFKA_")]
    known = known_settings() if names else frozenset()
    for name in names:
        prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
        setting = property_name(name.removeprefix(prefix))
        if setting in known or setting in _OF_IMAGES or setting.startswith("listener.name."):
            continue
        if (nearest := _nearest(setting, known)) is not None:
            yield name, f"{prefix}{_variable_name(nearest)}"


def _nearest(setting: str, known: frozenset[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only where there is such a variable

    return next(iter(get_close_matches(setting, sorted(known), 1, _ALIKE)), None)


def _variable_name(setting: str) -> str:
    spelled = setting.replace("_", "__").replace("-", "___").replace(".", "_")
    return spelled.upper()
