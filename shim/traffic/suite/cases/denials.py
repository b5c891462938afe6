"""What a client does when it is denied something: three cases for each way (denial_rows.py).

`tells`: the error reaches the caller in time, as final, and is not asked for again and again.
`half`: what is allowed in the same request is done. `goes-on`: once granted, the same client can.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.names import error_text
from kafka_shim.shim.traffic.suite.case import Case, Level
from kafka_shim.shim.traffic.suite.denial_rows import ALLOWED, DENIALS, Denial
from kafka_shim.shim.traffic.suite.driver import Answer
from kafka_shim.shim.traffic.suite.situation import Situation, UnmetError

STORM = 5
"""Equal requests within a second that are too many for an answer that is final."""
_TRIES, _PAUSE_S = 5, 0.6
"""After a grant: clients may learn of it late, as their metadata is refreshed each second."""


async def tells(row: Denial, situation: Situation) -> None:
    await _prepare(row, situation)
    answer = await _ask(row, situation)
    _expect_error(row, answer)
    if answer.error is not None and answer.error.retriable:
        raise UnmetError("an error that is final", f"the client calls it retriable: {answer}")
    _expect_no_storm(row, situation)


async def half(row: Denial, situation: Situation) -> None:
    assert row.items is not None
    await _prepare(row, situation)
    answer = await situation.ask(row.command, **row.fields)
    allowed = answer.item(row.items[1])
    if allowed.ok is None:
        raise UnmetError(f"what is asked of `{row.items[1]}` is done", f"the client said {allowed}")
    _expect_error(row, answer.item(row.items[0]))


async def goes_on(row: Denial, situation: Situation) -> None:
    await _prepare(row, situation)
    _expect_error(row, await _ask(row, situation))
    situation.grant(row.lacking)
    answer = await _ask(row, situation)
    for _ in range(_TRIES):
        if answer.ok is None:
            await asyncio.sleep(_PAUSE_S)
            answer = await _ask(row, situation)
    if answer.ok is None:
        raise UnmetError("the same client can, once it is granted", f"it still says {answer}")


async def _prepare(row: Denial, situation: Situation) -> None:
    situation.topic(*row.topics)
    situation.group(*row.groups, topic=ALLOWED)
    situation.grant(*row.granted)
    await situation.open(**row.settings)


async def _ask(row: Denial, situation: Situation) -> Answer:
    answer = await situation.ask(row.command, **row.fields)
    return answer if row.items is None else answer.item(row.items[0])


def _expect_error(row: Denial, answer: Answer) -> None:
    if answer.error is None or answer.error.code != row.code:
        raise UnmetError(error_text(row.code), f"the client said {answer}")


def _expect_no_storm(row: Denial, situation: Situation) -> None:
    by_second = Counter(
        (seen.api, seen.time_us // 1_000_000) for seen in situation.refused(row.code)
    )
    for (api, _), times in by_second.items():
        if times > STORM:
            raise UnmetError(
                f"at most {STORM} equal requests a second after a final error",
                f"the client sent {api.wire_name} {times} times",
            )


_Body = Callable[[Denial, Situation], Awaitable[None]]


def _case(row: Denial, aspect: str, what: str, body: _Body, level: Level = Level.MUST) -> Case:
    return Case(
        id=f"denials.{row.name}.{aspect}",
        what=what,
        origin=row.origin,
        body=partial(body, row),
        commands=frozenset({row.command}),
        level=level,
        possible=row.possible,
    )


def _cases(row: Denial) -> list[Case]:
    name = ErrorCode(row.code).name
    found = [_case(row, "tells", f"{row.command}, denied, ends with {name} at once", tells)]
    if row.items is not None and row.items[1]:
        what = f"{row.command} of two, one denied, does the other"
        found.append(_case(row, "half", what, half))
    if not row.is_fatal:
        found.append(_case(row, "goes-on", f"{row.command} succeeds once granted", goes_on))
    return found


CASES = [case for row in DENIALS for case in _cases(row)]
