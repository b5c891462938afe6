"""The run: each case on an empty broker, one after the other, all before one driver."""

import time
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.observing.history import History, Seen
from kafka_shim.shim.settings.defaults import default_listeners, default_super_users
from kafka_shim.shim.traffic.suite.case import Case, Outcome, Result
from kafka_shim.shim.traffic.suite.driver import ContractError, Driver, SilenceError
from kafka_shim.shim.traffic.suite.situation import (
    PASSWORD,
    USER,
    Situation,
    UnmetError,
    UnsupportedError,
)

FRAMES_SHOWN = 8
Told = Callable[[Result], None]


def chosen(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Those whose id fits one of the patterns (`denials.*`); all without any."""
    wanted = patterns or ["*"]
    return [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in wanted)]


async def play(words: Sequence[str], cases: Sequence[Case], release: str, told: Told) -> str:
    """Tell what came of each case that the release can be brought into; return the driver's name.

    ConfigError if the command is no driver. A driver that dies or hangs fails the case, and is
    started anew for the next.
    """
    broker = Broker(
        Config(
            listeners=default_listeners(),
            super_users=default_super_users(()),
            release=release,
            users={USER: PASSWORD},
            auto_create_topics=False,
        )
    )
    broker.dispatcher.history = History()
    driver = await Driver.start(words)
    name = f"{driver.name} {driver.version}".strip()
    try:
        await broker.start()
        for case in cases:
            if not case.possible(release):
                continue
            result, is_usable = await _result(case, release, broker, driver)
            if not is_usable:
                await driver.stop()
                driver = await Driver.start(words)
            told(result)
    finally:
        await driver.stop()
        await broker.stop()
        await broker.abort_connections(0)
    return name


async def _result(case: Case, release: str, broker: Broker, driver: Driver) -> tuple[Result, bool]:
    """What came of a case, and whether the driver can be asked further."""
    if not (case.commands <= driver.commands and case.capabilities <= driver.capabilities):
        return Result(case, release, Outcome.UNSUPPORTED), True
    broker.reset()
    situation = Situation(broker, driver)
    began = time.monotonic()
    outcome, expected, done, is_usable = Outcome.PASSED, "", "", True
    try:
        await case.body(situation)
        await situation.close()
    except UnsupportedError:
        outcome = Outcome.UNSUPPORTED
    except UnmetError as unmet:
        outcome, expected, done = Outcome.FAILED, unmet.expected, unmet.done
    except (ContractError, SilenceError) as error:
        outcome, expected, done = Outcome.FAILED, "an answer of the driver", str(error)
        is_usable = False
    if outcome is not Outcome.PASSED and is_usable:
        is_usable = await _closes(situation)
    frames: tuple[str, ...] = ()
    if outcome is Outcome.FAILED:
        frames = tuple(_frame(seen) for seen in situation.requests()[-FRAMES_SHOWN:])
    seconds = time.monotonic() - began
    result = Result(case, release, outcome, expected, done, frames, seconds, not is_usable)
    return result, is_usable


async def _closes(situation: Situation) -> bool:
    try:
        await situation.close()
    except (ContractError, SilenceError):
        return False
    return True


def _frame(seen: Seen) -> str:
    """A request in a line: what was asked, and which errors it was answered with."""
    row = seen.row()
    errors = ", ".join(row["error_names"]) or ("no answer" if seen.errors is None else "ok")
    return f"{seen.api.wire_name} v{seen.version} {row['request']} -> {errors}"
