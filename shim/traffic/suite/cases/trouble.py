"""What a client does about errors that come once, and about answers that never come.

`retried`: the command succeeds. `told`: the caller gets the code. `lost`: the connection breaks
before an answer, in the middle of it, or after a request that was done.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.names import error_text
from kafka_shim.shim.traffic.suite.case import Case, Level
from kafka_shim.shim.traffic.suite.situation import Situation, UnmetError
from kafka_shim.shim.traffic.suite.trouble_rows import GROUP, RETRIED, TOLD, TOPIC, Trouble

_ALL = tuple(
    {"allow": ["All"], resource: "*" if resource != "cluster" else None}
    for resource in ("topic", "group", "transactional_id", "cluster")
)


async def _answer(row: Trouble, situation: Situation, **action: Any) -> Any:
    """What the client says, struck once."""
    situation.topic(*row.topics)
    situation.group(GROUP, topic=TOPIC)
    situation.grant(*_ALL)
    await situation.open(**row.settings)
    fault = situation.strike(row.api, **action)
    answer = await situation.ask(row.command, **row.fields)
    if not fault.fired:
        raise UnmetError(f"a {row.api} request", "the client sent none")
    return answer if row.item is None else answer.item(row.item)


async def retried(row: Trouble, situation: Situation) -> None:
    answer = await _answer(row, situation, error=row.error.name)
    if answer.ok is None:
        raise UnmetError(f"{row.error.name} is retried", f"the client said {answer}")


async def told(row: Trouble, situation: Situation) -> None:
    answer = await _answer(row, situation, error=row.error.name)
    if answer.error is None or answer.error.code != row.error:
        raise UnmetError(error_text(row.error), f"the client said {answer}")


async def lost(row: Trouble, action: Mapping[str, Any], situation: Situation) -> None:
    answer = await _answer(row, situation, **action)
    if answer.ok is None:
        raise UnmetError("the client comes again", f"it said {answer}")


_LOST: Mapping[str, Mapping[str, Any]] = {
    "closed-before": {"disconnect": "before"},
    "closed-after": {"disconnect": "after"},
    "cut-off": {"truncate": 6},
}


def _lost_cases(row: Trouble) -> list[Case]:
    return [
        Case(
            id=f"trouble.{row.command.replace('_', '-')}.{name}",
            what=f"{row.command} succeeds though its first connection breaks",
            origin="connections",
            body=partial(lost, row, action),
            commands=frozenset({row.command}),
            level=Level.SHOULD,
        )
        for name, action in _LOST.items()
    ]


def _cases() -> list[Case]:
    found = [
        Case(
            id=f"trouble.{row.name}.{body.__name__}",
            what=what.format(row.api, row.error.name, row.command),
            origin=row.api,
            body=partial(body, row),
            commands=frozenset({row.command}),
            level=Level.SHOULD if body is retried and row.is_admin else Level.MUST,
        )
        for rows, body, what in (
            (RETRIED, retried, "{0} answers {1} once, and {2} succeeds"),
            (TOLD, told, "{0} answers {1}, which {2} tells its caller"),
        )
        for row in rows
    ]
    reads = {row.command: row for row in RETRIED if row.command != "create_topics"}
    return found + [case for row in reads.values() for case in _lost_cases(row)]


CASES = _cases()
