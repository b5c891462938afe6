"""The selection of entries in the text options of jobs and of the data source."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from kafka_shim.authorizer.model import is_principal
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.existence import ExistenceIndex, ExistenceRecord
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey

TOPIC_IDS: Final = "topicIds"
SIGHTINGS: Final = "sightings"

_Value = TypeVar("_Value")
_SIZE = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


def selection_from_options(options: Mapping[str, str]) -> Selection:
    """Return the selection in the options. Raise PipelineError for an invalid one."""
    apis = [name.strip() for name in options.get("apis", "").split(",") if name.strip()]
    known = {key.wire_name: int(key) for key in ApiKey}
    for name in apis:
        if name not in known:
            raise PipelineError(f"unknown API `{name}`; expected a name such as Fetch")
    release = validated_release(options.get("release", RELEASES[-1]))
    names = decoded_json_option(options.get(TOPIC_IDS, "{}"), TOPIC_IDS, dict[str, str])
    sightings = decoded_json_option(options.get(SIGHTINGS, "[]"), SIGHTINGS, list[ExistenceRecord])
    since_us, until_us = _time_option_us(options, "since"), _time_option_us(options, "until")
    if since_us is not None and until_us is not None and since_us >= until_us:
        raise PipelineError(f"until {options['until']} is not after since {options['since']}")
    return Selection(
        since_us,
        until_us,
        frozenset(known[name] for name in apis),
        release,
        {bytes.fromhex(topic_id): name for topic_id, name in names.items()},
        validated_release(options.get("present", release)),
        ExistenceIndex(sightings),
        _principals(options.get("principals", "")),
    )


def _principals(text: str) -> frozenset[str]:
    """Parse one principal, or a JSON list of them, since their names may contain commas."""
    principals = frozenset(
        decoded_json_option(text, "principals", list[str], '`User:a` or `["User:a"]`')
        if text.startswith("[")
        else filter(None, (text,))
    )
    for principal in principals:
        check_principal(principal, "principals")
    return principals


def check_principal(text: str, option: str) -> None:
    """Raise PipelineError if the value of an option is not a type and a name."""
    if not is_principal(text):
        raise PipelineError(f"{option} `{text}`: expected Type:name, as in User:alice")


def validated_release(release: str) -> str:
    """Return the release. Raise PipelineError for an unknown one."""
    if release not in RELEASES:
        raise PipelineError(
            f"unknown Kafka release `{release}`; expected one of {', '.join(RELEASES)}"
        )
    return release


def decoded_json_option(text: str, name: str, kind: type[_Value], expected: str = "") -> _Value:
    """Return the value of an option in JSON. Raise PipelineError for another type."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        advice = f"; expected {expected}" if expected else ""
        raise PipelineError(f"invalid {name} `{text}`: {error}{advice}") from None


def size_option(options: Mapping[str, str], name: str, default: int) -> int:
    """Return a size in bytes. Raise PipelineError for another value."""
    text = options.get(name, str(default))
    if _SIZE.fullmatch(text) is None:
        raise PipelineError(
            f"invalid {name} `{text}`; expected a number of bytes, such as {default}"
        )
    return int(text)


def _time_option_us(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise PipelineError(
            f"invalid time `{text}` for {name}; expected one such as 2026-01-31T12:00:00Z"
        ) from None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return round(when.timestamp() * 1_000_000)
