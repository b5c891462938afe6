"""Select the cases of a run, for each release."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from kafka_shim.conformance.case import Case, CaseOutcome
from kafka_shim.conformance.report import Report
from kafka_shim.protocol.api_versions import RELEASES

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
