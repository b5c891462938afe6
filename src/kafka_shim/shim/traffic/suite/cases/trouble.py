"""What a client does about a single error and about missing responses.

`retried`: the command succeeds. `told`: the caller gets the code. `lost`: the connection breaks
before a response, in the middle of it, or after the request was handled.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.code_names import error_text
from kafka_shim.shim.traffic.suite.case import Family, Level
from kafka_shim.shim.traffic.suite.error_versions import SINCE, Strikes, key_of, strike
from kafka_shim.shim.traffic.suite.situation import (
    EVERYTHING,
    Situation,
    UnmetError,
    UnsupportedError,
)
from kafka_shim.shim.traffic.suite.trouble_rows import GROUP, RETRIED, TOLD, TOPIC, Trouble


async def _response(row: Trouble, situation: Situation, **action: Any) -> Any:
    """Return the client's answer to the command, during which one fault with `action` occurs."""
    await situation.topic(*row.topics)
    await situation.group(GROUP, topic=TOPIC)
    await situation.grant(*EVERYTHING)
    await situation.open(row.settings)
    if "error" in action:
        strikes = strike(situation, row.api, row.error)
    else:
        strikes = Strikes({row.error: [situation.strike(row.api, **action)]})
    response = await situation.ask(row.command, **row.fields)
    if not strikes.codes():
        if (row.api, row.error) in SINCE and situation.requests(key_of(row.api)):
            raise UnsupportedError(f"{row.api} v{SINCE[row.api, row.error][0]}")
        raise UnmetError(f"a {row.api} request", "the client sent none")
    return response if row.item is None else response.item(row.item)


async def retried(row: Trouble, situation: Situation) -> None:
    response = await _response(row, situation, error=row.error.name)
    if response.ok is None:
        raise UnmetError(f"{row.error.name} is retried", f"the client reported {response}")


async def told(row: Trouble, situation: Situation) -> None:
    response = await _response(row, situation, error=row.error.name)
    if response.error is None or response.error.code != row.error:
        raise UnmetError(error_text(row.error), f"the client reported {response}")


async def lost(row: Trouble, action: Mapping[str, Any], situation: Situation) -> None:
    response = await _response(row, situation, **action)
    if response.ok is None:
        raise UnmetError("the client retries", f"it reported {response}")


_LOST: Mapping[str, Mapping[str, Any]] = {
    "closed-before": {"disconnect": "before"},
    "closed-after": {"disconnect": "after"},
    "cut-off": {"truncate": 6},
}


def _add_lost(family: Family, row: Trouble) -> None:
    for name, action in _LOST.items():
        family.add(
            f"{row.command.replace('_', '-')}.{name}",
            f"{row.command} succeeds although its first connection breaks",
            partial(lost, row, action),
            origin="connections",
            response="ok",
            wire="the request is repeated on a new connection",
            commands=row.command,
            level=Level.SHOULD,
        )


def _level(row: Trouble, *, is_told: bool) -> Level:
    """Return SHOULD where Kafka's own client differs.

    It reports errors of InitProducerId only as text, and its admin client may retry.
    """
    is_poor = row.api == "InitProducerId" if is_told else row.is_admin
    return Level.SHOULD if is_poor else Level.MUST


def _cases() -> Family:
    family = Family("trouble")
    for rows, body, what, response in (
        (RETRIED, retried, "{2} succeeds after one {1} from {0}", "ok"),
        (TOLD, told, "{2} reports {1} from {0} to its caller", "{1}"),
    ):
        for row in rows:
            words = row.api, row.error.name, row.command
            family.add(
                f"{row.name}.{body.__name__}",
                what.format(*words),
                partial(body, row),
                origin=row.api,
                response=response.format(*words),
                commands=row.command,
                level=_level(row, is_told=body is told),
            )
    reads = {row.command: row for row in RETRIED if row.command != "create_topics"}
    for row in reads.values():
        _add_lost(family, row)
    return family


CASES = _cases().cases
