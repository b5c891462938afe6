"""The selection of entries in the text options of jobs and of the data source."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.existence import ExistenceIndex, ExistenceRecord
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey

TOPIC_IDS: Final = "topicIds"
SIGHTINGS: Final = "sightings"


def selection_from_options(options: Mapping[str, str]) -> Selection:
    """Return the selection in the options. Raise PipelineError for an invalid one."""
    apis = [name.strip() for name in options.get("apis", "").split(",") if name.strip()]
    known = {key.wire_name: int(key) for key in ApiKey}
    for name in apis:
        if name not in known:
            raise PipelineError(f"unknown API `{name}`; expected a name such as Fetch")
    release = options.get("release", RELEASES[-1])
    names = json.loads(options.get(TOPIC_IDS, "{}"))
    existence = ExistenceIndex(
        msgspec.json.decode(options.get(SIGHTINGS, "[]"), type=list[ExistenceRecord])
    )
    return Selection(
        _time_option_us(options, "since"),
        _time_option_us(options, "until"),
        frozenset(known[name] for name in apis),
        release,
        {bytes.fromhex(topic_id): name for topic_id, name in names.items()},
        options.get("present", release),
        existence,
        _principals(options.get("principals", "")),
    )


def _principals(text: str) -> frozenset[str]:
    """Parse one principal, or a JSON list of them, since their names may contain commas."""
    if not text.startswith("["):
        return frozenset({text} if text else ())
    try:
        return frozenset(msgspec.json.decode(text, type=list[str]))
    except msgspec.DecodeError as error:
        raise PipelineError(
            f'invalid principals `{text}`: {error}; expected `User:a` or `["User:a"]`'
        ) from None


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
