"""Run cases, each on an empty broker; several drivers can run at the same time."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial

from kafka_shim.shim.conformance.case import Case, Outcome, Result
from kafka_shim.shim.conformance.case_context import (
    CaseContext,
    UnmetError,
    UnsupportedError,
)
from kafka_shim.shim.conformance.driver import ContractError, Driver, DriverTimeoutError
from kafka_shim.shim.conformance.fixtures import ClusterProvider, ShimClusters
from kafka_shim.shim.conformance.frames import TEXT_MAX

ResultListener = Callable[[Result], None]


def select_cases(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose id matches a pattern such as `denials.*`; all without patterns."""
    wanted = patterns or ["*"]
    return [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in wanted)]


async def run_cases(
    words: Sequence[str],
    cases: Sequence[Case],
    release: str,
    on_result: ResultListener,
    *,
    jobs: int = 1,
    clusters: Callable[[], ClusterProvider] | None = None,
) -> str:
    """Run the cases of a release; return the driver's name and version.

    `on_result` is called with each result. `jobs` drivers run at the same time, each with its own
    `clusters` (None: shims). A driver that ends or hangs fails the case, and is restarted for the
    next one. Raise ConfigError if the command is not a driver.
    """
    pending_cases = deque(case for case in cases if case.possible(release))
    start = clusters or partial(ShimClusters, release)
    count = max(1, min(jobs, len(pending_cases)))
    runners = [_CaseRunner(words, release, start) for _ in range(count)]
    tasks = [asyncio.ensure_future(each.run_pending(pending_cases, on_result)) for each in runners]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return runners[0].name


class _CaseRunner:
    """A driver with its own brokers."""

    def __init__(
        self, words: Sequence[str], release: str, clusters: Callable[[], ClusterProvider]
    ) -> None:
        self._words = words
        self._clusters = clusters
        self._release = release
        self.name = ""

    async def run_pending(self, pending_cases: deque[Case], on_result: ResultListener) -> None:
        driver = await Driver.start(self._words)
        self.name = f"{driver.name} {driver.version}".strip()
        clusters = self._clusters()
        try:
            while pending_cases:
                case = pending_cases.popleft()
                result, is_usable = await self._result(case, clusters, driver)
                if not is_usable:
                    await driver.stop()
                    driver = await Driver.start(self._words)
                on_result(result)
        finally:
            await driver.stop()
            await clusters.stop()

    async def _result(
        self, case: Case, clusters: ClusterProvider, driver: Driver
    ) -> tuple[Result, bool]:
        """Run a case; return its result, and whether the driver can still be used."""
        lacking = driver.missing_features(case.commands, case.capabilities)
        if lacking:
            return Result(case, self._release, Outcome.UNSUPPORTED, done=lacking), True
        cluster = await clusters.cluster(case.setup, case.id)
        context = CaseContext(cluster, driver, clusters.authority)
        began = time.monotonic()
        outcome, expected, done, is_usable = Outcome.PASSED, "", "", True
        try:
            await case.body(context)
            await context.close()
        except UnsupportedError as error:
            outcome, done = Outcome.UNSUPPORTED, f"`{error}` with the fields of this case"
        except UnmetError as unmet:
            outcome, expected, done = Outcome.FAILED, unmet.expected, unmet.done
        except (ContractError, DriverTimeoutError) as error:
            outcome, expected, done = Outcome.FAILED, "an answer of the driver", str(error)
            is_usable = False
        if outcome is not Outcome.PASSED and is_usable:
            is_usable = await _closes(context)
        result = Result(
            case,
            self._release,
            outcome,
            expected,
            _short(done),
            "" if context.said is None else _short(str(context.said)),
            () if outcome is Outcome.UNSUPPORTED else context.exchanged_frames(),
            context.responses(),
            time.monotonic() - began,
            not is_usable,
        )
        return result, is_usable


def _short(text: str) -> str:
    """Shorten a driver's answer, which may contain records of 10 MB."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


async def _closes(context: CaseContext) -> bool:
    try:
        await context.close()
    except (ContractError, DriverTimeoutError):
        return False
    return True
