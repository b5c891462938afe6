"""The report of a client's run as a file; several reports can be shown as one page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.frames import ReportedExchange
from kafka_shim.conformance.requirement_level import RequirementLevel
from kafka_shim.shim.errors import ConfigError


class ResultRow(msgspec.Struct, frozen=True):
    """The result of a case with a release; for the fields see `Case` and `CaseResult`."""

    id: str
    title: str = msgspec.field(name="what")
    origin: str
    level: RequirementLevel
    kafka_version: str
    outcome: CaseOutcome
    expected_response: str = msgspec.field(name="response")
    expected_requests: str = msgspec.field(name="wire")
    last_response: str = msgspec.field(name="said")
    expected: str
    observed: str = msgspec.field(name="done")
    frames: tuple[ReportedExchange, ...]
    seconds: float
    fails_run: bool = msgspec.field(name="breaks")
    known_failure: str = msgspec.field(name="known", default="")
    """The reason in the baseline, if the case failed or the baseline says that it does."""

    @property
    def is_unexpected_pass(self) -> bool:
        """Return whether the case passed although the baseline lists it as failing."""
        return self.outcome is CaseOutcome.PASSED and bool(self.known_failure)

    @property
    def is_unexpected(self) -> bool:
        """Return whether the run fails because of this row: a new failure, or a healed case."""
        return self.is_unexpected_pass or (self.fails_run and not self.known_failure)


class Report(msgspec.Struct, frozen=True):
    """The results of a client."""

    client: str
    results: tuple[ResultRow, ...]

    def results_with_outcome(self, outcome: CaseOutcome) -> list[ResultRow]:
        return [row for row in self.results if row.outcome is outcome]

    @property
    def ids_of_failed_cases(self) -> set[str]:
        return {row.id for row in self.results_with_outcome(CaseOutcome.FAILED)}

    def results_of_release(self, release: str) -> "Report":
        """Return the part of the report about one release."""
        rows = tuple(row for row in self.results if row.kafka_version == release)
        return Report(self.client, rows)

    @property
    def outcome_totals(self) -> str:
        """The number of cases by outcome, as text."""
        counts = Counter(row.outcome for row in self.results)
        return ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in CaseOutcome)

    @property
    def unexpected_result_count(self) -> int:
        """The number of cases because of which the run fails."""
        return sum(row.is_unexpected for row in self.results)

    @property
    def has_passed(self) -> bool:
        """Return whether cases were exercised, and none of them makes the run fail."""
        exercised = {CaseOutcome.PASSED, CaseOutcome.FAILED}
        has_exercised = any(row.outcome in exercised for row in self.results)
        return has_exercised and not self.unexpected_result_count

    @property
    def releases(self) -> Sequence[str]:
        return list(dict.fromkeys(row.kafka_version for row in self.results))


def report_from_results(client: str, results: Iterable[CaseResult]) -> Report:
    """Return the report of a run, in the order of the cases."""
    return Report(client, tuple(_result_row(result) for result in results))


def _result_row(result: CaseResult) -> ResultRow:
    case = result.case
    return ResultRow(
        id=case.id,
        title=case.title,
        origin=case.origin,
        level=case.level,
        kafka_version=result.release,
        outcome=result.outcome,
        expected_response=case.expected_response,
        expected_requests=case.expected_requests,
        last_response=result.last_response,
        expected=result.expected,
        observed=result.observed,
        frames=result.frames,
        seconds=round(result.seconds, 3),
        fails_run=result.fails_run,
    )


def read_report(path: str) -> Report:
    """Read a report that `--format json` wrote. Raise ConfigError if the file is not one."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Report)
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"`{path}` is not a report of `conformance suite`: {error}") from error
