"""Run cases that are selected, each on an empty broker.

Several drivers can run at the same time.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from kafka_shim.client.client import ClientError
from kafka_shim.conformance.case import Case, CaseOutcome, CaseResult
from kafka_shim.conformance.case_context import (
    CaseContext,
    NotExercisedError,
    UnmetExpectationError,
    UnsupportedByDriverError,
)
from kafka_shim.conformance.cluster import ClusterUnderTest
from kafka_shim.conformance.driver import ContractError, Driver, DriverTimeoutError
from kafka_shim.conformance.fixtures import ClusterProvider, ShimClusterProvider
from kafka_shim.conformance.frames import JSON_LENGTH_MAX
from kafka_shim.conformance.report import Report
from kafka_shim.protocol.api_versions import RELEASES

ResultListener = Callable[[CaseResult], bool | None]


async def run_cases(
    argv: Sequence[str],
    cases: Sequence[Case],
    release: str,
    on_result: ResultListener,
    *,
    jobs: int = 1,
    clusters: Callable[[], ClusterProvider] | None = None,
) -> str:
    """Run the cases of a release; return the driver's name and version.

    `on_result` is called with each result; no case is started after it returns true. `jobs`
    drivers run at the same time, each with its own `clusters` (None: shims). A driver that ends or
    hangs fails the case, and is restarted for the next one. Raise ConfigError if the command is
    not a driver.
    """
    pending_cases = deque(case for case in cases if case.supports_release(release))
    start = clusters or partial(ShimClusterProvider, release)
    count = max(1, min(jobs, len(pending_cases)))
    runners = [_CaseRunner(argv, release, start) for _ in range(count)]
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
        self, argv: Sequence[str], release: str, clusters: Callable[[], ClusterProvider]
    ) -> None:
        self._argv = argv
        self._clusters = clusters
        self._release = release
        self.name = ""

    async def run_pending(self, pending_cases: deque[Case], on_result: ResultListener) -> None:
        driver = await Driver.start(self._argv)
        self.name = f"{driver.name} {driver.version}".strip()
        clusters = self._clusters()
        try:
            while pending_cases:
                case = pending_cases.popleft()
                result, is_usable = await self._run_case(case, clusters, driver)
                if not is_usable:
                    await driver.stop()
                    driver = await Driver.start(self._argv)
                if on_result(result):
                    pending_cases.clear()
        finally:
            await driver.stop()
            await clusters.close()

    async def _run_case(
        self, case: Case, clusters: ClusterProvider, driver: Driver
    ) -> tuple[CaseResult, bool]:
        """Run a case; return its result, and whether the driver can still be used."""
        missing_feature = driver.find_missing_feature(case.commands, case.capabilities)
        if missing_feature:
            return CaseResult(
                case, self._release, CaseOutcome.UNSUPPORTED, observed=missing_feature
            ), True
        try:
            cluster = await _provide_cluster(case, clusters)
        except ClientError as error:
            observed = f"the cluster does not answer the suite: {error}"
            return CaseResult(
                case, self._release, CaseOutcome.NOT_EXERCISED, observed=observed
            ), True
        context = CaseContext(cluster, driver, clusters.ca_path)
        start = time.monotonic()
        outcome, expected, observed, is_usable = CaseOutcome.PASSED, "", "", True
        try:
            await case.body(context)
            await context.close_clients()
            context.check_evidence()
        except NotExercisedError as error:
            outcome, observed = CaseOutcome.NOT_EXERCISED, str(error)
        except ClientError as error:
            outcome = CaseOutcome.NOT_EXERCISED
            observed = f"the cluster does not answer the suite: {error}"
        except UnsupportedByDriverError as error:
            outcome, observed = CaseOutcome.UNSUPPORTED, f"`{error}` with the fields of this case"
        except UnmetExpectationError as unmet:
            outcome, expected, observed = CaseOutcome.FAILED, unmet.expected, unmet.observed
        except (ContractError, DriverTimeoutError) as error:
            outcome, expected, observed = CaseOutcome.FAILED, "an answer of the driver", str(error)
            is_usable = False
        if outcome is not CaseOutcome.PASSED and is_usable:
            is_usable = await _try_close_clients(context)
        result = CaseResult(
            case,
            self._release,
            outcome,
            expected,
            _truncate(observed),
            "" if context.last_response is None else _truncate(str(context.last_response)),
            () if outcome is CaseOutcome.UNSUPPORTED else context.exchanges_for_report(),
            context.distinct_responses_except_api_versions(),
            time.monotonic() - start,
            not is_usable,
        )
        return result, is_usable


async def _provide_cluster(case: Case, clusters: ClusterProvider) -> ClusterUnderTest:
    """Return an empty cluster; one that does not answer in time is asked a second time."""
    try:
        return await clusters.provide_empty_cluster(case.setup, case.id)
    except ClientError:
        return await clusters.provide_empty_cluster(case.setup, case.id)


def _truncate(text: str) -> str:
    """Shorten a driver's answer, which may contain records of 10 MB."""
    return text if len(text) <= JSON_LENGTH_MAX else f"{text[:JSON_LENGTH_MAX]}…"


async def _try_close_clients(context: CaseContext) -> bool:
    try:
        await context.close_clients()
    except (ContractError, DriverTimeoutError):
        return False
    return True


CasesByRelease = Mapping[str, Sequence[Case]]


def select_cases(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose id matches a pattern such as `denials.*`; all without patterns."""
    patterns = patterns or ["*"]
    return [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in patterns)]


def supported_cases_by_release(cases: Iterable[Case], releases: Iterable[str]) -> CasesByRelease:
    cases = list(cases)
    return {
        release: [case for case in cases if case.supports_release(release)] for release in releases
    }


def failed_cases_by_release(
    cases: Iterable[Case], report: Report, releases: Sequence[str] | None
) -> CasesByRelease:
    """Return the cases that failed in a report, with the releases at which they failed.

    With `releases`, return each case that failed at any release, with those that support it.
    """
    if releases is not None:
        failed_cases = [case for case in cases if case.id in report.ids_of_failed_cases]
        return supported_cases_by_release(failed_cases, releases)
    cases = list(cases)
    failed = report.results_with_outcome(CaseOutcome.FAILED)
    ids_and_releases = {(row.id, row.kafka_version) for row in failed}
    by_release = {
        release: [case for case in cases if (case.id, release) in ids_and_releases]
        for release in RELEASES
    }
    return {release: selected for release, selected in by_release.items() if selected}
