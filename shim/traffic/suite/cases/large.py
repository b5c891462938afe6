"""A record of 10 MB, which a consumer is given whatever limits it asks for (KIP-74)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.traffic.suite.case import Family
from kafka_shim.shim.traffic.suite.situation import EVERYTHING, Situation, UnmetError
from kafka_shim.shim.traffic.suite.stages import Setup

_VERSIONS = Family("versions")
TOPIC = "orders"
BYTES = 10_000_000
_LIMIT = str(2 * BYTES)
_LARGE = Setup(properties=(("message.max.bytes", _LIMIT),))


async def reads(command: str, fields: Mapping[str, Any], situation: Situation) -> None:
    await situation.topic(TOPIC)
    await situation.grant(*EVERYTHING)
    await situation.write(TOPIC, b"x" * BYTES)
    await situation.write(TOPIC, b"y")
    await situation.open({"group_id": "readers"})
    found = await situation.done(command, **fields, count=2, seconds=10)
    lengths = [len(value) for value in found["values"]]
    if lengths != [BYTES, 1]:
        raise UnmetError(f"values of {BYTES} and 1 bytes", f"the client said {lengths}")


for _command, _fields in (
    ("consume", {"topics": [TOPIC]}),
    ("consume_assigned", {"partitions": [f"{TOPIC}-0"]}),
):
    _VERSIONS.add(
        f"ten-megabytes.{_command.replace('_', '-')}",
        f"{_command} reads a record of 10 MB, and the next one",
        partial(reads, _command, _fields),
        origin="KIP-74",
        answer="both values",
        wire="Fetch answers 10 MB to any limit",
        commands=_command,
        setup=_LARGE,
        is_real=True,
    )


CASES = _VERSIONS.cases
